import { expect } from 'chai'
import fc from 'fast-check'
import { statusError } from '../../../lib/api/status-error.ts'
import { messageOf } from '../../../lib/engine/errors.ts'
import { Event } from '../../../lib/observe/event-object.ts'
import { createLogger } from '../../../lib/observe/logger.ts'
import { REDACTED, redactText, redactValue } from '../../../lib/observe/redact.ts'
import { condition, Database, handler, stopAll, World } from '../engine/world.ts'

describe('a text without credentials', () => {
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl'
  const cases: [string, string][] = [
    ['Authorization: Bearer abc.def-123', `Authorization: ${REDACTED}`],
    ['sent bearer abc.def-123 to it', `sent bearer ${REDACTED} to it`],
    [`the token ${jwt} has expired`, `the token ${REDACTED} has expired`],
    ['with Basic YWRtaW46aHVudGVyMg== refused', `with Basic ${REDACTED} refused`],
    ['postgres://app:hunter2@db:5432/shop', `postgres://app:${REDACTED}@db:5432/shop`],
    ['https://db:5432/shop?password=hunter2&ssl=true', `https://db:5432/shop?password=${REDACTED}&ssl=true`],
    ['{"user":"app","password":"hun\\"ter2"}', `{"user":"app","password":"${REDACTED}"}`],
    ['{\\"clientSecret\\":\\"hunter2\\"}', `{\\"clientSecret\\":\\"${REDACTED}\\"}`],
    ['-----BEGIN EC PRIVATE KEY-----\nMIG\n-----END EC PRIVATE KEY-----\nend', `${REDACTED}\nend`],
    ['Cookie: a=hunter2; b=hunter3', `Cookie: ${REDACTED}`],
    ['Authorization: Digest username="me", response="hunter2"', `Authorization: Digest ${REDACTED}`],
    ['password: hunter2, user: me', `password: ${REDACTED}, user: me`],
    ['{"token":"hunter', `{"token":"${REDACTED}"`],
  ]
  for (const [text, safe] of cases) it(`is made of ${JSON.stringify(text)}`, () => expect(redactText(text)).to.equal(safe))

  const innocent = [
    'secrets "credentials" is forbidden: User "bob" cannot get resource "secrets" in API group "" in the namespace "shop"',
    'basic authentication is off',
    'bearer of the lease',
    'the cookie is stale; the authorization is missing',
    'connect ECONNREFUSED 127.0.0.1:6443',
    'GET https://127.0.0.1:6443/api/v1/secrets?limit=500: no answer within 30 s',
    'the token of the service account is missing',
    'Secret shop/credentials: waiting for the key "password"',
  ]
  for (const text of innocent) it(`is ${JSON.stringify(text)} itself`, () => expect(redactText(text)).to.equal(text))

  it('takes no time for what is made to take long', () => {
    const started = performance.now()
    for (const part of ['eyJ', 'password', '-----BEGIN ', 'a://', 'Basic ', 'token=', "secret:'"]) redactText(part.repeat(8000))
    expect(performance.now() - started).to.be.lessThan(2000)
  })
})

describe('fields without credentials', () => {
  it('keep what is harmless', () => {
    const fields = {
      ms: 3,
      ok: true,
      secretName: 'credentials',
      fencingToken: '7',
      reason: 'TokenExpired',
      nothing: null,
      missing: undefined,
    }
    expect(redactValue(fields)).to.deep.equal(fields)
  })

  it('name objects at any depth instead of showing them', () => {
    const secret = { kind: 'Secret', metadata: { name: 'credentials', namespace: 'shop' }, data: { a: 'aHVudGVyMg==' } }
    expect(redactValue({ a: [{ b: { secret } }], list: { items: [secret] }, owns: ['Secret', 'Service'] })).to.deep.equal({
      a: [{ b: { secret: 'Secret shop/credentials' } }],
      list: { items: ['Secret shop/credentials'] },
      owns: ['Secret', 'Service'],
    })
  })

  it('leave out the data of a Secret that is taken out of it, and keep its keys', () => {
    expect(redactValue({ data: { user: 'YQ==' }, stringData: { user: 'a' } })).to.deep.equal({
      data: { user: REDACTED },
      stringData: { user: REDACTED },
    })
  })

  it('leave out environment variables and raw headers by their names', () => {
    expect(
      redactValue({ env: [{ name: 'DB_PASSWORD', value: 'hunter2' }], rawHeaders: ['Cookie', 'hunter2', 'Accept', '*/*'] }),
    ).to.deep.equal({
      env: [{ name: 'DB_PASSWORD', value: REDACTED }],
      rawHeaders: ['Cookie', REDACTED, 'Accept', '*/*'],
    })
  })

  it('show no bytes, and end in circles and depths', () => {
    const circle: { self?: unknown; bytes: Buffer } = { bytes: Buffer.from('hunter2') }
    circle.self = circle
    expect(redactValue(circle)).to.deep.equal({ bytes: '[7 bytes]', self: '[circular]' })
    let deep: unknown = 'bottom'
    for (let i = 0; i < 50; i++) deep = { deep }
    expect(JSON.stringify(redactValue(deep))).to.contain('[too much]')
  })

  it('survive what throws when it is looked at', () => {
    const nasty = {
      get boom(): never {
        throw new Error('no')
      },
    }
    expect(redactValue({ nasty })).to.deep.equal({ nasty: '[unreadable]' })
  })
})

describe('an error about a Secret', () => {
  it('quotes none of its values', () => {
    const message =
      'Secret "a" is invalid: [data[x]: Invalid value: "hunter2": bad, type: Unsupported value: "hunter2"], error found in #10 byte of ...|"data":"hunter2"|..., bigger context ...|{"data":"hunter2"}|...'
    const body = JSON.stringify({
      kind: 'Status',
      code: 422,
      reason: 'Invalid',
      message,
      details: { causes: [{ field: 'data[x]', message: 'Invalid value: "hunter2"' }] },
    })
    const error = statusError('PATCH', '/api/v1/namespaces/shop/secrets/a?x=1', 422, {}, body)
    expect(JSON.stringify([error.message, error.details])).to.not.contain('hunter2')
    expect(error.message).to.contain('Secret "a" is invalid: [data[x]: Invalid value: (withheld): bad')
    expect(error.details?.causes?.[0]?.field).to.equal('data[x]')
  })

  it('is left as it is for other kinds', () => {
    const body = JSON.stringify({ kind: 'Status', code: 422, message: 'spec.size: Invalid value: 9' })
    expect(statusError('PATCH', '/api/v1/namespaces/shop/pods/secrets-viewer', 422, {}, body).message).to.contain('Invalid value: 9')
  })
})

describe('a handler that throws a credential', () => {
  afterEach(stopAll)

  it('does not get it into a condition, an Event or a probe', async () => {
    const world = new World()
    world.api.create(Database, 'a')
    const cause = new Error('GET https://shop:hunter2@backup.test: 401')
    const manager = await world.start(
      handler({ reconcile: () => Promise.reject(new Error('sent Authorization: Bearer hunter2.x', { cause })) }),
    )
    await world.ms(1000)
    const seen = JSON.stringify([world.api.all(Database), world.api.all(Event), manager.controllers, await manager.whenIdle()])
    expect(condition(world.api.get(Database, 'a'), 'Ready').message).to.equal(
      `sent Authorization: ${REDACTED}: GET https://shop:${REDACTED}@backup.test: 401`,
    )
    expect(world.api.all(Event)).to.have.lengthOf(1)
    expect(seen).to.not.contain('hunter2')
  })
})

describe('what is logged, however it is logged', () => {
  /** Not to be confused with anything that is there anyway. */
  const secret = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/).map((text) => `S3cr${text}`)
  const name = fc.constantFrom(
    'password',
    'dbPassword',
    'token',
    'accessToken',
    'client_secret',
    'Authorization',
    'api-key',
    'cookie',
    'credentials',
  )
  const plain = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))

  /** A value that carries the secret in a way that is promised to be found. */
  const carrier = secret.chain((text) =>
    fc.tuple(
      fc.constant(text),
      fc.oneof(
        name.map((key) => ({ [key]: text })),
        name.map((key) => ({ [key]: [text, { deeper: text }] })),
        fc.constant({
          kind: 'Secret',
          metadata: { name: 'a', namespace: 'b' },
          data: { x: Buffer.from(text).toString('base64') },
          stringData: { x: text },
        }),
        fc.constant({ kind: 'Secret', data: { x: text } }),
        fc.constant({ data: { x: text } }),
        fc.constant({ headers: { authorization: `Bearer ${text}` } }),
        fc.constant({ rawHeaders: ['Authorization', `Basic ${Buffer.from(`me:${text}`).toString('base64')}`] }),
        fc.constant(`Authorization: Bearer ${text}`),
        fc.constant(`https://me:${text}@host/path`),
        fc.constant(`{"spec":{"password":"${text}"}}`),
        fc.constant(`password=${text};user=me`),
        fc.constant({ env: [{ name: 'API_TOKEN', value: text }] }),
        fc.constant(Buffer.from(text)),
        fc.constant(
          Object.assign(new Error(`no entry with token="${text}"`), {
            config: { headers: { authorization: `Bearer ${text}` } },
            body: text,
          }),
        ),
        fc.constant(Object.assign(new Error('refused'), { response: text, details: { note: text } })),
        fc.constant(new Error('outer', { cause: new Error(`Bearer ${text}`, { cause: Object.assign(new Error('x'), { secret: text }) }) })),
        fc.constant(new AggregateError([new Error(text)], 'all failed')),
        fc.constant(
          statusError(
            'POST',
            '/api/v1/namespaces/a/secrets',
            422,
            {},
            JSON.stringify({ kind: 'Status', message: `data: Invalid value: "${text}": no` }),
          ),
        ),
      ),
    ),
  )
  const wrap = (value: unknown): fc.Arbitrary<unknown> =>
    fc.oneof(
      fc.constant(value),
      plain.map((other) => ({ other, inner: value })),
      plain.map((other) => [other, value]),
      plain.map((other) => ({ a: { b: [{ c: value }, other] } })),
    )
  const line = carrier.chain(([text, value]) =>
    fc.tuple(fc.constant(text), wrap(value), fc.constantFrom('fields', 'err', 'child', 'bare', 'message', 'interpolated')),
  )

  it('has no secret in it: fields, errors and their causes, child loggers, messages', async () => {
    for (const format of ['json', 'pretty'] as const) {
      for (const stacks of [false, true]) {
        const lines: string[] = []
        const log = await createLogger({ level: 'trace', format, stacks, destination: { write: (line) => lines.push(line) } })
        fc.assert(
          fc.property(line, ([text, value, how]) => {
            lines.length = 0
            switch (how) {
              case 'fields':
                log.info({ value }, 'seen')
                break
              case 'err':
                log.error({ err: value, error: value, failure: value }, 'failed')
                break
              case 'child':
                log.child({ value }).child({ more: value }).warn('seen')
                break
              case 'bare':
                if (typeof value === 'object' && value !== null) log.info(value)
                else log.info(String(value))
                break
              case 'message':
                log.info(typeof value === 'string' ? value : messageOf(value instanceof Error ? value : new Error('x', { cause: value })))
                break
              case 'interpolated':
                ;(log as unknown as { info(...args: unknown[]): void }).info('seen %j %s %o', value, value, value)
            }
            const said = lines.join('')
            expect(said).to.not.equal('')
            expect(said).to.not.contain(text)
            expect(said).to.not.contain(Buffer.from(text).toString('base64').replace(/=*$/, '').slice(0, -2))
          }),
          { numRuns: 300 },
        )
      }
    }
  })
})
