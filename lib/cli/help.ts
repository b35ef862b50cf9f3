/** What `tsop-run --help` prints, and the same table as Markdown for docs/reference/cli.md. */

import { optionLines, optionTable, wrap } from './option-rows.ts'
import { OPTIONS } from './options.ts'

export function help(width = 100): string {
  return [
    'Usage: tsop-run [options] [directories or files …]',
    '',
    ...wrap('Loads handler classes (.ts, .mts, .js, .mjs) and reconciles their kinds on a Kubernetes cluster until it is stopped.', width),
    'Without arguments it loads the directory handlers.',
    '',
    'Options:',
    ...optionLines(OPTIONS, width),
    '',
    ...wrap('Exit codes: 0 stopped or done · 1 failed · 2 command line · 3 kubeconfig, handlers or manifests · 4 cluster', width),
    '',
  ].join('\n')
}

/** The rows of the table in docs/reference/cli.md. */
export function markdown(): string {
  return optionTable(OPTIONS)
}
