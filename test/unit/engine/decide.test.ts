import { expect } from 'chai'
import { type Decision, decide } from '../../../lib/engine/decide.ts'
import type { KubeObject } from '../../../lib/resource/kind.ts'

const OURS = 'db.example.com/databases'
const THEIRS = 'example.com/other'

function object(finalizers: string[] | undefined, deleting: boolean): KubeObject {
  return {
    metadata: {
      name: 'a',
      uid: 'u',
      resourceVersion: '1',
      ...(finalizers && { finalizers }),
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
  }
}

describe('what an object needs now (promise 6)', () => {
  const table: [what: string, object: KubeObject | undefined, withDelete: Decision, without: Decision][] = [
    ['is not there', undefined, 'forget', 'forget'],
    ['has no finalizer', object(undefined, false), 'addFinalizer', 'reconcile'],
    ['has an empty list of finalizers', object([], false), 'addFinalizer', 'reconcile'],
    ['has our finalizer', object([OURS], false), 'reconcile', 'reconcile'],
    ['has only a foreign finalizer', object([THEIRS], false), 'addFinalizer', 'reconcile'],
    ['has both finalizers', object([THEIRS, OURS], false), 'reconcile', 'reconcile'],
    ['is being deleted without a finalizer', object(undefined, true), 'ignore', 'ignore'],
    ['is being deleted and only others hold it', object([THEIRS], true), 'ignore', 'ignore'],
    ['is being deleted and we hold it', object([OURS], true), 'runDelete', 'removeFinalizer'],
    ['is being deleted and we hold it with others', object([THEIRS, OURS], true), 'runDelete', 'removeFinalizer'],
  ]
  for (const [what, object, withDelete, without] of table) {
    it(`one that ${what}: ${withDelete} with @onDelete, ${without} without`, () => {
      expect(decide(object, { hasDelete: true, finalizer: OURS })).to.equal(withDelete)
      expect(decide(object, { hasDelete: false, finalizer: OURS })).to.equal(without)
    })
  }
})
