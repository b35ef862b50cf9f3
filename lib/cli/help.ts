/** What `tsop-run --help` prints, and the same table as Markdown for docs/reference/cli.md. */

import { OPTIONS, type OptionRow } from './options.ts'

export function help(width = 100): string {
  const left = rows().map(spelling)
  const column = Math.max(...left.map((text) => text.length)) + 4
  const lines = rows().flatMap((row, i) => {
    const [first = '', ...rest] = wrap(sentence(row), width - column)
    return [`  ${left[i]?.padEnd(column - 2)}${first}`, ...rest.map((text) => ' '.repeat(column) + text)]
  })
  return [
    'Usage: tsop-run [options] [directories or files …]',
    '',
    ...wrap('Loads handler classes (.ts, .mts, .js, .mjs) and reconciles their kinds on a Kubernetes cluster until it is stopped.', width),
    'Without arguments it loads the directory handlers.',
    '',
    'Options:',
    ...lines,
    '',
    ...wrap('Exit codes: 0 stopped or done · 1 failed · 2 command line · 3 kubeconfig, handlers or manifests · 4 cluster', width),
    '',
  ].join('\n')
}

/** The rows of the table in docs/reference/cli.md. */
export function markdown(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  return [
    '| Option | Meaning |',
    '|---|---|',
    ...rows().map((row) => `| \`${cell(spelling(row).trim())}\` | ${cell(sentence(row))} |`),
  ].join('\n')
}

function rows(): readonly OptionRow[] {
  return OPTIONS
}

/** `-n, --namespace NAME` */
function spelling({ short, name, value }: OptionRow): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
}

function sentence({ sentence, choices }: OptionRow): string {
  return choices === undefined ? sentence : `${sentence} One of: ${choices.join(', ')}.`
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line += line === '' ? word : ` ${word}`
  }
  return [...lines, line]
}
