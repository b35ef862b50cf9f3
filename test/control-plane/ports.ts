import { createServer, type Server } from 'node:net'

/** Ports that were free a moment ago, all different. Another process may take one before it is used: be ready to ask again. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** Those that somebody listens on. */
export async function takenPorts(ports: readonly number[]): Promise<number[]> {
  const taken: number[] = []
  for (const port of ports) {
    try {
      const server = await listen(port)
      await new Promise((resolve) => server.close(resolve))
    } catch {
      taken.push(port)
    }
  }
  return taken
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
