import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { builtinColumns } from '../../../../lib/embedded/builtin/columns/all.ts'
import { builtinTypes } from '../../../../lib/embedded/builtin/types.ts'
import { recordedColumns } from '../../../../lib/embedded/data/recorded.ts'
import type { ApiObject } from '../../../../lib/embedded/types.ts'

interface Row {
  /** `group/version/resource` */
  readonly resource: string
  readonly object: ApiObject
  readonly cells: unknown[]
  readonly conditions?: object[]
}

/** Objects, shortened, and the rows of them in the Tables of a real server. */
const ROWS = readFileSync(new URL('./columns.recorded.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)

const NOW = Date.parse('2026-11-30T15:00:00Z')

describe('the printer columns of built-in kinds', () => {
  for (const { resource, object, cells, conditions } of ROWS) {
    it(`show ${resource.replace(/^\//, '')} ${object.metadata.name} as a real server does`, () => {
      const columns = builtinColumns(resource)
      expect(withoutAges(columns?.cells(object, NOW))).to.deep.equal(withoutAges(cells))
      expect(columns?.conditions?.(object)).to.deep.equal(conditions)
    })
  }

  it('show ages and durations of now', () => {
    const metadata = { name: 'a', creationTimestamp: '2026-11-30T14:57:30Z' }
    const columns = builtinColumns('batch/v1/jobs')
    const running = { apiVersion: 'batch/v1', kind: 'Job', metadata, status: { startTime: '2026-11-30T14:58:30Z' } }
    expect(columns?.cells(running, NOW).slice(2, 5)).to.deep.equal(['0/1', '90s', '2m30s'])
    const done = { ...running, status: { ...running.status, completionTime: '2026-11-30T14:58:40Z' } }
    expect(columns?.cells(done, NOW)[3]).to.equal('10s')
  })

  it('say how long ago the last container of a pod ended', () => {
    const terminated = { exitCode: 1, finishedAt: '2026-11-30T14:55:00Z' }
    const container = { name: 'c', restartCount: 2, ready: true, state: { running: {} }, lastState: { terminated } }
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', creationTimestamp: '2026-11-30T14:00:00Z' },
      spec: { containers: [{ name: 'c' }] },
      status: { phase: 'Running', containerStatuses: [container] },
    }
    expect(builtinColumns('/v1/pods')?.cells(pod, NOW).slice(0, 5)).to.deep.equal(['a', '1/1', 'Running', '2 (5m ago)', '60m'])
  })

  it('show an object that has nothing but a name', () => {
    for (const type of builtinTypes(new Map())) {
      if (type.columns === undefined) continue
      const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
      const cells = type.columns.cells({ apiVersion, kind: type.kind, metadata: { name: 'a' } }, NOW)
      expect(cells, type.resource).to.satisfy((all: unknown[]) => all.every((cell) => cell !== undefined && cell !== null))
      // IPAddress has a cell that no column is for.
      const extra = type.resource === 'ipaddresses' ? 1 : 0
      expect(cells.length, type.resource).to.equal(type.columns.columns.length + extra)
    }
  })

  it('are there for every kind that can be listed', () => {
    for (const type of builtinTypes(new Map())) {
      const key = `${type.group}/${type.version}/${type.resource}`
      expect(type.columns !== undefined, key).to.equal(type.verbs.includes('list'))
      expect(recordedColumns(key) !== undefined, key).to.equal(type.verbs.includes('list'))
    }
  })
})

/** Times since something are those of the recording. */
function withoutAges(cells: unknown[] | undefined): unknown[] | undefined {
  return cells?.map((cell) => (typeof cell === 'string' ? cell.replaceAll(/\b\d+(s|m|h|d)(\d+(s|m|h))?(?= ago|$)/g, '<age>') : cell))
}
