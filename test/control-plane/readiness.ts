import { request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { tokenOf } from './config.ts'

/**
 * Waits until the API server says that it is ready.
 * @param dead says why it never will be, as soon as that is known
 */
export async function whenReady(port: number, dead: () => string | undefined, withinMs = 120_000): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await isReady(port))) {
    const why = dead()
    if (why !== undefined) throw new Error(why)
    if (performance.now() > end) throw new Error(`The API server on port ${port} was not ready within ${withinMs / 1000} s.`)
    await pause(100)
  }
  // Another server may have the port: ours is dead then, or about to find out.
  await pause(300)
  const why = dead()
  if (why !== undefined) throw new Error(why)
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const ask = request(
      // Only the status is read, and the certificate may not have been written yet.
      {
        host: '127.0.0.1',
        port,
        path: '/readyz',
        rejectUnauthorized: false,
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
