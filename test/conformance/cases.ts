/** All cases, by area. */
import type { Case } from './case.ts'
import { cases as apply } from './cases/apply.ts'
import { cases as deletion } from './cases/deletion.ts'
import { cases as listsAndWatches } from './cases/lists-and-watches.ts'
import { cases as verbs } from './cases/verbs.ts'

export const AREAS: ReadonlyMap<string, readonly Case[]> = new Map([
  ['verbs', verbs],
  ['apply', apply],
  ['deletion', deletion],
  ['lists-and-watches', listsAndWatches],
])
