import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { createServer } from '../../../../lib/embedded/server.ts'
import { apiOf } from '../api.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const map = (name: string, data: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } } } },
      },
    ],
  },
}

describe('the file of an embedded API server', () => {
  let folder: string
  let file: string
  const start = () => createServer({ persist: file })
  const failure = async () => {
    try {
      await (await start()).close()
      return 'none'
    } catch (error) {
      return (error as Error).message
    }
  }

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tsop-journal-'))
    file = path.join(folder, 'state', 'cluster')
  })
  afterEach(() => fs.rmSync(folder, { recursive: true }))

  it('brings back objects as they were, kinds that were defined, and goes on counting revisions', async () => {
    const first = await start()
    const api = apiOf(first)
    await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGETS)
    await first.settled()
    const widget = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { n: 1 } }
    const made = (await api.post('/apis/ex.io/v1/namespaces/default/widgets', widget)).body
    await api.post(maps, map('kept', { a: '1' }))
    await api.merge(`${maps}/kept`, { data: { a: '2' } })
    await api.post(maps, map('deleted'))
    await api.delete(`${maps}/deleted`)
    const { revision } = first.core.store
    await first.close()

    const second = await start()
    const again = apiOf(second)
    expect((await again.get('/apis/ex.io/v1/namespaces/default/widgets/w')).body).to.deep.equal(made)
    expect((await again.get(`${maps}/kept`)).body.data).to.deep.equal({ a: '2' })
    expect((await again.get(`${maps}/deleted`)).status).to.equal(404)
    expect(Number((await again.post(maps, map('new'))).body.metadata.resourceVersion)).to.be.greaterThan(revision)
    await second.close()
  })

  it('loses only the line that a killed process was writing', async () => {
    const first = await start()
    await apiOf(first).post(maps, map('kept'))
    await first.close()
    fs.appendFileSync(file, '{"revision":9999,"bucket":"/configmaps","namespace":"def')
    const second = await start()
    expect((await apiOf(second).get(`${maps}/kept`)).status).to.equal(200)
    await second.close()
  })

  it('writes a change at the end of the turn, without waiting for the server to be closed', async () => {
    const first = await start()
    await apiOf(first).post(maps, map('written'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(fs.readFileSync(file, 'utf8')).to.include('"name":"written"')
    await first.close()
  })

  it('does not grow from start to start', async () => {
    const first = await start()
    for (let i = 0; i < 50; i++) await apiOf(first).merge('/api/v1/namespaces/default', { metadata: { labels: { i: String(i) } } })
    await first.close()
    await (await start()).close()
    const { size } = fs.statSync(file)
    await (await start()).close()
    expect(fs.statSync(file).size).to.be.within(size - 2000, size + 2000)
  })

  it('refuses a file in use, one that is something else, and one that is damaged, and says what to do', async () => {
    const first = await start()
    expect(await failure()).to.equal(`${file}: process ${process.pid} uses it; stop that one, or name another file`)
    await first.close()
    fs.writeFileSync(file, '{"a":1}\n')
    expect(await failure()).to.match(/is no file of an embedded API server; name another one$/)
    fs.writeFileSync(file, '{"format":"tsop-apiserver","version":7,"revision":1}\n')
    expect(await failure()).to.match(/has format version 7, and this tsop knows 1/)
    fs.writeFileSync(file, '{"format":"tsop-apiserver","version":1,"revision":1}\nnonsense\n')
    expect(await failure()).to.match(/line 2 is damaged; delete the file/)
  })

  it('takes over the lock of a process that is gone', async () => {
    fs.mkdirSync(path.dirname(file))
    // No process has this number: the largest that Linux gives is 4,194,304.
    fs.writeFileSync(`${file}.lock`, '99999999')
    expect(await failure()).to.equal('none')
    expect(fs.existsSync(`${file}.lock`)).to.equal(false)
  })
})
