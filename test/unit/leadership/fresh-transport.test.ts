import { expect } from 'chai'
import { ConnectionError, TimeoutError } from '../../../lib/api/status-error.ts'
import type { Transport, TransportRequest, TransportResponse } from '../../../lib/api/transport.ts'
import { freshTransport } from '../../../lib/leadership/fresh-transport.ts'

const OK = { status: 200, headers: {}, body: Buffer.from('{}') }
const REQUEST: TransportRequest = { method: 'PUT', path: '/lease', timeoutMs: 5_000 }

describe('the transport of an election', () => {
  /** Each connection with the requests that wait on it. */
  function world() {
    const connections: { waiting: PromiseWithResolvers<TransportResponse>[]; closed: boolean }[] = []
    const transport = freshTransport((): Transport => {
      const connection = { waiting: [] as PromiseWithResolvers<TransportResponse>[], closed: false }
      connections.push(connection)
      return {
        request() {
          const answer = Promise.withResolvers<TransportResponse>()
          connection.waiting.push(answer)
          return answer.promise
        },
        stream: () => Promise.reject(new Error('nothing is watched')),
        close: async () => {
          connection.closed = true
        },
      }
    })
    const send = () => {
      const answer = transport.request(REQUEST)
      answer.catch(() => {})
      return answer
    }
    return { transport, connections, send }
  }
  const ended = (answer: Promise<unknown>) =>
    answer.then(
      () => 'answered',
      (error: Error) => error.constructor.name,
    )

  it('stays with a connection that answers, or fails', async () => {
    const { connections, send } = world()
    const [one, two] = [send(), send()]
    connections[0]?.waiting[0]?.resolve(OK)
    connections[0]?.waiting[1]?.reject(new ConnectionError('broken'))
    expect(await Promise.all([ended(one), ended(two)])).to.deep.equal(['answered', 'ConnectionError'])
    void send()
    expect(connections.map(({ waiting }) => waiting.length)).to.deep.equal([3])
  })

  it('takes another connection after one that was silent, which is closed', async () => {
    const { connections, send } = world()
    const silent = send()
    connections[0]?.waiting[0]?.reject(new TimeoutError('no answer'))
    expect(await ended(silent)).to.equal('TimeoutError')
    expect(connections[0]?.closed).to.equal(true)
    void send()
    expect(connections.map(({ waiting }) => waiting.length)).to.deep.equal([1, 1])
  })

  it('lets what else is under way there have its answer, and opens one other for all', async () => {
    const { connections, send } = world()
    const [one, two, three] = [send(), send(), send()]
    connections[0]?.waiting[0]?.reject(new TimeoutError('no answer'))
    connections[0]?.waiting[1]?.reject(new TimeoutError('no answer'))
    await Promise.all([ended(one), ended(two)])
    expect(connections.map(({ closed }) => closed)).to.deep.equal([false, false])
    connections[0]?.waiting[2]?.resolve(OK)
    expect(await ended(three)).to.equal('answered')
    expect(connections.map(({ closed }) => closed)).to.deep.equal([true, false])
  })

  it('closes all of them with itself', async () => {
    const { transport, connections, send } = world()
    const [one, two] = [send(), send()]
    connections[0]?.waiting[0]?.reject(new TimeoutError('no answer'))
    await ended(one)
    await transport.close()
    expect(connections.map(({ closed }) => closed)).to.deep.equal([true, true])
    connections[0]?.waiting[1]?.resolve(OK)
    await ended(two)
  })
})
