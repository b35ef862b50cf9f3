/** What the type checker refuses, in both dialects of decorators. */

import { type Context, onDelete, onReconcile, owns, type WatchContext, watches } from '../../lib/index.ts'
import { Secret, StatefulSet } from '../../lib/resource/kinds.ts'
import { Database } from './good.ts'

export class Bad {
  // @ts-expect-error another object than the kind's
  @onReconcile(Database)
  async otherObject(_db: { foo: number }, _ctx: Context<Database>) {}

  // @ts-expect-error another context than the kind's
  @onReconcile(Database)
  async otherContext(_db: Database, _ctx: Context<StatefulSet>) {}

  // @ts-expect-error a number is no outcome
  @onReconcile(Database)
  async otherResult(_db: Database) {
    return 5
  }

  // @ts-expect-error an outcome made by hand
  @onDelete(Database)
  async byHand(_db: Database) {
    return { afterMs: 5, reason: '', message: '' }
  }

  // @ts-expect-error a child whose field has another type
  @owns(StatefulSet)
  otherChild(_db: Database) {
    return { spec: { replicas: 'three' } }
  }

  // @ts-expect-error a number is no child
  @owns(StatefulSet)
  async noChild(_db: Database) {
    return 5
  }

  // @ts-expect-error a builder whose return was forgotten
  @owns(StatefulSet)
  noReturn({ spec: { replicas } }: Database) {
    ;({ spec: { replicas } })
  }

  // @ts-expect-error the same, asynchronous
  @owns(StatefulSet)
  async noReturnEither(_db: Database) {}

  // @ts-expect-error another object than the watched kind's
  @watches(Secret)
  otherWatched(_secret: Database) {
    return 'default/a'
  }

  // @ts-expect-error a number is no key
  @watches(Secret)
  noKey(_secret: Secret, _ctx: WatchContext<Database>) {
    return 5
  }

  // @ts-expect-error a static method
  @onReconcile(Database)
  static async onTheClass(_db: Database) {}

  // @ts-expect-error a getter
  @onReconcile(Database)
  get getter() {
    return 5
  }

  // @ts-expect-error a field
  @onReconcile(Database)
  field = async (_db: Database) => {}

  // @ts-expect-error an option that does not exist
  @onReconcile(Database, { concurency: 4 })
  async option(_db: Database) {}

  // @ts-expect-error no kind
  @onReconcile
  async bare(_db: Database) {}
}

export async function bodies(db: Database, ctx: Context<Database>) {
  // @ts-expect-error not an engine that there is
  db.spec.engine = 'oracle'
  // @ts-expect-error a field that the status does not have
  ctx.status.endpiont = 'x'
  // @ts-expect-error conditions are set through ctx.conditions
  ctx.status.conditions = []
  // @ts-expect-error no status that there is
  ctx.conditions.set({ type: 'A', status: 'Yes', reason: 'B' })
  const set = await ctx.get(StatefulSet, 'a')
  // @ts-expect-error may not be there
  set.metadata.name
  // @ts-expect-error a text on the wire, not a Date
  set?.metadata.creationTimestamp?.getTime()
}
