import { expect } from 'chai'
import { createLogger, type LoggerSettings } from '../../../lib/observe/logger.ts'

const secret = { kind: 'Secret', metadata: { name: 'credentials', namespace: 'shop' }, data: { password: 'aHVudGVyMg==' } }

async function capture(settings: LoggerSettings = {}) {
  const lines: string[] = []
  const log = await createLogger({ ...settings, destination: { write: (line) => lines.push(line) } })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> }
}

describe('the log in JSON', () => {
  it('writes a line at once, with an ISO time and the level as a word', async () => {
    const { log, lines, last } = await capture()
    log.info({ ms: 3 }, 'reconciled')
    expect(lines).to.have.lengthOf(1)
    expect(lines[0]).to.match(/\n$/)
    expect(last()).to.include({ level: 'info', ms: 3, msg: 'reconciled' })
    expect(last()['time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(last()).to.not.have.any.keys('pid', 'hostname')
  })

  it('leaves out what is below its level', async () => {
    const { log, lines } = await capture({ level: 'warn' })
    log.info('hidden')
    log.warn('shown')
    expect(lines).to.have.lengthOf(1)
  })

  it('adds the fields of a child to every line', async () => {
    const { log, last } = await capture()
    log.child({ controller: 'Database' }).child({ name: 'orders' }).info('x')
    expect(last()).to.include({ controller: 'Database', name: 'orders' })
  })

  it('writes of an object only which one it is, wherever a handler puts it', async () => {
    const { log, lines, last } = await capture()
    log.info({ secret }, 'field')
    expect(last()['secret']).to.equal('Secret shop/credentials')
    log.info({ all: [secret, 1] }, 'list')
    expect(last()['all']).to.deep.equal(['Secret shop/credentials', 1])
    log.info(secret)
    expect(last()['object']).to.equal('Secret shop/credentials')
    log.child({ secret }).info('child')
    expect(last()['secret']).to.equal('Secret shop/credentials')
    log.child({ a: 1 }).child({ secret }).info('grandchild')
    expect(lines.join('')).to.not.contain('password')
  })

  it('does not change the fields it was given', async () => {
    const { log } = await capture()
    const fields = { secret }
    log.info(fields, 'x')
    expect(fields.secret).to.equal(secret)
  })

  it('writes of an error what names it, with its causes, and no body of an answer', async () => {
    const { log, lines, last } = await capture()
    const error = Object.assign(new Error('no', { cause: new Error('socket hang up') }), {
      name: 'StatusError',
      status: 403,
      reason: 'Forbidden',
      request: 'GET /api/v1/secrets',
      body: 'hunter2',
      details: { secret },
    })
    log.error({ err: error }, 'failed')
    expect(last()['err']).to.deep.equal({
      type: 'StatusError',
      message: 'no',
      status: 403,
      reason: 'Forbidden',
      request: 'GET /api/v1/secrets',
      cause: { type: 'Error', message: 'socket hang up' },
    })
    expect(lines.join('')).to.not.contain('hunter2')
  })

  it('writes stacks only when they are asked for', async () => {
    const quiet = await capture()
    quiet.log.error({ err: new Error('boom') }, 'failed')
    expect(quiet.last()['err']).to.not.have.property('stack')
    const loud = await capture({ stacks: true })
    loud.log.error({ err: new Error('boom') }, 'failed')
    expect(loud.last()['err']).to.have.property('stack').that.contains('logger.test.ts')
  })

  it('survives errors that cause each other', async () => {
    const { log, lines } = await capture()
    const a = new Error('a')
    a.cause = new Error('b', { cause: a })
    log.error({ err: a }, 'failed')
    expect(lines).to.have.lengthOf(1)
  })

  it('cuts a very long message', async () => {
    const { log, last } = await capture()
    log.error({ err: new Error('x'.repeat(100_000)) }, 'failed')
    expect(JSON.stringify(last()).length).to.be.lessThan(5000)
  })
})

describe('the log for people', () => {
  it('says on one line when, what about and what went wrong', async () => {
    const { log, lines } = await capture({ format: 'pretty' })
    log
      .child({ controller: 'Database', namespace: 'shop', name: 'orders', uid: 'u', reconcileID: 'r' })
      .warn({ err: new Error('refused', { cause: new Error('ECONNREFUSED') }), attempt: 2 }, 'run failed')
    expect(lines).to.have.lengthOf(1)
    expect(lines[0]).to.match(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: Database shop\/orders: run failed: refused: ECONNREFUSED \{"attempt":2\}\n$/,
    )
  })

  it('says the text of a bare error once', async () => {
    const { log, lines } = await capture({ format: 'pretty' })
    log.error(new Error('refused'))
    expect(lines[0]).to.match(/ERROR: refused\n$/)
  })

  it('says the text of an error once where the message quotes it', async () => {
    const { log, lines } = await capture({ format: 'pretty' })
    log.error({ err: new Error('refused') }, 'refused (not tried again until the object changes)')
    expect(lines[0]).to.match(/ERROR: refused \(not tried again until the object changes\)\n$/)
  })

  it('shows the stack with --debug', async () => {
    const { log, lines } = await capture({ format: 'pretty', stacks: true })
    log.error({ err: new Error('refused') }, 'run failed')
    expect(lines[0]).to.contain('run failed: refused\n').and.to.contain('logger.test.ts')
  })
})
