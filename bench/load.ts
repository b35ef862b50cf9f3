/**
 * A kind with many objects: how long an operator takes for all of them, what memory and CPU, and how late it is while they change.
 *
 *     npm run load -- --objects 10000 --rate 100 --seconds 300 [--embedded]
 *
 * Without `--embedded` on a kube-apiserver of test/control-plane. The operator is a process of its own. Prints Markdown; figures from a machine
 * with anything else to do are not worth much.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Client } from '../lib/api/client.ts'
import { systemClock } from '../lib/api/clock.ts'
import { createTransport } from '../lib/api/http-transport.ts'
import { loadCluster } from '../lib/api/kubeconfig.ts'
import { createServer } from '../lib/embedded/server.ts'
import { startControlPlane } from '../test/control-plane/control-plane.ts'
import { sampleValue } from '../test/unit/observe/exposition.ts'
import { Item } from './load/item.ts'

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '300' },
    embedded: { type: 'boolean', default: false },
  },
})
const OBJECTS = Number(values.objects)
const RATE = Number(values.rate)
const SECONDS = Number(values.seconds)
const ROOT = fileURLToPath(new URL('../', import.meta.url))
const NAMESPACE = 'default'
const CONTROLLER = 'Item.load.tsop.dev'
const READY_MS = 600_000
const CONCURRENCY = 16

interface Operator {
  readonly child: ChildProcess
  readonly metrics: string
  readonly startedAt: number
}

const folder = mkdtempSync(join(tmpdir(), 'load-'))
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
const latencies = join(folder, 'latencies')
try {
  await load()
} finally {
  for (const end of ends.reverse()) await end()
}

async function load(): Promise<void> {
  const kubeconfig = await startServer()
  const transport = createTransport(await loadCluster({ kubeconfig, env: {} }), { clock: systemClock, random: Math.random })
  ends.push(() => transport.close())
  const client = new Client({ transport, clock: systemClock, userAgent: 'load' })

  // Once before, for its definition.
  const installer = await startOperator(kubeconfig)
  while ((await client.list(Item).catch(() => undefined)) === undefined) await pause(100)
  await stop(installer)
  say(`creating ${OBJECTS} objects`)
  await each(OBJECTS, (i) => client.create(Item, { metadata: { name: `item-${i}`, namespace: NAMESPACE }, spec: { size: i } } as never))

  say('from nothing: a child and a status for each')
  const first = await startOperator(kubeconfig)
  const filledMs = await ready(first)
  const filled = await read(first)
  await stop(first)

  say('a restart: everything is as it should be')
  const second = await startOperator(kubeconfig)
  const restartMs = await ready(second)
  const restarted = await read(second)

  say(`${RATE} changes a second for ${SECONDS} s`)
  const before = await read(second)
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
  const after = await read(second)
  const took = (performance.now() - began) / 1000
  await stop(second)
  const late = readFileSync(latencies, 'utf8')
    .trim()
    .split('\n')
    .map(Number)
    .sort((a, b) => a - b)

  const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(0)} MiB`
  const at = (quantile: number) => `${late[Math.min(late.length - 1, Math.floor(quantile * late.length))] ?? 0} ms`
  process.stdout.write(
    [
      `## Load: ${OBJECTS} objects with a child each, ${values.embedded ? 'embedded API server' : 'kube-apiserver'}`,
      '',
      `Node ${process.version}, ${cpus().length} cores, load average ${loadavg()
        .map((load) => load.toFixed(1))
        .join(' ')}.`,
      '',
      '| | wall | CPU | resident memory |',
      '|---|---:|---:|---:|',
      `| from nothing to all ready | ${(filledMs / 1000).toFixed(1)} s | ${filled.cpu.toFixed(1)} s | ${mib(filled.resident)} |`,
      `| a restart to all seen | ${(restartMs / 1000).toFixed(1)} s | ${restarted.cpu.toFixed(1)} s | ${mib(restarted.resident)} |`,
      `| ${RATE} changes a second for ${SECONDS} s | ${took.toFixed(0)} s | ${(after.cpu - before.cpu).toFixed(1)} s | ${mib(after.resident)} |`,
      '',
      `From a change to its run, of ${late.length}: median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}. Due and waiting at most ${deepest}, in the end ${after.depth}.`,
      '',
    ].join('\n'),
  )
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

async function startOperator(kubeconfig: string): Promise<Operator> {
  const startedAt = performance.now()
  const flags = ['--max-semi-space-size=8', '--conditions=tsop-source']
  const command = [join(ROOT, 'lib/cli/tsop-run.ts'), join(ROOT, 'bench/load/item.ts')]
  const options = [
    '--install-crds',
    '--metrics-bind-address',
    '127.0.0.1:0',
    '--log-format',
    'json',
    '--log-level',
    'info',
    '--name',
    'load',
  ]
  const child = spawn(process.execPath, [...flags, ...command, ...options], {
    cwd: ROOT,
    env: { ...process.env, KUBECONFIG: kubeconfig, LATENCIES: latencies },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  ends.push(() => child.kill('SIGKILL'))
  let log = ''
  let metrics: string | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (metrics !== undefined) return
    log += text
    metrics = /"url":"([^"]+)","msg":"serving metrics"/.exec(log)?.[1]
  })
  while (metrics === undefined) {
    if (child.exitCode !== null) throw new Error(`the operator has ended:\n${log}`)
    await pause(10)
  }
  return { child, metrics, startedAt }
}

async function stop({ child }: Operator): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

async function read({ metrics }: Operator) {
  const text = await (await fetch(metrics)).text()
  const value = (name: string, labels = {}) => sampleValue(text, name, labels) ?? 0
  return {
    cpu: value('process_cpu_seconds_total'),
    resident: value('process_resident_memory_bytes'),
    depth: value('workqueue_depth'),
    done: value('controller_runtime_reconcile_total', { controller: CONTROLLER, result: 'success' }),
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
