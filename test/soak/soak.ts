/**
 * A long run with trouble: thousands of objects that come, change and go, an API server that fails, loses answers and drops watches, and an
 * operator in a process of its own. In the end nothing may be lost, and nothing may have grown.
 *
 *     npm run soak -- --minutes 60 --objects 2000 --rate 40
 *
 * Prints a report in Markdown; exit code 1 where something was lost or grew. Of an hour trust the memory; of two minutes only the rest.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Client } from '../../lib/api/client.ts'
import { systemClock } from '../../lib/api/clock.ts'
import { clusterAt } from '../../lib/api/cluster.ts'
import { createTransport } from '../../lib/api/http-transport.ts'
import { createServer, type EmbeddedServer } from '../../lib/embedded/server.ts'
import { sampleValue } from '../unit/observe/exposition.ts'
import { startTrouble, type Trouble } from './trouble.ts'
import { World } from './world.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    objects: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const MINUTES = Number(values.minutes)
const OBJECTS = Number(values.objects)
const RATE = Number(values.rate)
const random = mulberry(Number(values.seed))

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SAMPLE_MS = 5_000
const CALM_MS = 180_000

interface Sample {
  readonly seconds: number
  readonly resident: number
  readonly heap: number
  readonly external: number
  readonly fds: number
  readonly resources: number
  readonly objects: number
  readonly depth: number
  readonly cpu: number
}

const server = await createServer({ port: 0 })
const folder = mkdtempSync(join(tmpdir(), 'soak-'))
let operator: ChildProcess | undefined
// Also where the soak itself breaks.
process.on('exit', () => operator?.kill('SIGKILL'))
try {
  process.exitCode = await soak(server)
} finally {
  operator?.kill('SIGKILL')
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}

async function soak(server: EmbeddedServer): Promise<number> {
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(server.kubeconfig()))
  const transport = createTransport(clusterAt(server.url ?? ''), { clock: systemClock, random })
  const client = new Client({ transport, clock: systemClock, userAgent: 'soak' })
  const metrics = await startOperator(kubeconfig)

  const world = new World({ client, objects: OBJECTS, random, say })
  say(`filling up to ${OBJECTS} objects`)
  await Promise.all(Array.from({ length: 16 }, () => world.fill()))
  const samples: Sample[] = []
  const began = performance.now()
  const end = began + MINUTES * 60_000
  const trouble = startTrouble(server, 'soak/', random)
  say(`${MINUTES} minutes of ${RATE} changes a second, seed ${values.seed}`)
  for (let next = began, nextSample = began; performance.now() < end; next += 1000 / RATE) {
    void world.step()
    if (performance.now() >= nextSample) {
      nextSample += SAMPLE_MS
      samples.push(await sample(metrics, began))
    }
    await pause(Math.max(0, next - performance.now()))
  }
  trouble.stop()
  await world.settled()

  say('calm: waiting for every object')
  const calm = performance.now()
  const lost = await until(() => world.unfinished(), CALM_MS)
  const convergedMs = performance.now() - calm
  const resting = await sample(metrics, began)
  say('removing everything')
  await world.removeAll()
  const left = await until(() => world.left(), CALM_MS)
  await pause(SAMPLE_MS)
  const empty = await sample(metrics, began)
  const text = await scrape(metrics)
  const child = operator as ChildProcess
  child.kill('SIGTERM')
  const [code] = (await once(child, 'exit')) as [number | null]
  await transport.close()
  return report({ world, trouble, samples, resting, empty, lost, left, convergedMs, text, code })
}

// ---- the operator ----

async function startOperator(kubeconfig: string): Promise<string> {
  const command = ['--conditions=tsop-source', join(ROOT, 'lib/cli/tsop-run.ts'), join(ROOT, 'test/soak/pot.ts')]
  const options = ['--install-crds', '--metrics-bind-address', '127.0.0.1:0', '--log-format', 'json', '--name', 'soak']
  const child = spawn(process.execPath, [...command, ...options], {
    cwd: ROOT,
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  operator = child
  let url = ''
  let ready = false
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { msg, url: at } = JSON.parse(line) as { msg: string; url?: string }
      if (msg === 'serving metrics' && at !== undefined) url = at
      if (msg === 'ready') ready = true
    }
  })
  for (let i = 0; i < 600 && !ready; i++) {
    if (child.exitCode !== null) throw new Error('the operator has ended')
    await pause(100)
  }
  if (!ready) throw new Error('the operator does not get ready')
  return url
}

async function scrape(url: string): Promise<string> {
  return await (await fetch(url)).text()
}

async function sample(url: string, began: number): Promise<Sample> {
  const text = await scrape(url)
  const read = (name: string, labels = {}) => sampleValue(text, name, labels) ?? 0
  return {
    seconds: Math.round((performance.now() - began) / 1000),
    resident: read('process_resident_memory_bytes'),
    heap: read('nodejs_heap_size_used_bytes'),
    external: read('nodejs_external_memory_bytes'),
    fds: read('process_open_fds'),
    resources: read('nodejs_active_resources_total'),
    objects: read('tsop_watch_objects'),
    depth: read('workqueue_depth'),
    cpu: read('process_cpu_seconds_total'),
  }
}

// ---- the report ----

interface Result {
  readonly world: World
  readonly trouble: Trouble
  readonly samples: readonly Sample[]
  readonly resting: Sample
  readonly empty: Sample
  readonly lost: readonly string[]
  readonly left: readonly string[]
  readonly convergedMs: number
  readonly text: string
  readonly code: number | null
}

function report({ world, trouble, samples, resting, empty, lost, left, convergedMs, text, code }: Result): number {
  // The first third warms up: JIT, the arena of the cache, connection buffers.
  const third = Math.floor(samples.length / 3)
  const middle = samples.slice(third, 2 * third)
  const last = samples.slice(-third)
  const of = (name: keyof Sample, from: readonly Sample[]) => median(from.map((each) => each[name]))
  const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`
  const rows: [string, keyof Sample, (value: number) => string, (before: number) => number][] = [
    ['resident memory', 'resident', mib, (before) => before * 1.15 + 16 * 1024 * 1024],
    ['heap used', 'heap', mib, (before) => before * 1.3 + 16 * 1024 * 1024],
    ['external memory', 'external', mib, (before) => before * 1.2 + 8 * 1024 * 1024],
    ['open files', 'fds', String, (before) => before + 5],
    ['timers, sockets and other resources', 'resources', String, (before) => before + 10],
  ]
  const grown = rows.filter(([, name, , most]) => of(name, last) > most(of(name, middle))).map(([what]) => what)
  const read = (name: string, labels = {}) => sampleValue(text, name, labels) ?? 0
  const unfinished = read('tsop_objects_unfinished') + read('workqueue_depth') + read('tsop_watch_objects', { kind: 'Pot.soak.tsop.dev' })
  const problems = [
    ...lost.map((each) => `lost: ${each}`),
    ...left.map((each) => `left over: ${each}`),
    ...grown.map((each) => `grew: ${each}`),
    ...(unfinished === 0 ? [] : ['the operator still knows of objects that are gone']),
    ...(world.failed === 0 ? [] : [`${world.failed} calls of the soak itself failed`]),
    ...(code === 0 ? [] : [`the operator ended with exit code ${code}`]),
  ]
  const lines = [
    `## Soak: ${MINUTES} minutes, ${OBJECTS} objects, ${RATE} changes a second`,
    '',
    `Node ${process.version}, ${cpus().length} cores, seed ${values.seed}; load average ${process.platform === 'linux' ? loadAverage() : 'unknown'}.`,
    '',
    `Created ${world.created}, changed ${world.changed}, deleted ${world.deleted}, children tampered with ${world.tampered}.`,
    `Runs ${read('controller_runtime_reconcile_total')}, of them failed ${read('controller_runtime_reconcile_errors_total')}, overtaken ${read('controller_runtime_reconcile_total', { result: 'requeue' })}; applies saved ${read('tsop_children_total', { result: 'saved' })}; watches opened again ${read('tsop_watch_restarts_total')}; CPU ${empty.cpu.toFixed(0)} s.`,
    `Trouble: ${Object.entries(trouble.counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}.`,
    `Every object as desired ${(convergedMs / 1000).toFixed(1)} s after the trouble ended.`,
    '',
    '| | middle third | last third | at rest | empty |',
    '|---|---:|---:|---:|---:|',
    ...rows.map(
      ([what, name, show]) =>
        `| ${what} | ${show(of(name, middle))} | ${show(of(name, last))} | ${show(resting[name])} | ${show(empty[name])} |`,
    ),
    `| objects in the cache | ${of('objects', middle)} | ${of('objects', last)} | ${resting.objects} | ${empty.objects} |`,
    `| due and waiting, at most | ${Math.max(...middle.map(({ depth }) => depth))} | ${Math.max(...last.map(({ depth }) => depth))} | ${resting.depth} | ${empty.depth} |`,
    '',
    problems.length === 0 ? 'Nothing was lost, nothing grew.' : problems.slice(0, 50).join('\n'),
    '',
  ]
  process.stdout.write(lines.join('\n'))
  return problems.length === 0 ? 0 : 1
}

function loadAverage(): string {
  return process
    .getBuiltinModule('node:os')
    .loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')
}

/** Asks until there is nothing left, or the time is up; gives what is left then. */
async function until(ask: () => Promise<string[]>, withinMs: number): Promise<string[]> {
  const end = performance.now() + withinMs
  for (;;) {
    const left = await ask()
    if (left.length === 0 || performance.now() > end) return left
    await pause(1000)
  }
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

/** A small generator that can be started anew with the same seed. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function say(text: string): void {
  process.stderr.write(`soak: ${text}\n`)
}
