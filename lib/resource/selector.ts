/** How objects are selected by labels and fields. Types only; what they mean is implemented in `lib/api/selectors.ts`. */

/** A label selector: kubectl's text (`'app=db,tier!=cache'`), labels that must all be equal, or `metav1.LabelSelector`. */
export type Selector = string | Readonly<Record<string, string>> | LabelSelector

/** `metav1.LabelSelector`: `matchLabels` and `matchExpressions` must all hold. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly LabelRequirement[]
}

export interface LabelRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  /** Needed by `In` and `NotIn`, forbidden with the other two. */
  readonly values?: readonly string[]
}

/** A field selector: text (`'metadata.name=a,spec.nodeName!=b'`) or paths that must all be equal. */
export type FieldSelector = string | Readonly<Record<string, string>>
