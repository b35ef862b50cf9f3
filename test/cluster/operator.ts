/** The real `tsop-run` as a child process: what a user starts, seen from outside. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

export interface OperatorOptions {
  /** Handler files or folders, relative to the project or absolute. */
  readonly handlers: string | readonly string[]
  /** More arguments of `tsop-run`. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Default: the project. */
  readonly cwd?: string
  /** Where the source of tsop is, with a slash at its end. Default: the project. */
  readonly project?: string
  /** Default: false, only the test's namespace. For cluster-scoped kinds with children in namespaces. */
  readonly allNamespaces?: boolean
  /** Default: true, wait until it says that it has started. */
  readonly ready?: boolean
}

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

export class Operator {
  readonly #child: ChildProcess
  readonly #exited: Promise<number>
  #closed = false
  #log = ''

  private constructor(options: OperatorOptions, kubeconfig: string) {
    const project = options.project ?? PROJECT
    const handlers = [options.handlers].flat().map((path) => fileURLToPath(new URL(path, `file://${project}`)))
    const command = ['--conditions=tsop-source', `${project}lib/cli/tsop-run.ts`, ...handlers, ...(options.args ?? [])]
    this.#child = spawn(process.execPath, command, {
      cwd: options.cwd ?? project,
      env: { ...process.env, NO_COLOR: '1', KUBECONFIG: kubeconfig, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const kill = () => this.#child.kill('SIGKILL')
    process.once('exit', kill)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text
      })
    }
    this.#exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      // `close`, not `exit`: by then all that it said has been read.
      this.#child.once('close', (code, signal) => {
        process.off('exit', kill)
        this.#closed = true
        resolve(code ?? -1)
        if (signal !== null) this.#log += `\n(ended by ${signal})\n`
      })
    })
    this.#exited.catch(() => {})
  }

  /** Starts it; resolves as soon as it is ready, and rejects where it exits before. */
  static async start(options: OperatorOptions, kubeconfig: string): Promise<Operator> {
    const operator = new Operator(options, kubeconfig)
    if (options.ready !== false) await operator.logged(/(ready|started) in|"msg":"(ready"|started;)/)
    return operator
  }

  /** All that it has printed so far, standard output and error mixed. */
  get log(): string {
    return this.#log
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Its exit code, as soon as it has ended by itself or by a signal; -1 where a signal killed it. */
  get exited(): Promise<number> {
    return this.#exited
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Waits until it has printed this. */
  logged(pattern: RegExp, withinMs?: number): Promise<RegExpMatchArray> {
    return until(
      () => this.#log.match(pattern),
      () => `the operator to print ${pattern}; it said:\n${this.#log}`,
      {
        ...(withinMs !== undefined && { withinMs }),
        check: () => {
          // Not as soon as it has ended: what it said last may not have been read by then.
          if (this.#closed && !pattern.test(this.#log)) throw new Error(`The operator ended before it printed ${pattern}:\n${this.#log}`)
        },
      },
    )
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Sends the signal and waits for the exit code. SIGKILL after half a minute, so that no test leaves one behind. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    this.signal(signal)
    const late = setTimeout(() => this.signal('SIGKILL'), 30_000)
    try {
      return await this.#exited
    } finally {
      clearTimeout(late)
    }
  }
}
