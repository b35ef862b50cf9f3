/** What `up` started, known by the files with process ids that it left. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PROGRAMS, type Program } from './binaries.ts'

export const pidFile = (dir: string, program: Program): string => join(dir, `${program}.pid`)

export function isRunning(dir: string, program: Program): boolean {
  return pidOf(dir, program) !== undefined
}

/** The API server before its store, each given five seconds to end in order. */
export async function stopAll(dir: string): Promise<void> {
  for (const program of [...PROGRAMS].reverse()) {
    const pid = pidOf(dir, program)
    if (pid !== undefined) {
      signal(pid, 'SIGTERM')
      for (let left = 100; left > 0 && signal(pid, 0); left--) await pause(50)
      signal(pid, 'SIGKILL')
    }
    rmSync(pidFile(dir, program), { force: true })
  }
}

/** The process, where it runs and still is that program: a file from before a reboot may name somebody else's. */
function pidOf(dir: string, program: Program): number | undefined {
  const file = pidFile(dir, program)
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : Number.NaN
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  const command = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? ''
  return command.split(' ')[0]?.endsWith(`/${program}`) ? pid : undefined
}

/** Whether there is such a process to take the signal. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch {
    return false
  }
}
