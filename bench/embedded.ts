/**
 * The embedded API server beside a real one, in one run: `npm run bench:embedded` after `npm run build`. Prints Markdown. Figures from a
 * machine with anything else to do are not worth much.
 *
 * Both serve a process of their own; this process is the client, with the connection an operator has (HTTP/2 with TLS to the real server,
 * HTTP/1.1 to the embedded one). What happens in one process is measured in a child that only does that.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../lib/api/clock.ts'
import { createTransport } from '../lib/api/http-transport.ts'
import { loadCluster } from '../lib/api/kubeconfig.ts'
import type { Transport, TransportRequest } from '../lib/api/transport.ts'
import { startControlPlane } from '../test/control-plane/control-plane.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const COMMAND = join(ROOT, 'dist/cli/tsop.js')
const STARTS = 7
const OBJECTS = 5000
const CONCURRENCY = 16
const MAPS = '/api/v1/namespaces/default/configmaps'

interface Subject {
  readonly name: string
  /** Of everything that the server is made of. */
  readonly pids: readonly number[]
  readonly transport: Transport
  stop(): void | Promise<void>
}

interface Figures {
  readonly startMs: number
  readonly createsPerSecond: number
  readonly cpuPerCreateMs: number
  readonly restingMiB: number
  readonly residentMiB: number
  readonly fanOut: readonly { readonly watchers: number; readonly cpuPerWriteMs: number }[]
}

if (process.argv[2] === 'in-process') await inProcess()
else await compare()

async function compare(): Promise<void> {
  if (!existsSync(COMMAND)) throw new Error('dist is missing: npm run build first')
  const embedded = await figures('embedded', startEmbedded, STARTS)
  const real = await figures('kube-apiserver and etcd', startReal, 1)
  const inside = JSON.parse(execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'in-process'], { encoding: 'utf8' }))
  const row = (what: string, a: string, b: string) => `| ${what} | ${a} | ${b} |`
  const one = (value: number, digits = 0) => value.toFixed(digits)
  process.stdout.write(
    [
      `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, ${new Date().toISOString()}`,
      '',
      '| | embedded | kube-apiserver 1.36 and etcd |',
      '|---|---:|---:|',
      row('start to ready, ms', one(embedded.startMs), one(real.startMs)),
      row('a further server in the process, ms', one(inside.furtherMs, 1), '–'),
      row(`creates a second, ${CONCURRENCY} at a time`, one(embedded.createsPerSecond), one(real.createsPerSecond)),
      row('CPU of the server a create, ms', one(embedded.cpuPerCreateMs, 2), one(real.cpuPerCreateMs, 2)),
      row('creates a second in the process', one(inside.createsPerSecond), '–'),
      row('resident memory at start, MiB', one(embedded.restingMiB), one(real.restingMiB)),
      row(`the same with ${OBJECTS} objects`, one(embedded.residentMiB), one(real.residentMiB)),
      ...embedded.fanOut.map(({ watchers, cpuPerWriteMs }, i) =>
        row(`CPU a write with ${watchers} watchers, ms`, one(cpuPerWriteMs, 2), one(real.fanOut[i]?.cpuPerWriteMs ?? Number.NaN, 2)),
      ),
      '',
    ].join('\n'),
  )
}

async function figures(name: string, start: () => Promise<Subject>, starts: number): Promise<Figures> {
  const times: number[] = []
  let subject: Subject | undefined
  for (let i = 0; i < starts; i++) {
    await subject?.stop()
    const begin = performance.now()
    subject = await start()
    times.push(performance.now() - begin)
  }
  if (subject === undefined) throw new Error('never started')
  process.stderr.write(`${name}: ${times.map(Math.round).join(', ')} ms\n`)
  try {
    const { transport, pids } = subject
    const restingMiB = resident(pids)
    await create(transport, 'warm', 200)
    const before = cpu(pids)
    const begin = performance.now()
    await create(transport, 'c', OBJECTS)
    const seconds = (performance.now() - begin) / 1000
    const cpuPerCreateMs = (cpu(pids) - before) / OBJECTS
    const residentMiB = resident(pids)
    const fanOut: { watchers: number; cpuPerWriteMs: number }[] = []
    for (const watchers of [1, 10, 100]) fanOut.push({ watchers, cpuPerWriteMs: await fan(transport, pids, watchers) })
    return { startMs: median(times), createsPerSecond: OBJECTS / seconds, cpuPerCreateMs, restingMiB, residentMiB, fanOut }
  } finally {
    await subject.stop()
  }
}

async function startEmbedded(): Promise<Subject> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-embedded-'))
  const kubeconfig = join(dir, 'kubeconfig')
  const child: ChildProcess = spawn(process.execPath, [COMMAND, 'apiserver', '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const chunk of child.stdout ?? []) {
    said += chunk
    if (said.includes('API server for development on')) break
  }
  const transport = await connect(kubeconfig)
  return {
    name: 'embedded',
    pids: [child.pid ?? 0],
    transport,
    async stop() {
      await transport.close()
      child.kill()
      await once(child, 'exit')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function startReal(): Promise<Subject> {
  const plane = await startControlPlane({ controllerManager: false })
  const transport = await connect(plane.kubeconfig)
  const pids = execFileSync('pgrep', ['-f', `(kube-apiserver|etcd) .*${plane.dir}`], { encoding: 'utf8' })
  return {
    name: 'real',
    pids: pids.trim().split('\n').map(Number),
    transport,
    async stop() {
      await transport.close()
      plane.stop()
    },
  }
}

/** Resolves once it has answered. */
async function connect(kubeconfig: string): Promise<Transport> {
  const transport = createTransport(await loadCluster({ kubeconfig, env: {} }), { clock: systemClock, random: Math.random })
  await transport.request({ method: 'GET', path: '/readyz', timeoutMs: 10_000 })
  return transport
}

function write(method: 'POST' | 'PUT', path: string, object: object): TransportRequest {
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'bench/1' }
  return { method, path, headers, body: JSON.stringify(object), timeoutMs: 30_000 }
}

function map(name: string, value = 'x'.repeat(500)): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } }
}

async function create(transport: Transport, prefix: string, n: number): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < n) {
      const { status } = await transport.request(write('POST', MAPS, map(`${prefix}-${next++}`)))
      if (status !== 201) throw new Error(`create answered ${status}`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

/** CPU of the server for one write that all watchers hear of, in milliseconds. */
async function fan(transport: Transport, pids: readonly number[], watchers: number): Promise<number> {
  const WRITES = 200
  const name = `fan-${watchers}`
  const { body } = await transport.request(write('POST', MAPS, map(name)))
  const { resourceVersion } = JSON.parse(body.toString()).metadata
  let lines = 0
  let heard: () => void = () => {}
  const all = new Promise<void>((resolve) => {
    heard = resolve
  })
  const path = `${MAPS}?watch=true&resourceVersion=${resourceVersion}`
  const streams = await Promise.all(
    Array.from({ length: watchers }, () =>
      transport.stream({ method: 'GET', path, timeoutMs: 10_000, headers: { accept: 'application/json' } }),
    ),
  )
  for (const stream of streams) {
    stream.read(
      (chunk) => {
        for (const byte of chunk) if (byte === 10) lines++
        if (lines >= WRITES * watchers) heard()
      },
      () => {},
    )
  }
  const before = cpu(pids)
  for (let i = 0; i < WRITES; i++) await transport.request(write('PUT', `${MAPS}/${name}`, map(name, `${i}`)))
  await all
  const used = (cpu(pids) - before) / WRITES
  for (const stream of streams) stream.close()
  return used
}

async function inProcess(): Promise<void> {
  const { createServer } = await import(join(ROOT, 'dist/embedded/server.js'))
  const first = await createServer()
  const further: number[] = []
  for (let i = 0; i < 9; i++) {
    const begin = performance.now()
    const server = await createServer()
    further.push(performance.now() - begin)
    await server.close()
  }
  const { signal } = new AbortController()
  const headers = { 'content-type': 'application/json', 'user-agent': 'bench/1' }
  const post = (name: string) => first.handle({ method: 'POST', url: MAPS, headers, body: JSON.stringify(map(name)), signal })
  for (let i = 0; i < 2000; i++) await post(`warm-${i}`)
  const begin = performance.now()
  for (let i = 0; i < OBJECTS; i++) await post(`c-${i}`)
  const createsPerSecond = OBJECTS / ((performance.now() - begin) / 1000)
  await first.close()
  process.stdout.write(JSON.stringify({ furtherMs: median(further), createsPerSecond }))
}

/** Milliseconds of user and system time so far. `/proc/PID/stat` counts in hundredths of a second. */
function cpu(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return sum + (Number(fields[11]) + Number(fields[12])) * 10
  }, 0)
}

function resident(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024, 0)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
