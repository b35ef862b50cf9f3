/** All cases, by area. */
import type { Case } from './case.ts'
import { cases as admission } from './cases/admission.ts'
import { cases as apply } from './cases/apply.ts'
import { cases as auth } from './cases/auth.ts'
import { cases as builtIn } from './cases/built-in.ts'
import { cases as definitions } from './cases/definitions.ts'
import { cases as deletion } from './cases/deletion.ts'
import { cases as discovery } from './cases/discovery.ts'
import { cases as listsAndWatches } from './cases/lists-and-watches.ts'
import { cases as patches } from './cases/patches.ts'
import { cases as subresources } from './cases/subresources.ts'
import { cases as validation } from './cases/validation.ts'
import { cases as verbs } from './cases/verbs.ts'

export const AREAS: ReadonlyMap<string, readonly Case[]> = new Map([
  ['verbs', verbs],
  ['patches', patches],
  ['apply', apply],
  ['deletion', deletion],
  ['lists-and-watches', listsAndWatches],
  ['subresources', subresources],
  ['definitions', definitions],
  ['validation', validation],
  ['admission', admission],
  ['auth', auth],
  ['built-in', builtIn],
  ['discovery', discovery],
])
