/**
 * A kind with many objects: how long an operator takes for all of them, what memory and CPU, and how late it is while they change.
 *
 *     npm run load -- --objects 10000 --rate 100 --seconds 300 [--peer] [--embedded]
 *
 * Without `--embedded` on a kube-apiserver of test/control-plane. `--peer` puts the same operator in controller-runtime beside it, on a server of its
 * own (needs Go). The operator is a process of its own, tsop's the bundle of an image. Prints Markdown; figures from a machine with anything else to
 * do are not worth much.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createListener } from 'node:net'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { Client } from '../lib/api/client.ts'
import { systemClock } from '../lib/api/clock.ts'
import { createTransport } from '../lib/api/http-transport.ts'
import { loadCluster } from '../lib/api/kubeconfig.ts'
import { installCrds } from '../lib/cli/install-crds.ts'
import { createServer } from '../lib/embedded/server.ts'
import { startControlPlane } from '../test/control-plane/control-plane.ts'
import { sampleValue } from '../test/unit/observe/exposition.ts'
import { Item } from './load/item.ts'

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '300' },
    peer: { type: 'boolean', default: false },
    embedded: { type: 'boolean', default: false },
  },
})
const OBJECTS = Number(values.objects)
const RATE = Number(values.rate)
const SECONDS = Number(values.seconds)
const ROOT = fileURLToPath(new URL('../', import.meta.url))
const NAMESPACE = 'default'
const READY_MS = 600_000
const CONCURRENCY = 16

interface Contender {
  readonly name: string
  /** Its name in the metrics. */
  readonly controller: string
  /** What runs it, with its metrics at this address. */
  readonly command: (metrics: string) => readonly string[]
}

interface Operator {
  readonly contender: Contender
  readonly child: ChildProcess
  readonly metrics: string
  readonly startedAt: number
}

type Reading = Awaited<ReturnType<typeof read>>

interface Result {
  readonly name: string
  readonly filledMs: number
  readonly filled: Reading
  readonly restartMs: number
  readonly restarted: Reading
  readonly changingCpu: number
  readonly changed: Reading
  readonly late: readonly number[]
  readonly deepest: number
}

const folder = mkdtempSync(join(tmpdir(), 'load-'))
/** Of the contender that is under load. */
const ends: (() => unknown)[] = []
try {
  const results: Result[] = []
  const before = loadavg()[0] ?? 0
  for (const contender of contenders()) results.push(await load(contender))
  process.stdout.write(report(results, before))
} finally {
  await endAll()
  rmSync(folder, { recursive: true, force: true })
}

async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end()
}

function contenders(): Contender[] {
  execFileSync(join(ROOT, 'bench/build'), { stdio: ['ignore', 'ignore', 'inherit'] })
  const command = execFileSync(join(ROOT, 'bench/build'), ['--command', 'item'], { encoding: 'utf8' }).trim().split(' ')
  const tsop = {
    name: 'tsop',
    controller: 'Item.load.tsop.dev',
    command: (metrics: string) => [...command, '--name', 'load', '--metrics-bind-address', metrics],
  }
  if (!values.peer) return [tsop]
  const program = join(folder, 'controller-runtime')
  execFileSync(join(ROOT, 'bench/load/controller-runtime/build'), [program], { stdio: 'inherit' })
  const peer = { name: 'controller-runtime', controller: 'item', command: (metrics: string) => [program, metrics] }
  return [tsop, peer]
}

async function load(contender: Contender): Promise<Result> {
  const { name } = contender
  const kubeconfig = await startServer()
  const transport = createTransport(await loadCluster({ kubeconfig, env: {} }), { clock: systemClock, random: Math.random })
  ends.push(() => transport.close())
  const client = new Client({ transport, clock: systemClock, userAgent: 'load' })
  const silent = pino({ level: 'silent' })
  await installCrds(Item.crd === undefined ? [] : [Item.crd], {
    client,
    clock: systemClock,
    signal: new AbortController().signal,
    log: silent,
  })
  const latencies = join(folder, `latencies-${name}`)
  writeFileSync(latencies, '')

  say(`${name}: creating ${OBJECTS} objects`)
  await each(OBJECTS, (i) => client.create(Item, { metadata: { name: `item-${i}`, namespace: NAMESPACE }, spec: { size: i } } as never))

  say(`${name}: from nothing: a child and a status for each`)
  const first = await startOperator(contender, kubeconfig, latencies)
  const filledMs = await ready(first)
  const filled = await read(first)
  await stop(first)

  say(`${name}: a restart: everything is as it should be`)
  const second = await startOperator(contender, kubeconfig, latencies)
  const restartMs = await ready(second)
  const restarted = await read(second)

  say(`${name}: ${RATE} changes a second for ${SECONDS} s`)
  let deepest = 0
  const began = performance.now()
  const writes: Promise<unknown>[] = []
  for (let i = 0; i < RATE * SECONDS; i++) {
    await pause(Math.max(0, began + (i * 1000) / RATE - performance.now()))
    const value = { spec: { size: i, at: Date.now() } }
    writes.push(client.patch(Item, { name: `item-${(i * 7919) % OBJECTS}`, namespace: NAMESPACE }, { type: 'merge', value }))
    if (i % RATE === 0) deepest = Math.max(deepest, (await read(second)).depth)
  }
  await Promise.all(writes)
  await pause(2_000)
  const changed = await read(second)
  await stop(second)
  const late = readFileSync(latencies, 'utf8')
    .trim()
    .split('\n')
    .map(Number)
    .sort((a, b) => a - b)
  await endAll()
  return { name, filledMs, filled, restartMs, restarted, changingCpu: changed.cpu - restarted.cpu, changed, late, deepest }
}

function report(results: readonly Result[], loadBefore: number): string {
  const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(0)} MiB`
  const s = (seconds: number) => `${seconds.toFixed(1)} s`
  const row = (what: string, cell: (result: Result) => string) => `| ${what} | ${results.map(cell).join(' | ')} |`
  const at = (quantile: number) => (r: Result) => `${r.late[Math.min(r.late.length - 1, Math.floor(quantile * r.late.length))] ?? 0} ms`
  return [
    `## Load: ${OBJECTS} objects with a child each, ${values.embedded ? 'embedded API server' : 'kube-apiserver'}`,
    '',
    `Node ${process.version}, ${cpus().length} cores, load average before ${loadBefore.toFixed(1)}, ${new Date().toISOString()}.`,
    '',
    row('', ({ name }) => name),
    `|---|${results.map(() => '---:|').join('')}`,
    row('from nothing to all ready, wall', (r) => s(r.filledMs / 1000)),
    row('… CPU', (r) => s(r.filled.cpu)),
    row('… resident memory', (r) => mib(r.filled.resident)),
    row('a restart until all are seen, wall', (r) => s(r.restartMs / 1000)),
    row('… CPU', (r) => s(r.restarted.cpu)),
    row('… resident memory', (r) => mib(r.restarted.resident)),
    row(`${RATE} changes a second for ${SECONDS} s, CPU`, (r) => s(r.changingCpu)),
    row('… resident memory', (r) => mib(r.changed.resident)),
    row('… runs that saw their change', (r) => String(r.late.length)),
    row('… from a change to its run, median', at(0.5)),
    row('… p99', at(0.99)),
    row('… longest', at(1)),
    row('… due and waiting at most, in the end', (r) => `${r.deepest}, ${r.changed.depth}`),
    '',
  ].join('\n')
}

async function startServer(): Promise<string> {
  if (!values.embedded) {
    const controlPlane = await startControlPlane()
    ends.push(() => controlPlane.stop())
    return controlPlane.kubeconfig
  }
  const server = await createServer({ port: 0 })
  ends.push(() => server.close())
  const file = join(folder, 'kubeconfig')
  writeFileSync(file, JSON.stringify(server.kubeconfig()))
  return file
}

async function startOperator(contender: Contender, kubeconfig: string, latencies: string): Promise<Operator> {
  const address = `127.0.0.1:${await freePort()}`
  const startedAt = performance.now()
  const [program = '', ...options] = contender.command(address)
  const env = { ...process.env, KUBECONFIG: kubeconfig, LATENCIES: latencies }
  const child = spawn(program, options, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] })
  ends.push(() => child.kill('SIGKILL'))
  const metrics = `http://${address}/metrics`
  while (!(await fetch(metrics).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`${contender.name} has ended with ${child.exitCode}`)
    await pause(10)
  }
  return { contender, child, metrics, startedAt }
}

async function freePort(): Promise<number> {
  const listener = createListener().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  listener.close()
  return port
}

async function stop({ child }: Operator): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

async function read({ metrics, contender: { controller } }: Operator) {
  const text = await (await fetch(metrics)).text()
  const value = (name: string, labels = {}) => sampleValue(text, name, labels) ?? 0
  return {
    cpu: value('process_cpu_seconds_total'),
    resident: value('process_resident_memory_bytes'),
    depth: value('workqueue_depth'),
    done: value('controller_runtime_reconcile_total', { controller, result: 'success' }),
    busy: value('controller_runtime_active_workers') + value('workqueue_depth') + value('tsop_objects_unfinished'),
  }
}

/** Milliseconds from the start of the process until each object has been run and nothing is due. */
async function ready(operator: Operator): Promise<number> {
  const end = performance.now() + READY_MS
  for (;;) {
    const { done, busy } = await read(operator)
    const ms = performance.now() - operator.startedAt
    if (done >= OBJECTS && busy === 0) return ms
    if (performance.now() > end) throw new Error(`after ${READY_MS / 1000} s ${done} of ${OBJECTS} objects have been run, ${busy} are due`)
    await pause(100)
  }
}

async function each(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (next < count) await work(next++)
    }),
  )
}

function say(text: string): void {
  process.stderr.write(`load: ${text}\n`)
}
