import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'

describe('a get', () => {
  let server: EmbeddedServer
  before(async () => {
    server = await createServer()
  })
  after(() => server.close())

  const get = async (query: string) => {
    const url = `/api/v1/namespaces/default?${query}`
    const { status, body } = await server.handle({ method: 'GET', url, headers: {}, body: undefined, signal: new AbortController().signal })
    expect(status).to.be.greaterThan(0)
    return JSON.parse(String(body))
  }

  it('by resourceVersion gives the newest state that is not older, and refuses one still to come', async () => {
    for (const version of ['', '0', '1']) expect(await get(`resourceVersion=${version}`)).to.include({ kind: 'Namespace' })
    expect(await get('resourceVersion=99999999')).to.include({ reason: 'Timeout', code: 504 })
    expect(await get('resourceVersion=abc')).to.include({
      code: 500,
      message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    })
  })

  it('is no watch, whatever it asks', async () => {
    expect(await get('watch=1')).to.include({ kind: 'Namespace' })
  })
})
