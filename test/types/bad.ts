/** What the type checker refuses, in both dialects of decorators. */

import {
  type Context,
  defaults,
  Invalid,
  onDelete,
  onReconcile,
  owns,
  resource,
  validates,
  type WatchContext,
  watches,
  z,
} from '../../lib/index.ts'
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

  // @ts-expect-error another object than the kind's
  @validates(Database)
  otherToValidate(_object: { foo: number }) {}

  // @ts-expect-error there is none when an object is created
  @validates(Database)
  oldIsThere(db: Database, old: Database) {
    return db.spec.replicas < old.spec.replicas ? new Invalid('no') : undefined
  }

  // @ts-expect-error a text is no verdict
  @validates(Database)
  textAsVerdict(_db: Database) {
    return 'no'
  }

  // @ts-expect-error another object than the kind's
  @defaults(Database)
  otherResult2(_db: Database) {
    return { spec: {} }
  }

  // @ts-expect-error nothing is filled in when an object goes
  @defaults(Database, { on: ['delete'] })
  atTheEnd(_db: Database) {}

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

resource({
  group: 'db.example.com',
  version: 'v1',
  kind: 'Cluster',
  spec: z.object({ nodes: z.int() }),
  versions: [
    {
      version: 'v1alpha1',
      spec: z.object({ size: z.string() }),
      // @ts-expect-error a text where the version of handlers has a number
      to: ({ spec }) => ({ spec: { nodes: spec.size } }),
      // @ts-expect-error a field that the version of handlers does not have
      from: ({ spec }) => ({ spec: { size: String(spec.size) } }),
    },
  ],
})
