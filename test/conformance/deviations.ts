/** Where the embedded server differs from a real one on purpose, or because the likeness is not worth its price. */

export interface Deviation {
  /** Cases name it where they show it. */
  readonly id: string
  readonly area: string
  readonly real: string
  readonly embedded: string
  readonly reason: string
}

export const DEVIATIONS: readonly Deviation[] = [
  {
    id: 'served-at-once',
    area: 'definitions',
    real: 'waits two seconds before it serves the first write of a new kind',
    embedded: 'serves a kind as soon as it is Established',
    reason: 'The wait hides that several API servers learn of a kind one after another; here is one.',
  },
  {
    id: 'policies-at-once',
    area: 'admission',
    real: 'reads policies, bindings, roles, quotas and limits from caches, up to a second late',
    embedded: 'holds to them from the moment they are stored',
    reason: 'A test that writes a policy wants it to count.',
  },
  {
    id: 'collected-at-once',
    area: 'deletion',
    real: 'collects garbage within a second or so, and of a new kind after up to 30 s; empties a namespace after 5 s',
    embedded: 'does both at once, still one write after the other and seen by watches',
    reason: 'The same states, without the waiting.',
  },
  {
    id: 'future-at-once',
    area: 'lists-and-watches',
    real: 'waits three seconds for a resourceVersion of the future, then answers 504',
    embedded: 'answers 504 at once',
    reason: 'With one store nothing is still on its way.',
  },
  {
    id: 'history-by-count',
    area: 'lists-and-watches',
    real: 'forgets its history after five to ten minutes',
    embedded: 'forgets it after 10 000 events of a kind, or on request (`compact()`)',
    reason: 'Tests of 410 need not wait, and others never meet it.',
  },
  {
    id: 'nesting',
    area: 'verbs',
    real: 'reads bodies that nest up to 10 000 deep',
    embedded: 'refuses those that nest deeper than 1 000, with the same words',
    reason: 'The stack of JavaScript ends sooner; nothing that is meant for a cluster comes near either.',
  },
  {
    id: 'diffs',
    area: 'built-in',
    real: 'ends the refusal to change a pod or a claim with a diff of Go structs',
    embedded: 'leaves the diff out',
    reason: 'It is a dump of internal types, for people.',
  },
  {
    id: 'expressions-last',
    area: 'admission',
    real: 'tells all that is wrong with a policy at once',
    embedded: 'tells what is wrong with its expressions when the rest of it is right',
    reason: 'CEL is loaded only when an expression needs it.',
  },
  {
    id: 'mutating-policies',
    area: 'admission',
    real: 'applies MutatingAdmissionPolicies',
    embedded: 'stores them, with a warning, and does not apply them',
    reason: 'Not built; webhooks change objects.',
  },
  {
    id: 'tokens-without-owners',
    area: 'subresources',
    real: 'says in the answer to a TokenRequest who owns its fields',
    embedded: 'does not',
    reason: 'Nothing is stored of it.',
  },
  {
    id: 'ineffective-status',
    area: 'apply',
    real: 'stores a new version for a write whose only difference is a status that the path does not take, where a second has passed since the last',
    embedded: 'leaves the object as it is',
    reason: 'There it is an accident of the clock, which no test could expect.',
  },
  {
    id: 'nothing-and-empty',
    area: 'patches',
    real: 'tells an empty map, or empty bytes, from none until the object is stored: such a patch counts as a change of an immutable map',
    embedded: 'takes them for the same',
    reason: 'An accident of Go, gone after the write.',
  },
  {
    id: 'protobuf',
    area: 'discovery',
    real: 'writes protobuf for built-in kinds to who asks for it',
    embedded: 'reads protobuf, and answers in JSON, which all who ask for protobuf accept as well',
    reason: 'No client needs it.',
  },
  {
    id: 'nothing-runs',
    area: 'subresources',
    real: 'streams logs and commands of containers',
    embedded: 'gives empty logs, and 501 for exec, attach and port-forward',
    reason: 'There are no nodes.',
  },
  {
    id: 'no-flow-control',
    area: 'verbs',
    real: 'answers 429 under load',
    embedded: 'answers 429 only where a test asks for that fault',
    reason: 'Load of the machine must not change what a test sees.',
  },
]
