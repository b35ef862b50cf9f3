/** What a start tells: where it runs, what it serves, how long it took. For people a few lines, for machines one. */

import type { Log } from '../resource/log.ts'

export interface BannerFacts {
  readonly version: string
  readonly name: string
  readonly server: string
  /** `''` where there is none. */
  readonly context: string
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined
  readonly controllers: readonly BannerController[]
  readonly readyMs: number
}

interface BannerController {
  readonly kindName: string
  readonly owns: readonly string[]
  readonly watches: readonly string[]
  readonly concurrency: number
  readonly state: string
  readonly problem?: string
}

/** `hint`: a last line on what to type next. */
export function banner(facts: BannerFacts, hint: string | undefined, colour: boolean): string {
  const paint = (code: number, text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)
  const label = (text: string) => paint(2, text.padEnd(11))
  const width = Math.max(...facts.controllers.map(({ kindName }) => kindName.length))
  return [
    '',
    `  ${paint(1, 'tsop')} ${facts.version} · ${facts.name} ${paint(32, `ready in ${Math.round(facts.readyMs)} ms`)}`,
    '',
    `  ${label('cluster')}${facts.server}${facts.context === '' ? '' : ` (${facts.context})`}`,
    `  ${label('namespaces')}${facts.namespaces?.join(', ') ?? 'all'}`,
    ...facts.controllers.map(
      (controller, i) =>
        `  ${label(i === 0 ? 'reconciles' : '')}${paint(36, controller.kindName.padEnd(width))} ${details(controller, paint)}`,
    ),
    ...(hint === undefined ? [] : ['', `  ${paint(2, hint)}`]),
    '',
    '',
  ].join('\n')
}

function details({ owns, watches, concurrency, state, problem }: BannerController, paint: (code: number, text: string) => string): string {
  const parts = [
    ...(owns.length > 0 ? [`owns ${owns.join(', ')}`] : []),
    ...(watches.length > 0 ? [`watches ${watches.join(', ')}`] : []),
    `${concurrency} at once`,
    ...(state === 'failing' ? [paint(31, `failing: ${problem ?? 'see the log'}`)] : []),
  ]
  return parts.join(' · ')
}

/** The same facts as one structured line. */
export function logBanner(log: Log, { version, name, server, context, namespaces, controllers, readyMs }: BannerFacts): void {
  log.info({ version, name, server, context, namespaces: namespaces ?? 'all', controllers, readyMs: Math.round(readyMs) }, 'ready')
}
