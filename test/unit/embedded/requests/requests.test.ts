import { expect } from 'chai'
import type { ServedRequest } from '../../../../lib/embedded/requests.ts'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const map = (name: string) => ({ metadata: { name } })

describe('requests to the embedded server', () => {
  let server: EmbeddedServer
  let api: Api
  beforeEach(async () => {
    server = await createServer()
    api = apiOf(server)
  })
  afterEach(() => server.close())

  it('are counted as kube-apiserver counts them', async () => {
    await api.post(MAPS, map('a'))
    await api.post(MAPS, map('a'))
    await api.post(`${MAPS}?dryRun=All`, map('b'))
    await api.get(MAPS)
    await api.get('/api/v1/configmaps')
    await api.get(`${MAPS}/a`)
    await api.apply(`${MAPS}/a?fieldManager=me&force=true`, { apiVersion: 'v1', kind: 'ConfigMap', ...map('a'), data: { a: '1' } })
    await api.merge(`/api/v1/namespaces/default/status`, { status: {} })
    await api.delete(MAPS)
    expect(counted(await metrics(api))).to.have.members([
      'code="201" dry_run="" group="" resource="configmaps" scope="resource" subresource="" verb="POST" 1',
      'code="409" dry_run="" group="" resource="configmaps" scope="resource" subresource="" verb="POST" 1',
      'code="201" dry_run="All" group="" resource="configmaps" scope="resource" subresource="" verb="POST" 1',
      'code="200" dry_run="" group="" resource="configmaps" scope="namespace" subresource="" verb="LIST" 1',
      'code="200" dry_run="" group="" resource="configmaps" scope="cluster" subresource="" verb="LIST" 1',
      'code="200" dry_run="" group="" resource="configmaps" scope="resource" subresource="" verb="GET" 1',
      'code="200" dry_run="" group="" resource="configmaps" scope="resource" subresource="" verb="APPLY" 1',
      'code="200" dry_run="" group="" resource="namespaces" scope="resource" subresource="status" verb="PATCH" 1',
      'code="200" dry_run="" group="" resource="configmaps" scope="namespace" subresource="" verb="DELETECOLLECTION" 1',
    ])
  })

  it('for what there is not are not counted: clients could name without end', async () => {
    await api.get('/apis/nope.example.com/v1/nopes')
    await api.get('/nope')
    expect(counted(await metrics(api))).to.deep.equal([])
  })

  it('are told to who listens, with who asked and what came of it, until they stop', async () => {
    const told: string[] = []
    const end = server.core.requests.listen((served) => told.push(textOf(served)))
    await api.post(MAPS, map('a'))
    await api.request('DELETE', `${MAPS}/b`, undefined, { 'impersonate-user': 'ada' })
    await api.get('/version')
    server.faults.fail(500, { verb: 'get', times: 1 })
    await api.get(`${MAPS}/a`)
    end()
    await api.get(MAPS)
    expect(told).to.deep.equal([
      'kubernetes-admin create configmaps /: 201',
      'ada delete configmaps /b: 404',
      'kubernetes-admin get  /: 200',
      'GET: 500',
    ])
  })
})

const textOf = ({ attributes, request, status }: ServedRequest) =>
  attributes === undefined
    ? `${request.method}: ${status}`
    : `${attributes.user.name} ${attributes.verb} ${attributes.resource} /${attributes.name}: ${status}`

async function metrics(api: Api): Promise<string> {
  return (await api.get('/metrics')).body
}

function counted(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{'))
    .map((line) => line.replace(/^apiserver_request_total\{|,?(component|version)="[^"]*"/g, '').replace(/[},]+ ?/g, ' '))
}
