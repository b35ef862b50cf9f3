import { expect } from 'chai'
import fc from 'fast-check'
import { Client } from '../../../lib/api/client.ts'
import { systemClock } from '../../../lib/api/clock.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { createServer, type EmbeddedServer } from '../../../lib/embedded/server.ts'
import { kind } from '../../../lib/resource/kind.ts'
import { compare, kindOf } from './agreement.ts'
import { anyType, TYPES, type TypeWithValues } from './zod-types.ts'

const Definition = kind<never>('apiextensions.k8s.io/v1', 'CustomResourceDefinition')

describe('zod and the API server', function () {
  this.timeout(120_000)
  let server: EmbeddedServer
  let client: Client
  before(async () => {
    server = await createServer()
    client = new Client({ transport: inProcess((request) => server.handle(request), { clock: server.core.clock }), clock: systemClock })
  })
  after(() => server.close())

  let groups = 0
  async function installed(types: readonly TypeWithValues[]) {
    const made = kindOf(
      `g${groups++}.example.com`,
      types.map(({ type }) => type),
    )
    await client.create(Definition, made.crd as never)
    await server.settled()
    return made
  }

  it('say the same of each type that resource() takes', async () => {
    const made = await installed(TYPES)
    const types = TYPES.map(({ type }) => type)
    const counts = { taken: 0, refused: 0 }
    const asked = fc.nat(TYPES.length - 1).chain((i) => (TYPES[i] as TypeWithValues).values.map((value) => ({ field: `f${i}`, value })))
    await fc.assert(
      fc.asyncProperty(asked, async (one) => void counts[await compare(client, made, types, one, 'default')]++),
      { numRuns: 1000 },
    )
    expect(counts.taken).to.be.greaterThan(300)
    expect(counts.refused).to.be.greaterThan(300)
  })

  it('say the same of types made of these', async () => {
    const sample = anyType(2).chain(({ type, values }) => fc.array(values, { minLength: 5, maxLength: 5 }).map((list) => ({ type, list })))
    await fc.assert(
      fc.asyncProperty(sample, async ({ type, list }) => {
        const made = await installed([{ type, values: fc.constant(undefined) }])
        for (const value of list) await compare(client, made, [type], { field: 'f0', value }, 'default')
      }),
      { numRuns: 100 },
    )
  })
})
