/** How the watch of one kind (in one namespace, or in all) fares. */
export type WatchState =
  | { readonly phase: 'starting' }
  | { readonly phase: 'synced' }
  | {
      readonly phase: 'failing'
      readonly error: Error
      /** What an administrator has to provide: the kind (its CRD), or the verb the RBAC lacks. */
      readonly missing?: 'kind' | 'list' | 'watch'
      /** Milliseconds since 1970. */
      readonly since: number
    }
