/**
 * A real control plane for as long as somebody needs it: etcd, kube-apiserver and kube-controller-manager on free ports. It is
 * stopped by `stop()`, and in any case with this process.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Binaries, findBinaries, type Program } from './binaries.ts'
import { certificateOf, commandLines, kubeconfigOf, type Ports, writeFiles } from './config.ts'
import { freePorts } from './ports.ts'
import { whenReady } from './readiness.ts'

export interface ControlPlaneOptions {
  /** Where data and logs go. Default: a new folder, removed by `stop()`. */
  readonly dir?: string
  /** Default: true. Without it nobody collects garbage, ends namespaces or runs the built-in workloads. */
  readonly controllerManager?: boolean
  /** The controllers that run, by kube-controller-manager's names. Default: all that it runs by default. */
  readonly controllers?: readonly string[]
  /** More flags for the kube-apiserver, such as an audit policy. */
  readonly apiServerFlags?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export interface ControlPlane {
  /** The path of a kubeconfig that may do everything. */
  readonly kubeconfig: string
  /** The same for a second user, so that an audit log can tell the two apart. */
  readonly operatorKubeconfig: string
  readonly dir: string
  /** Runs kubectl and gives what it printed. Rejects with what it said where it fails. */
  kubectl(args: readonly string[], options?: { input?: string }): Promise<string>
  /** Done when it returns. Called again, and without a call at the process's exit, it does no harm. */
  stop(): void
}

/** Starts a control plane and waits until it answers. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = findBinaries(options.env)
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'control-plane-'))
  const processes: Guarded[] = []
  const end = () => {
    process.off('exit', end)
    for (const process of processes) process.kill()
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
  process.once('exit', end)
  try {
    await startOnFreePorts(dir, binaries, processes, options)
  } catch (error) {
    end()
    throw error
  }
  return {
    dir,
    kubeconfig: kubeconfigOf(dir),
    operatorKubeconfig: kubeconfigOf(dir, 'operator'),
    kubectl: (args, { input } = {}) => kubectl(binaries.kubectl, kubeconfigOf(dir), args, input),
    stop: end,
  }
}

const ATTEMPTS = 5

/** A port may be taken by somebody else between its choice and its use: then all is started anew on others. */
async function startOnFreePorts(dir: string, binaries: Binaries, processes: Guarded[], options: ControlPlaneOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const [apiServer, etcd, etcdPeers, controllerManager] = (await freePorts(4)) as [number, number, number, number]
    try {
      return await start(dir, { apiServer, etcd, etcdPeers, controllerManager }, binaries, processes, options)
    } catch (error) {
      if (attempt === ATTEMPTS || !/address already in use/.test(String(error))) throw error
      for (const process of processes.splice(0)) process.kill()
      rmSync(join(dir, 'etcd'), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    }
  }
}

async function start(dir: string, ports: Ports, binaries: Binaries, processes: Guarded[], options: ControlPlaneOptions): Promise<void> {
  writeFiles(dir, ports)
  for (const [program, args] of commandLines(dir, ports, options.apiServerFlags)) {
    if (program === 'kube-controller-manager') {
      const dead = () => processes.map((process) => process.death()).find((why) => why !== undefined)
      await whenReady(ports.apiServer, certificateOf(dir), dead)
      if (options.controllerManager === false) continue
    }
    const chosen = program === 'kube-controller-manager' && options.controllers ? [`--controllers=${options.controllers.join(',')}`] : []
    processes.push(new Guarded(program, binaries[program], [...args, ...chosen], join(dir, `${program}.log`)))
  }
}

/** A program that dies with this process: `guard` kills it when the pipe to its standard input closes. */
class Guarded {
  readonly #program: Program
  readonly #logFile: string
  readonly #child: ChildProcess

  constructor(program: Program, path: string, args: readonly string[], logFile: string) {
    this.#program = program
    this.#logFile = logFile
    const log = openSync(logFile, 'w')
    // Detached, so that Ctrl+C in a terminal reaches the tests only, and they can end in order.
    this.#child = spawn(fileURLToPath(new URL('guard', import.meta.url)), [path, ...args], { detached: true, stdio: ['pipe', log, log] })
    closeSync(log)
    // Neither the process nor the pipe to it keeps the tests from ending.
    this.#child.unref()
    ;(this.#child.stdin as unknown as { unref?: () => void } | null)?.unref?.()
  }

  /** What became of it, where it does not run any more. */
  death(): string | undefined {
    if (this.#child.exitCode === null && this.#child.signalCode === null) return undefined
    const said = readFileSync(this.#logFile, 'utf8').trim().split('\n').slice(-5).join('\n')
    return `${this.#program} ended (${this.#child.signalCode ?? `exit code ${this.#child.exitCode}`}): ${said}`
  }

  /** Ends it and its guard at once; nothing here is worth an orderly end. */
  kill(): void {
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    try {
      process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // It has just ended by itself.
    }
  }
}

function kubectl(path: string, kubeconfig: string, args: readonly string[], input: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(path, ['--kubeconfig', kubeconfig, ...args], { maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`))
    })
    child.stdin?.end(input)
  })
}
