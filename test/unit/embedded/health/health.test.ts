import { expect } from 'chai'
import type { Core } from '../../../../lib/embedded/core.ts'
import { health } from '../../../../lib/embedded/health.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import { customType, served } from '../served.ts'

describe('the endpoints beside resources', () => {
  it('tell which version the server answers like', () => {
    expect(JSON.parse(get('/version'))).to.include.keys('major', 'minor', 'gitVersion', 'platform', 'emulationMajor')
    expect(() => health(served(), { method: 'POST', path: '/version', query: new URLSearchParams() })).to.throw(ApiError)
  })

  it('say that all is well', () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/healthz/ping', '/livez/poststarthook/rbac/bootstrap-roles']) {
      expect(get(path), path).to.equal('ok')
    }
  })

  it('list the checks when asked', () => {
    const lines = get('/readyz?verbose&exclude=etcd').split('\n')
    expect(lines).to.include.members(['[+]ping ok', '[+]etcd excluded: ok', '[+]informer-sync ok', 'readyz check passed'])
    expect(lines.at(-1)).to.equal('')
  })

  it('know no check that does not exist', () => {
    for (const path of ['/healthz/nope', '/livez/', '/livez/informer-sync', '/metricsx', '/nope']) expect(get(path), path).to.equal('')
  })

  it('list the paths, those of custom groups too', () => {
    const { paths } = JSON.parse(get('/', served(customType('a.example.com', 'v1', 'Widget'))))
    expect(paths).to.include.members(['/api/v1', '/apis/apps/v1', '/apis/a.example.com', '/apis/a.example.com/v1', '/livez/ping'])
    expect(paths).to.deep.equal([...paths].sort())
  })

  it('count', () => {
    expect(get('/metrics')).to.match(/^tsop_embedded_revision 7$/m)
  })
})

function get(url: string, core: Core = served()): string {
  const [path = '', query = ''] = url.split('?')
  return String(health(core, { method: 'GET', path, query: new URLSearchParams(query) })?.body ?? '')
}
