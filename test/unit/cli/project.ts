/** A user's project in a temporary directory, and the real `tsop-run` in it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export class Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  #stdout = ''
  #stderr = ''
  #said = ''
  #heard = new Set<() => void>()

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
      this.#said += text
      this.#tell()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
      this.#said += text
      this.#tell()
    })
    this.ended = once(child, 'close').then(([code]) => {
      this.#tell()
      return { code: code as number | null, stdout: this.#stdout, stderr: this.#stderr }
    })
  }

  /** What it has said so far, on both streams, in this order as far as streams have one. */
  get said(): string {
    return this.#said
  }

  /** Resolves when it has said `pattern` (`times` times); rejects when it ends without. */
  hears(pattern: RegExp, times = 1): Promise<void> {
    const global = new RegExp(pattern, `${pattern.flags.replace('g', '')}g`)
    return new Promise((resolve, reject) => {
      const listen = () => {
        if ((this.said.match(global) ?? []).length >= times) {
          this.#heard.delete(listen)
          resolve()
        } else if (this.child.exitCode !== null || this.child.signalCode !== null) {
          this.#heard.delete(listen)
          reject(new Error(`ended without saying ${pattern}: ${this.said}`))
        }
      }
      this.#heard.add(listen)
      listen()
    })
  }

  #tell(): void {
    for (const listen of [...this.#heard]) listen()
  }
}

export interface RunOptions {
  /** Inside the project. */
  readonly cwd?: string
  readonly env?: Record<string, string>
  readonly command?: 'tsop' | 'tsop-run'
}

export class Project {
  readonly path: string
  readonly #running = new Set<Running>()

  /** `files`: by path; what `package.json` says is an ES module package that has `tsop` installed. */
  constructor(files: Readonly<Record<string, string>> = {}, name = 'tsop-project-') {
    this.path = mkdtempSync(join(tmpdir(), name))
    mkdirSync(join(this.path, 'node_modules'))
    symlinkSync(ROOT, join(this.path, 'node_modules/tsop'))
    this.write('package.json', '{ "name": "shop-operator", "type": "module" }')
    for (const [file, text] of Object.entries(files)) this.write(file, text)
  }

  write(file: string, text: string): void {
    const path = join(this.path, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  start(args: readonly string[], { cwd = '.', env = {}, command = 'tsop-run' }: RunOptions = {}): Running {
    const bin = join(ROOT, `lib/cli/${command}.ts`)
    const { KUBECONFIG: _, NODE_OPTIONS: __, ...outside } = process.env
    const running = new Running(
      spawn(process.execPath, ['--conditions=tsop-source', bin, ...args], {
        cwd: join(this.path, cwd),
        env: { ...outside, HOME: this.path, KUBERNETES_SERVICE_HOST: '', NO_COLOR: '1', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    this.#running.add(running)
    return running
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return this.start(args, options).ended
  }

  /** Kills what still runs and removes the directory. */
  async remove(): Promise<void> {
    for (const { child, ended } of this.#running) {
      child.kill('SIGKILL')
      await ended
    }
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A handler of the kind `Widget`. */
export function widgetHandler({ className = 'WidgetHandler', kind = 'Widget', body = '' } = {}): string {
  return `
import { kind, onReconcile } from 'tsop'

const ${kind}Kind = kind('example.com/v1', '${kind}', { plural: '${kind.toLowerCase()}s', scope: 'Namespaced' })

export class ${className} {
  @onReconcile(${kind}Kind)
  async reconcile(object: unknown) {
    ${body}
  }
}
`
}

/** A kubeconfig of a server without TLS. */
export function kubeconfig(server: string, user: object = { token: 'secret' }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'fake', cluster: { server } }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'fake-context', context: { cluster: 'fake', user: 'me' } }],
    'current-context': 'fake-context',
  })
}
