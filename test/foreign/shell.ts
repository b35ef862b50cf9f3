/** Runs a chapter's lines as a person at a terminal would, and writes down what the terminal showed. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { normalise } from './normalise.ts'

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url))

export interface Terminal {
  /** The path of kubectl. */
  readonly kubectl: string
  /** Folders with further programs. */
  readonly programs?: readonly string[]
  readonly kubeconfig: string
  /** A folder of this server's own. */
  readonly dir: string
}

export interface Shown {
  readonly line: string
  readonly exitCode: number
  readonly out: string
  readonly errors: string
}

export async function runChapter(terminal: Terminal, namespace: string, lines: readonly string[]): Promise<Shown[]> {
  const scratch = join(terminal.dir, namespace)
  mkdirSync(scratch, { recursive: true })
  const kubeconfig = join(scratch, 'kubeconfig')
  copyFileSync(terminal.kubeconfig, kubeconfig)
  const env = {
    PATH: [dirname(terminal.kubectl), ...(terminal.programs ?? []), process.env['PATH']].join(delimiter),
    HOME: scratch,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(scratch, 'cache'),
    NAMESPACE: namespace,
    SCRATCH: scratch,
    TZ: 'UTC',
    LC_ALL: 'C',
  }
  await run(`kubectl create namespace ${namespace} && kubectl config set-context --current --namespace=${namespace}`, env)
  await run(READY, env)
  const shown: Shown[] = []
  for (const line of lines) {
    const { exitCode, out, errors } = await run(line, env)
    shown.push({ line, exitCode, out: normalise(out), errors: normalise(errors) })
  }
  return shown
}

/** What controllers put into each namespace. */
const READY =
  'for i in $(seq 300); do kubectl get serviceaccount/default configmap/kube-root-ca.crt > /dev/null 2>&1 && exit; sleep 0.1; done; exit 1'

function run(line: string, env: NodeJS.ProcessEnv): Promise<{ exitCode: number; out: string; errors: string }> {
  return new Promise((resolve) => {
    const options = { env, cwd: FIXTURES, timeout: LIMIT_MS, maxBuffer: 16 << 20 }
    const child = execFile('bash', ['-c', line], options, (error, out, errors) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ exitCode, out, errors })
    })
    child.stdin?.end()
  })
}

/** Of one line. */
const LIMIT_MS = 90_000

/** As a text, which a test's report shows the differences of. */
export function transcript({ line, exitCode, out, errors }: Shown): string {
  return `$ ${line}\n${out}${errors === '' ? '' : `[stderr] ${errors}`}[exit ${exitCode}]\n`
}
