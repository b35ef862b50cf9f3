import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { tokenOf } from './config.ts'

/**
 * Waits until the API server says that it is ready: the one with this certificate, for another server may have the port.
 * @param dead says why it never will be, as soon as that is known
 */
export async function whenReady(port: number, certificate: string, dead: () => string | undefined, withinMs = 120_000): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await isReady(port, certificate))) {
    const why = dead()
    if (why !== undefined) throw new Error(why)
    if (performance.now() > end) throw new Error(`The API server on port ${port} was not ready within ${withinMs / 1000} s.`)
    await pause(100)
  }
  // It may have found the etcd of somebody else on the port of its own.
  const why = dead()
  if (why !== undefined) throw new Error(why)
}

function isReady(port: number, certificate: string): Promise<boolean> {
  if (!existsSync(certificate)) return Promise.resolve(false)
  return new Promise((resolve) => {
    const ask = request(
      {
        host: '127.0.0.1',
        port,
        path: '/readyz',
        ca: readFileSync(certificate),
        timeout: 2000,
        headers: { authorization: `Bearer ${tokenOf('admin')}` },
      },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode === 200)
      },
    )
    ask.on('timeout', () => ask.destroy())
    ask.on('error', () => resolve(false))
    ask.end()
  })
}
