/**
 * The pages that the kubelet asks: `/healthz`, `/livez`, `/readyz`, in the manner of the API server's own
 * (https://kubernetes.io/docs/reference/using-api/health-checks/): `ok` or a list of what is wrong; `?verbose` lists everything, `?exclude=`
 * leaves a check out, and a path below asks one check alone.
 */

import type { CheckReport, Checks, Purpose } from './checks.ts'
import type { Page } from './endpoint.ts'

const PURPOSES: Readonly<Record<string, Purpose>> = { healthz: 'live', livez: 'live', readyz: 'ready' }

/** `undefined`: no such page. */
export function probe(checks: Checks, url: URL): Page | undefined {
  const [, root = '', name = ''] = /^\/([a-z]+)(?:\/(.*))?$/.exec(url.pathname) ?? []
  const purpose = Object.hasOwn(PURPOSES, root) ? PURPOSES[root] : undefined
  if (purpose === undefined) return undefined
  const reports = checks.report(purpose)
  if (name !== '') {
    const one = reports.find((report) => report.name === decoded(name))
    return one && page(root, [one], new Set(), url.searchParams.has('verbose'))
  }
  const excluded = new Set(url.searchParams.getAll('exclude').flatMap((names) => names.split(',')))
  return page(root, reports, excluded, url.searchParams.has('verbose'))
}

function page(root: string, reports: readonly CheckReport[], excluded: ReadonlySet<string>, verbose: boolean): Page {
  const ok = reports.every((report) => report.ok || excluded.has(report.name))
  if (ok && !verbose) return { status: 200, body: 'ok' }
  const lines = reports.map((report) => (excluded.has(report.name) ? `[+]${report.name} excluded: ok` : line(report)))
  const known = new Set(reports.map(({ name }) => name))
  const unknown = [...excluded].filter((name) => name !== '' && !known.has(name))
  if (unknown.length > 0) lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.map(quoted).join(', ')}`)
  return { status: ok ? 200 : 500, body: `${lines.join('\n')}\n${root} check ${ok ? 'passed' : 'failed'}\n` }
}

function line({ name, ok, note }: CheckReport): string {
  const text = note === undefined ? '' : `: ${note.replaceAll(/\s+/g, ' ')}`
  return ok ? `[+]${name} ok${text}` : `[-]${name} failed${text}`
}

const quoted = (text: string) => JSON.stringify(text)

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
