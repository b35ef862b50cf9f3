/** The handlers of a bundle made by `tsop build`, which has no files to load them from. */

export interface Bundle {
  /** The operator's name where `--name` gives none. */
  readonly name: string
  /** As files would be imported, under the names they had. */
  readonly modules: readonly { readonly file: string; readonly module: Readonly<Record<string, unknown>> }[]
}

/** Of the process: a bundle is one operator. */
let own: Bundle | undefined

export function bundled(): Bundle | undefined {
  return own
}

export function isBundle(bundle: Bundle): void {
  own = bundle
}
