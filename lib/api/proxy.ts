/** HTTP proxies: which one to take (as Go's net/http does, so that kubectl and tsop agree), and the tunnel through it. */

import net from 'node:net'
import tls from 'node:tls'

type Env = Readonly<Record<string, string | undefined>>

/**
 * The proxy that the environment asks for: `HTTPS_PROXY` or `HTTP_PROXY` by the server's scheme, unless `NO_PROXY` names
 * the host. Lower-case names count as well. Never for this machine itself.
 */
export function proxyOf(env: Env, server: URL): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy) return undefined
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || isLoopback(host)) return undefined
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  const exempt = (env['NO_PROXY'] || env['no_proxy'] || '').split(',').some((entry) => matches(entry.trim().toLowerCase(), host, port))
  return exempt ? undefined : proxy.includes('://') ? proxy : `http://${proxy}`
}

function isLoopback(host: string): boolean {
  return host === '::1' || (net.isIPv4(host) && host.startsWith('127.'))
}

/** `*`, an address, a range (`10.0.0.0/8`), a domain (`example.com` and all below it; `.example.com` only those below), each perhaps with `:port`. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  const range = /^(?<net>[^/]+)\/(?<bits>\d+)$/.exec(entry)?.groups
  if (range !== undefined) return inRange(host, range['net'] ?? '', Number(range['bits']))
  let name = entry
  if (net.isIP(entry) === 0) {
    const parts = /^\[?(?<name>[^\]]+?)\]?(?::(?<port>\d+))?$/.exec(entry)?.groups
    if (parts?.['port'] !== undefined && parts['port'] !== port) return false
    name = parts?.['name'] ?? entry
  }
  if (net.isIP(host) !== 0) return name === host
  const domain = name.replace(/^\*?\./, '')
  return host.endsWith(`.${domain}`) || (host === domain && domain === name)
}

function inRange(host: string, network: string, bits: number): boolean {
  const family = net.isIP(host)
  if (family === 0 || net.isIP(network) !== family || bits > (family === 4 ? 32 : 128)) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const range = new net.BlockList()
  range.addSubnet(network, bits, type)
  return range.check(host, type)
}

/**
 * Asks `proxy`, to which `socket` is connected, for a tunnel to `target`, then hands the socket to `done`. `watch` is told of the
 * socket to listen on where another one is put on top (a proxy reached by TLS).
 */
export function tunnel(
  proxy: URL,
  target: { host: string; port: number },
  socket: net.Socket,
  watch: (socket: net.Socket) => net.Socket,
  done: (socket: net.Socket) => void,
  fail: (error: Error) => void,
): void {
  if (proxy.protocol === 'https:') {
    const host = proxy.hostname.replace(/^\[|\]$/g, '')
    const secured = watch(tls.connect({ socket, host, rejectUnauthorized: true, ...(net.isIP(host) === 0 && { servername: host }) }))
    secured.once('secureConnect', () => ask(proxy, target, secured, done, fail))
  } else {
    ask(proxy, target, socket, done, fail)
  }
}

const LONGEST_ANSWER = 16 * 1024

function ask(
  proxy: URL,
  { host, port }: { host: string; port: number },
  socket: net.Socket,
  done: (socket: net.Socket) => void,
  fail: (error: Error) => void,
): void {
  const authority = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const auth = proxy.username === '' ? '' : `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`
  let answer = Buffer.alloc(0)
  const stop = () => {
    socket.removeListener('data', read)
    socket.removeListener('end', ended)
    socket.pause()
  }
  const ended = () => {
    stop()
    fail(new Error(`the proxy ${proxy.host} closed the connection`))
  }
  const read = (chunk: Buffer) => {
    answer = Buffer.concat([answer, chunk])
    const end = answer.indexOf('\r\n\r\n')
    if (end < 0 && answer.length < LONGEST_ANSWER) return
    stop()
    const line = answer.toString('latin1', 0, Math.min(answer.length, 200)).split('\r\n', 1)[0] ?? ''
    if (!/^HTTP\/1\.[01] 2\d\d\b/.test(line)) return fail(new Error(`the proxy ${proxy.host} refused the connection: ${line}`))
    const rest = answer.subarray(end + 4)
    if (rest.length > 0) socket.unshift(rest)
    done(socket)
  }
  socket.on('data', read)
  socket.once('end', ended)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${auth}\r\n`)
}
