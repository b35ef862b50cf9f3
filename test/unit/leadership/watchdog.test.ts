import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const fixture = fileURLToPath(new URL('watched-process.ts', import.meta.url))

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly ms: number
}

/** Runs a command as process 1, as a container does. */
const CONTAINER = ['unshare', '--user', '--map-root-user', '--pid', '--fork']

const run = (...args: string[]) => start(process.execPath, '--conditions=tsop-source', fixture, ...args)

function start(command: string, ...args: string[]): { pid: number; ended: Promise<Ended> } {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (out += text))
  const began = performance.now()
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, out, ms: performance.now() - began })),
  )
  return { pid: child.pid as number, ended }
}

describe('the watchdog', function () {
  this.timeout(20_000)

  for (const how of ['computes', 'waits']) {
    it(`ends a process whose main thread ${how} past the deadline, with its last words`, async () => {
      const { code, signal, out } = await run(how).ended
      expect({ code, signal }).to.deep.equal({ code: null, signal: 'SIGKILL' })
      expect(out).to.contain('{"msg":"last words"').and.not.contain('went on')
      const [, late] = /blocked at (\d+)/.exec(out) ?? []
      expect(late, out).to.not.equal(undefined)
    })
  }

  for (const how of ['computes', 'waits']) {
    it(`ends the first process of a container, which no signal of its own ends, where it ${how} past the deadline`, async () => {
      const { signal, out } = await run(how, 'init').ended
      expect(signal).to.equal('SIGTRAP')
      expect(out.match(/last words/g)).to.have.length(1)
      expect(out).to.not.contain('went on')
    })
  }

  const [unshare = '', ...options] = CONTAINER
  // Not every machine lets a test number processes.
  if (spawnSync(unshare, [...options, 'true']).status === 0) {
    it('knows by its number that it is the first process', async () => {
      const { out } = await start(unshare, ...options, process.execPath, '--conditions=tsop-source', fixture, 'computes').ended
      expect(out).to.contain('last words').and.not.contain('went on')
    })
  }

  it('says where the main thread computed for more than a second, once', async () => {
    const { code, out } = await run('slow', 'computes').ended
    expect(code).to.equal(0)
    expect(out).to.match(/it was slow \(watched-process\.ts:\d+\) in Handler\.reconcile \(watched-process\.ts:\d+\), then undefined/)
  })

  it('says where the main thread waited for more than a second', async () => {
    const { code, out } = await run('slow', 'waits').ended
    expect(code).to.equal(0)
    expect(out).to.match(/it was (slow \(watched-process\.ts:\d+\) in )?Handler\.reconcile \(watched-process\.ts:\d+\), then undefined/)
  })

  it('leaves a process alone whose deadline moves on, or does not matter any more', async () => {
    const { code, out } = await run('renews').ended
    expect(out).to.contain('went on')
    expect(code).to.equal(0)
  })

  it('gives a process that was stopped as a whole the time to end by itself', async () => {
    const { pid, ended } = run('exits')
    await new Promise((resolve) => setTimeout(resolve, 400))
    process.kill(pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    process.kill(pid, 'SIGCONT')
    const { code, out } = await ended
    expect(out).to.contain('ended by itself')
    expect(code).to.equal(1)
  })

  it('gives no time to a process that goes on when others may lead', async () => {
    const { pid, ended } = run('exits', 'others')
    await new Promise((resolve) => setTimeout(resolve, 400))
    process.kill(pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    process.kill(pid, 'SIGCONT')
    const { signal, out } = await ended
    expect(signal).to.equal('SIGKILL')
    expect(out).to.contain('last words').and.not.contain('ended by itself')
  })

  it('does not keep a process alive', async () => {
    const { code } = await run('ends').ended
    expect(code).to.equal(0)
  })
})
