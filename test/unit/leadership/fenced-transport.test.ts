import { expect } from 'chai'
import { TimeoutError } from '../../../lib/api/status-error.ts'
import type { Transport, TransportRequest, TransportResponse } from '../../../lib/api/transport.ts'
import { fencedTransport } from '../../../lib/leadership/fenced-transport.ts'
import { LeaseLostError } from '../../../lib/leadership/lease-lost-error.ts'
import { settle } from '../manual-clock.ts'

const OK = { status: 200, headers: {}, body: Buffer.from('{}') }

function world() {
  const sent: TransportRequest[] = []
  const lead = {
    leads: true,
    remainingMs: 4_000.7,
    check() {
      if (!lead.leads) throw new LeaseLostError('no')
    },
  }
  let answer: () => Promise<TransportResponse> = async () => OK
  const inner: Transport = {
    request: (request) => {
      sent.push(request)
      return answer()
    },
    stream: () => Promise.reject(new Error('watched')),
    close: async () => {},
  }
  const transport = fencedTransport(inner, lead)
  const send = (method: TransportRequest['method'], more: Partial<TransportRequest> = {}) =>
    transport.request({ method, path: '/api/v1/namespaces/shop/configmaps/a', timeoutMs: 30_000, ...more })
  return { sent, lead, transport, send, answerWith: (f: typeof answer) => (answer = f) }
}

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: Error) => error,
  )

describe('the transport of an operator that stands for election', () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    it(`lets no ${method} out where it does not lead`, async () => {
      const { lead, send, sent } = world()
      lead.leads = false
      expect(await rejection(send(method))).to.be.instanceOf(LeaseLostError)
      expect(sent).to.deep.equal([])
    })

    it(`asks once more when a ${method} leaves`, async () => {
      const { lead, send, sent } = world()
      let own = 0
      await send(method, { beforeSend: () => void own++ })
      sent[0]?.beforeSend?.()
      expect(own).to.equal(1)
      lead.leads = false
      expect(() => sent[0]?.beforeSend?.()).to.throw(LeaseLostError)
    })

    it(`gives a ${method} no more time than the lease has, here and at the server`, async () => {
      const { send, sent } = world()
      await send(method)
      await send(method, { path: '/x?force=true', timeoutMs: 1_000 })
      expect(sent[0]).to.include({ timeoutMs: 4_000, path: '/api/v1/namespaces/shop/configmaps/a?timeout=4000ms' })
      expect(sent[1]).to.include({ timeoutMs: 1_000, path: '/x?force=true&timeout=4000ms' })
    })
  }

  it('reads and watches as ever', async () => {
    const { lead, send, sent, transport } = world()
    lead.leads = false
    await send('GET')
    expect(sent[0]).to.include({ timeoutMs: 30_000, path: '/api/v1/namespaces/shop/configmaps/a' })
    const watched = await rejection(transport.stream({ method: 'GET', path: '/', timeoutMs: 1 }))
    expect(watched).to.include({ message: 'watched' })
  })

  it('says of a write that ran out of the lease the same every time', async () => {
    const { send, answerWith } = world()
    answerWith(() => Promise.reject(new TimeoutError('no answer within 3.999 s')))
    const error = await rejection(send('PATCH', { path: '/x?force=true' }))
    expect(error).to.be.instanceOf(TimeoutError)
    expect(error?.message).to.equal('PATCH /x: no answer within the time that the lease leaves')
    expect((await rejection(send('PATCH', { timeoutMs: 10 })))?.message).to.equal('no answer within 3.999 s')
  })

  it('knows when the last write has ended, however it ended', async () => {
    const { send, transport, answerWith } = world()
    await transport.whenSettled()
    const ends: ((ok: boolean) => void)[] = []
    answerWith(() => new Promise((resolve, reject) => ends.push((ok) => (ok ? resolve(OK) : reject(new Error('broken'))))))
    const writes = [rejection(send('PUT')), rejection(send('DELETE')), rejection(send('GET'))]
    let settled = false
    const wait = transport.whenSettled().then(() => (settled = true))
    ends[0]?.(true)
    await settle()
    expect(settled).to.equal(false)
    ends[1]?.(false)
    await wait
    ends[2]?.(true)
    await Promise.all(writes)
  })
})
