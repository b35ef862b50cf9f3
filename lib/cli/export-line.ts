/** What makes kubectl, in another terminal and from whatever directory, use a kubeconfig that was written. */

import { resolve } from 'node:path'

/** @example exportLine('.tsop/kubeconfig') // export KUBECONFIG=/home/me/shop/.tsop/kubeconfig */
export function exportLine(file: string): string {
  const path = resolve(file)
  return `export KUBECONFIG=${/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}`
}
