import { expect } from 'chai'
import { LeaseLostError } from '../../../lib/leadership/lease-lost-error.ts'
import { LeaseServer, Process, SHORT } from './lease-server.ts'

const { leaseMs, renewMs, retryMs } = SHORT
const SETTLE = 1_000

/** A server with a lease that its last holder has given up. */
function free(): LeaseServer {
  const server = new LeaseServer()
  server.put({ holderIdentity: '', leaseDurationSeconds: 1 })
  return server
}

async function leader(server = free(), name = 'a'): Promise<[LeaseServer, Process]> {
  const process = new Process(server, name).start()
  await server.clock.advance(SETTLE + 10)
  expect(process.elector.state).to.equal('leading')
  return [server, process]
}

async function released(server: LeaseServer, { elector }: Process): Promise<void> {
  const end = elector.release()
  await server.clock.advance(10)
  await end
}

const writes = (server: LeaseServer, who: string) => server.log.filter((line) => !line.startsWith('GET') && line.includes(`by ${who}`))

describe('an election', () => {
  describe('standing by', () => {
    it('takes a lease that was given up at once, and acts a second later', async () => {
      const server = free()
      const a = new Process(server, 'a').start()
      await server.clock.advance(SETTLE - 1)
      expect(server.holder).to.equal('a')
      expect(a.elector.state).to.equal('settling')
      expect(() => a.elector.check()).to.throw(LeaseLostError, /just taken/)
      await server.clock.advance(1)
      expect(a.ledAt).to.equal(SETTLE)
      a.elector.check()
      expect(server.lease?.spec).to.include({ leaseDurationSeconds: 3, leaseTransitions: 1 })
      expect(server.lease?.spec?.renewTime).to.match(/\.\d{6}Z$/)
    })

    it('waits until the lease has not changed for its duration', async () => {
      const server = new LeaseServer()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 })
      const a = new Process(server, 'a').start()
      await server.clock.advance(2_000)
      server.edit((lease) => (lease.spec!.renewTime = 'later'))
      // It looks every 550 ms.
      await server.clock.advance(3_200)
      expect(server.holder, 'before').to.equal('b')
      await server.clock.advance(400)
      expect(server.holder, 'after').to.equal('a')
      expect(server.lease?.spec?.leaseTransitions).to.equal(1)
      expect(a.infos).to.include('standing by: b leads').and.include('took the lease of b; leading in 1 s')
    })

    it('takes the duration from the lease, not from its own settings', async () => {
      const server = new LeaseServer()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 10 })
      new Process(server, 'a').start()
      await server.clock.advance(9_900)
      expect(server.holder).to.equal('b')
      await server.clock.advance(200)
      expect(server.holder).to.equal('a')
    })

    for (const [what, renewTime] of [
      ['long ago', '2001-01-01T00:00:00.000000Z'],
      ['in the future', '2099-01-01T00:00:00.000000Z'],
      ['nonsense', 'yesterday'],
    ]) {
      it(`does not care about the clock of the holder: ${what}`, async () => {
        const server = new LeaseServer()
        server.put({ holderIdentity: 'b', leaseDurationSeconds: 3, renewTime: renewTime as string })
        new Process(server, 'a').start()
        await server.clock.advance(leaseMs - 10)
        expect(server.holder).to.equal('b')
        await server.clock.advance(100)
        expect(server.holder).to.equal('a')
      })
    }

    it('makes a lease that is missing, and acts once a holder of a deleted one must be silent', async () => {
      const server = new LeaseServer()
      const a = new Process(server, 'a').start()
      await server.clock.advance(10)
      expect(server.holder).to.equal('a')
      expect(a.infos.join()).to.contain('made the lease; leading in 3 s, because the holder of one that was deleted may still be at work')
      await server.clock.advance(leaseMs - 20)
      expect(() => a.elector.check()).to.throw(LeaseLostError)
      await server.clock.advance(20)
      a.elector.check()
    })

    it('does not forget that it made the lease where the answer was lost', async () => {
      const server = new LeaseServer()
      const a = new Process(server, 'a')
      a.way = ({ method }) => (method === 'POST' ? { lost: 'answer' } : {})
      a.start()
      await server.clock.advance(leaseMs + 500)
      expect(server.holder).to.equal('a')
      expect(a.elector.state).to.equal('settling')
      await server.clock.advance(2_000)
      a.elector.check()
    })

    it('leaves it to the holder of a lease that was deleted to make it anew', async () => {
      const server = new LeaseServer()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 })
      const a = new Process(server, 'a').start()
      await server.clock.advance(100)
      server.delete()
      await server.clock.advance(2 * retryMs)
      expect(writes(server, 'a')).to.deep.equal([])
      await server.clock.advance(2 * retryMs)
      expect(server.holder).to.equal('a')
      await server.clock.advance(leaseMs - 600)
      expect(a.ledAt).to.equal(undefined)
    })

    it('acts late with a lease that was made anew in place of one that was held', async () => {
      const server = new LeaseServer()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 })
      const a = new Process(server, 'a').start()
      await server.clock.advance(600)
      server.delete()
      server.put({})
      await server.clock.advance(leaseMs)
      expect(server.holder).to.equal('a')
      expect(a.ledAt).to.equal(undefined)
      await server.clock.advance(1_000)
      a.elector.check()
    })

    it('does not take a lease at once that somebody has emptied by hand', async () => {
      const server = new LeaseServer()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 }, 'b-1')
      new Process(server, 'a').start()
      await server.clock.advance(600)
      server.put({ holderIdentity: '', leaseDurationSeconds: 3 }, 'b-1')
      await server.clock.advance(leaseMs)
      expect(server.holder).to.equal('')
      await server.clock.advance(1_000)
      expect(server.holder).to.equal('a')
    })

    it('takes another process of its own name for a stranger', async () => {
      const server = new LeaseServer()
      server.put({ holderIdentity: 'a', leaseDurationSeconds: 3 }, 'a-0')
      const a = new Process(server, 'a').start()
      await server.clock.advance(leaseMs - 10)
      expect(writes(server, 'a')).to.deep.equal([])
      expect(a.infos.join()).to.contain('another process of the same name (a) leads')
      await server.clock.advance(100)
      expect(writes(server, 'a')).to.deep.equal(['PUT by a: 200'])
    })

    it('is the only one of six to take the lease', async () => {
      const server = free()
      const all = Array.from({ length: 6 }, (_, i) => new Process(server, `p${i}`).start())
      await server.clock.advance(SETTLE + 10)
      expect(all.filter(({ elector }) => elector.state === 'leading')).to.have.length(1)
      expect(all.filter(({ elector }) => elector.state === 'standby')).to.have.length(5)
    })

    it('leads where the answer to its own take-over was lost, counting from the renewal that was answered', async () => {
      const server = free()
      const a = new Process(server, 'a')
      let puts = 0
      a.way = ({ method }) => (method === 'PUT' && ++puts === 1 ? { lost: 'answer' } : {})
      a.start()
      await server.clock.advance(100)
      expect(server.holder).to.equal('a')
      expect(a.elector.state).to.equal('standby')
      await server.clock.advance(1_500)
      expect(puts).to.be.at.least(2)
      expect(a.elector.state).to.equal('settling')
      expect(server.lease?.spec?.leaseTransitions).to.equal(1)
    })

    it('does not lead by an answer that comes after what it allows', async () => {
      const server = free()
      const a = new Process(server, 'a')
      let puts = 0
      a.way = ({ method }) => (method === 'PUT' && ++puts === 1 ? { backMs: 100, patient: true } : {})
      a.start()
      await server.clock.advance(10)
      a.clock.pause()
      await server.clock.advance(renewMs)
      await a.clock.resume()
      expect(puts).to.equal(1)
      expect(a.elector.state).to.equal('standby')
      expect(a.lost).to.deep.equal([])
      // The next look finds that the lease is its own.
      await server.clock.advance(1_000)
      expect(a.elector.state).to.equal('settling')
    })

    it('acts late with a lease that somebody else made where there was none', async () => {
      const server = new LeaseServer()
      const a = new Process(server, 'a')
      a.way = ({ method }) => (method === 'POST' ? { lost: 'request' } : {})
      a.start()
      await server.clock.advance(100)
      server.put({})
      await server.clock.advance(leaseMs)
      expect(server.holder).to.equal('a')
      expect(a.ledAt).to.equal(undefined)
      await server.clock.advance(leaseMs)
      a.elector.check()
    })
  })

  describe('leading', () => {
    it('renews in time, and hands out the version that made it the leader', async () => {
      const [server, a] = await leader()
      const token = a.elector.fencingToken
      await server.clock.advance(60_000)
      expect(a.elector.leads).to.equal(true)
      expect(a.elector.fencingToken).to.equal(token)
      expect(server.lease?.spec?.leaseTransitions).to.equal(1)
      const perMinute = writes(server, 'a').length
      expect(perMinute).to.be.within(115, 125)
    })

    it('may act until the renew deadline after the last good renewal was sent, not a millisecond longer', async () => {
      const [server, a] = await leader()
      await server.clock.advance(500)
      const sent = server.clock.monotonic() - (server.clock.monotonic() % 500)
      a.way = () => ({ lost: 'request' })
      await server.clock.advance(sent + renewMs - server.clock.monotonic() - 1)
      a.elector.check()
      expect(a.lost).to.deep.equal([])
      await server.clock.advance(1)
      expect(a.lost).to.have.length(1)
      expect(a.lost[0]).to.contain('sent 2000 ms ago')
      expect(() => a.elector.check()).to.throw(LeaseLostError)
    })

    it('gains nothing from a renewal that is answered late beyond the time it was sent', async () => {
      const [server, a] = await leader()
      const late = 900
      a.way = ({ method }) => (method === 'PUT' ? { backMs: late } : {})
      await server.clock.advance(2_000)
      const left = a.elector.deadline! - server.clock.monotonic()
      expect(left).to.be.at.most(renewMs - late + 1)
      expect(left).to.be.greaterThan(0)
      expect(a.elector.leads).to.equal(true)
    })

    it('steps down as soon as a renewal shows another holder, long before its deadline', async () => {
      const [server, a] = await leader()
      server.edit((lease) => {
        lease.spec!.holderIdentity = 'b'
        lease.metadata.annotations = {}
      })
      await server.clock.advance(retryMs)
      expect(a.lost).to.have.length(1)
      expect(a.lost[0]).to.contain('b holds it now')
    })

    it('steps down where somebody takes the lease away from it', async () => {
      const [server, a] = await leader()
      server.edit((lease) => (lease.spec!.holderIdentity = ''))
      await server.clock.advance(retryMs)
      expect(a.lost.join()).to.contain('took it away')
    })

    it('steps down for another process of its own name', async () => {
      const [server, a] = await leader()
      server.put({ holderIdentity: 'a', leaseDurationSeconds: 3 }, 'a-2')
      await server.clock.advance(retryMs)
      expect(a.lost.join()).to.contain('another process of the same name (a) holds it now')
    })

    it('goes on where somebody else changed only labels', async () => {
      const [server, a] = await leader()
      server.edit((lease) => (lease.metadata.labels = { team: 'x' }))
      await server.clock.advance(10_000)
      expect(a.elector.leads).to.equal(true)
      expect(server.lease?.metadata.labels).to.deep.equal({ team: 'x' })
      expect(a.warnings).to.deep.equal([])
    })

    it('goes on where the answer to a renewal was lost', async () => {
      const [server, a] = await leader()
      let puts = 0
      a.way = ({ method }) => (method === 'PUT' && ++puts === 1 ? { lost: 'answer' } : {})
      await server.clock.advance(10_000)
      expect(a.elector.leads).to.equal(true)
    })

    it('tries again after a refusal, no more often than the retry period', async () => {
      const [server, a] = await leader()
      let refused = 0
      a.way = () => ({ status: 500 + (refused++ % 2) })
      await server.clock.advance(renewMs)
      expect(refused).to.be.within(3, 4)
      expect(a.lost).to.have.length(1)
      expect(a.warnings).to.include('could not renew the lease')
    })

    it('makes a lease anew that was deleted, and goes on, while a standby waits', async () => {
      const [server, a] = await leader()
      const b = new Process(server, 'b').start()
      await server.clock.advance(100)
      server.delete()
      await server.clock.advance(10_000)
      expect(server.holder).to.equal('a')
      expect(a.elector.leads).to.equal(true)
      expect(writes(server, 'b')).to.deep.equal([])
      expect(b.elector.state).to.equal('standby')
    })

    it('steps down where a lease that was deleted belongs to another by now', async () => {
      const [server, a] = await leader()
      server.delete()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 })
      await server.clock.advance(retryMs)
      expect(a.lost.join()).to.contain('b holds it now')
      expect(server.holder).to.equal('b')
    })

    it('does not care about steps of the wall clock', async () => {
      let wall = Date.UTC(2026, 0, 1)
      const server = free()
      const a = new Process(server, 'a', { wall: () => wall }).start()
      await server.clock.advance(SETTLE + 10)
      for (const step of [3_600_000, -7_200_000, 86_400_000]) {
        wall += step
        await server.clock.advance(5_000)
        expect(a.elector.leads).to.equal(true)
      }
    })

    it('knows after a pause, before anything else is done, that it does not lead any more', async () => {
      const [server, a] = await leader()
      a.clock.pause()
      await server.clock.advance(renewMs)
      // The process goes on: no timer and no answer had its turn yet.
      expect(() => a.elector.check()).to.throw(LeaseLostError, /is lost/)
      expect(a.lost).to.have.length(1)
      const before = writes(server, 'a').length
      await a.clock.resume()
      await server.clock.advance(10_000)
      expect(a.lost, 'once').to.have.length(1)
      expect(writes(server, 'a')).to.have.length(before)
    })

    it('sends no renewal after its deadline, though that is the first that has its turn', async () => {
      const [server, a] = await leader()
      a.clock.pause()
      await server.clock.advance(renewMs)
      const before = server.log.length
      await a.clock.resume()
      expect(server.log.slice(before)).to.deep.equal([])
      expect(a.lost).to.have.length(1)
    })

    it('does not touch the lease of the one who took over', async () => {
      const [server, a] = await leader()
      const b = new Process(server, 'b').start()
      await server.clock.advance(100)
      a.clock.pause()
      await server.clock.advance(6_000)
      expect(b.elector.leads).to.equal(true)
      const before = writes(server, 'a').length
      await a.clock.resume()
      await server.clock.advance(10_000)
      await released(server, a)
      expect(writes(server, 'a')).to.have.length(before)
      expect(server.holder).to.equal('b')
      expect(b.elector.leads).to.equal(true)
    })

    it('says how long what is sent may take: until others may lead, less a margin', async () => {
      const [server, a] = await leader()
      expect(a.elector.remainingMs).to.be.within(leaseMs - 500 - retryMs - 10, leaseMs - 500)
      a.way = () => ({ lost: 'request' })
      await server.clock.advance(a.elector.deadline! - server.clock.monotonic() - 1)
      expect(a.elector.remainingMs).to.equal(leaseMs - renewMs - 500 + 1)
    })

    it('tells a watchdog each deadline, and that it must end now when the lease is lost', async () => {
      const server = free()
      const deadlines: (number | undefined)[] = []
      new Process(server, 'a', { onDeadline: (deadline) => void deadlines.push(deadline) }).start()
      await server.clock.advance(1_600)
      expect(deadlines).to.deep.equal([2_000, 2_500, 3_000, 3_500])
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 })
      await server.clock.advance(500)
      expect(deadlines.at(-1)).to.equal(2_000)
    })
  })

  describe('giving up', () => {
    it('releases the lease, and leaves no timer behind', async () => {
      const [server, a] = await leader()
      await released(server, a)
      expect(server.lease?.spec).to.include({ holderIdentity: '', leaseDurationSeconds: 1 })
      expect(server.lease?.metadata.annotations).to.deep.equal({})
      expect(() => a.elector.check()).to.throw(LeaseLostError)
      expect(server.clock.pending).to.equal(0)
    })

    it('lets the next one lead at once', async () => {
      const [server, a] = await leader()
      const b = new Process(server, 'b').start()
      await server.clock.advance(100)
      const at = server.clock.monotonic()
      await released(server, a)
      await server.clock.advance(2_000)
      expect(b.ledAt! - at).to.be.at.most(retryMs * 1.2 + SETTLE)
    })

    it('leaves a lease alone that is not its own any more', async () => {
      const [server, a] = await leader()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 }, 'b-1')
      await released(server, a)
      expect(server.holder).to.equal('b')
    })

    it('does nothing where it never held it', async () => {
      const server = new LeaseServer()
      server.put({ holderIdentity: 'b', leaseDurationSeconds: 3 })
      const a = new Process(server, 'a').start()
      await server.clock.advance(100)
      await released(server, a)
      expect(writes(server, 'a')).to.deep.equal([])
      expect(server.clock.pending).to.equal(0)
    })

    it('gives up as well where a renewal is under way that comes after its look', async () => {
      const [server, a] = await leader()
      a.way = ({ method }) => (method === 'PUT' ? { thereMs: 50 } : { backMs: 100 })
      await server.clock.advance(retryMs - 5)
      const released = a.elector.release()
      await server.clock.advance(1_000)
      await released
      expect(server.holder).to.equal('')
    })

    it('ends also where the server cannot be reached', async () => {
      const [server, a] = await leader()
      a.way = () => ({ lost: 'request' })
      const released = a.elector.release()
      await server.clock.advance(5_000)
      await released
      expect(a.warnings.join()).to.contain('could not release the lease')
    })
  })
})
