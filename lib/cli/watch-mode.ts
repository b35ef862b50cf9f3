/**
 * `--watch`: a supervisor that runs the operator as a process of its own and starts it anew when a file changes. A process, because
 * modules cannot be unloaded; one that is told to stop drains as it would in a cluster. New code is loaded by a third process first
 * (`--check`): while it does not load, the old code keeps running.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needsEmbedded, startEmbedded } from './embedded-cluster.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { FileChanges } from './file-changes.ts'
import type { Options } from './options.ts'
import { aborted, stopSignal } from './signals.ts'
import { EMBEDDED_KUBECONFIG, isUsedMessage, SUPERVISED } from './supervisor.ts'

/** The operator's own grace period, and a little to end in. */
const GRACE_MS = 35_000

/** Resolves with the exit code of the operator that ran last, once the supervisor was asked to stop. */
export async function watch(args: readonly string[], options: Options): Promise<ExitCode> {
  const { signal, dispose } = stopSignal()
  // Here, so that what is in it outlives the operators.
  const embedded = (await needsEmbedded(options, process.cwd(), process.env)) ? await startEmbedded(options, process.cwd()) : undefined
  const env = embedded === undefined ? {} : { [EMBEDDED_KUBECONFIG]: embedded.kubeconfig }
  const changes = new FileChanges([...options.paths, ...options.apply])
  const rest = args.filter((arg) => arg !== '--watch')
  const stopped = aborted(signal)
  const begin = () => start(rest, env, changes, signal)
  let operator = begin()
  try {
    for (;;) {
      await Promise.race([stopped, changes.next()])
      if (signal.aborted) return await stop(operator)
      if (!(await loads(rest, signal))) {
        if (!signal.aborted) say(isRunning(operator) ? 'the new code does not load; the old keeps running' : 'waiting for a change')
        continue
      }
      say('restarting')
      await stop(operator)
      if (!signal.aborted) operator = begin()
    }
  } finally {
    changes.close()
    await embedded?.close()
    dispose()
  }
}

function start(args: readonly string[], env: NodeJS.ProcessEnv, changes: FileChanges, signal: AbortSignal): ChildProcess {
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env, [SUPERVISED]: '1' },
    // A group of its own: Ctrl-C in a terminal reaches only the supervisor, which passes it on once.
    detached: true,
  })
  child.on('message', (message) => {
    if (isUsedMessage(message)) changes.follow(fileURLToPath(message.file))
  })
  child.on('exit', (code) => {
    if (code !== null && code !== 0 && !signal.aborted) say(`the operator ended with exit code ${code}; waiting for a change`)
  })
  return child
}

/** Asks the operator to drain. When the supervisor itself is made to exit, the operator ends with it. */
async function stop(child: ChildProcess): Promise<ExitCode> {
  if (!isRunning(child)) return exitCodes.ok
  const ended = once(child, 'exit')
  const kill = () => void child.kill('SIGKILL')
  const timer = setTimeout(kill, GRACE_MS)
  process.on('exit', kill)
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
  process.off('exit', kill)
  return child.exitCode === 0 ? exitCodes.ok : exitCodes.failed
}

/** Whether the code on disk loads; what is wrong with it shows on standard error. */
async function loads(args: readonly string[], signal: AbortSignal): Promise<boolean> {
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args, '--check'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const kill = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  await once(child, 'exit')
  signal.removeEventListener('abort', kill)
  return child.exitCode === 0
}

const entry = fileURLToPath(new URL(`./tsop-run${extname(import.meta.url)}`, import.meta.url))

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

function say(text: string): void {
  process.stderr.write(`tsop-run: ${text}\n`)
}
