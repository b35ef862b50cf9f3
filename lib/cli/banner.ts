/** What a start tells: where it runs, what it serves, how long it took. For people a few lines, for machines one. */

import type { Log } from '../resource/log.ts'
import { exportLine } from './export-line.ts'

export interface BannerFacts {
  readonly version: string
  readonly name: string
  readonly server: string
  /** `''` where there is none. */
  readonly context: string
  /** The server is embedded, and this file leads to it. */
  readonly embedded?: { readonly kubeconfig: string }
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
    `  ${paint(1, 'tsop')} ${facts.version} · ${facts.name} ${outcome(facts, paint)}`,
    '',
    ...cluster(facts).map((text, i) => `  ${label(i === 0 ? 'cluster' : '')}${text}`),
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

function cluster({ server, context, embedded }: BannerFacts): string[] {
  if (embedded === undefined) return [context === '' ? server : `${server}, context ${context}`]
  return [`${server}, embedded: for development only, nothing really runs`, exportLine(embedded.kubeconfig)]
}

function outcome({ controllers, readyMs }: BannerFacts, paint: (code: number, text: string) => string): string {
  const took = `in ${Math.round(readyMs)} ms`
  const waits = waiting(controllers)
  return waits === undefined ? paint(32, `ready ${took}`) : paint(33, `started ${took}; ${waits}`)
}

/** `1 of 2 kinds waits`; undefined where all are served. */
function waiting(controllers: readonly BannerController[]): string | undefined {
  const failing = controllers.filter(({ state }) => state === 'failing').length
  return failing === 0 ? undefined : `${failing} of ${controllers.length} kinds ${failing === 1 ? 'waits' : 'wait'}`
}

function details({ owns, watches, concurrency, state, problem }: BannerController, paint: (code: number, text: string) => string): string {
  const parts = [
    ...(owns.length > 0 ? [`owns ${owns.join(', ')}`] : []),
    ...(watches.length > 0 ? [`watches ${watches.join(', ')}`] : []),
    `${concurrency} at once`,
    ...(state === 'failing' ? [paint(31, `waits: ${problem ?? 'see the log'}`)] : []),
  ]
  return parts.join(' · ')
}

/** The same facts as one structured line: `ready`, or a warning where a kind cannot be served. */
export function logBanner(log: Log, { version, name, server, context, embedded, namespaces, controllers, readyMs }: BannerFacts): void {
  const fields = {
    version,
    name,
    server,
    context,
    ...(embedded && { embedded }),
    namespaces: namespaces ?? 'all',
    controllers,
    readyMs: Math.round(readyMs),
  }
  const waits = waiting(controllers)
  const problems = controllers.filter(({ state }) => state === 'failing').map(({ kindName, problem }) => problem ?? kindName)
  if (waits === undefined) log.info(fields, 'ready')
  else log.warn(fields, `started; ${waits}: ${problems.join('; ')}`)
}
