import { expect } from 'chai'
import { CONFIG_MAPS, PODS, startWorld, text, type World } from './world.ts'

const QUOTAS = '/api/v1/namespaces/default/resourcequotas'

describe('a ResourceQuota', () => {
  let world: World

  beforeEach(async () => {
    world = await startWorld()
  })
  afterEach(() => world.server.close())

  const quota = async (hard: object, more: object = {}) => {
    const answer = await world.post(QUOTAS, { metadata: { name: 'q' }, spec: { hard, ...more } })
    if (answer.status !== 201) throw new Error(text(answer))
    await world.server.settled()
  }
  const used = async () => {
    await world.server.settled()
    return (await world.get(`${QUOTAS}/q`)).body.status.used
  }
  const pod = (name: string, resources?: object, more: object = {}) =>
    world.post(PODS, {
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'x', ...(resources === undefined ? {} : { resources }) }], ...more },
    })

  it('counts what is there, and follows', async () => {
    await world.configMap('before')
    await quota({ configmaps: '10', 'count/secrets': '1', 'count/deployments.apps': '0', 'count/widgets.x.io': '1' })
    // The certificates of the cluster are a config map, too; nobody knows the widgets.
    expect(await used()).to.deep.equal({ configmaps: '2', 'count/deployments.apps': '0', 'count/secrets': '0' })
    await world.configMap('after')
    expect((await used()).configmaps).to.equal('3')
    await world.delete(`${CONFIG_MAPS}/before`)
    expect((await used()).configmaps).to.equal('2')
  })

  it('keeps more away, also before its status has followed', async () => {
    await quota({ 'count/configmaps': '2' })
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => world.configMap(name)))
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 403, 403])
    expect(text(answers[2]!)).to.equal(
      '403 configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2',
    )
    expect((await world.merge(`${CONFIG_MAPS}/a`, { data: { x: '1' } })).status).to.equal(200)
    expect((await world.configMap('d', {}, {}, '?dryRun=All')).status).to.equal(403)
  })

  it('of CPU and memory wants each container to say what it needs', async () => {
    await quota({ pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi' })
    expect(text(await pod('a'))).to.equal(
      '403 pods "a" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
    )
    expect((await pod('a', { limits: { cpu: '300m', memory: '1Mi' } })).status).to.equal(201)
    expect(await used()).to.deep.equal({ 'limits.memory': '1Mi', pods: '1', 'requests.cpu': '300m' })
    expect(text(await pod('b', { limits: { cpu: '800m', memory: '1Mi' } }))).to.equal(
      '403 pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=800m, used: requests.cpu=300m, limited: requests.cpu=1',
    )
    await world.delete(`${PODS}/a`)
    expect((await pod('b', { limits: { cpu: '800m', memory: '1Mi' } })).status).to.equal(201)
  })

  it('counts a growing object by what it grows', async () => {
    await quota({ 'services.nodeports': '2' })
    const services = '/api/v1/namespaces/default/services'
    const ports = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: i + 1 }))
    expect((await world.post(services, { metadata: { name: 's' }, spec: { type: 'NodePort', ports: ports(1) } })).status).to.equal(201)
    expect((await world.merge(`${services}/s`, { spec: { ports: ports(2) } })).status).to.equal(200)
    expect(text(await world.merge(`${services}/s`, { spec: { ports: ports(3) } }))).to.match(
      /requested: services.nodeports=1, used: services.nodeports=2/,
    )
  })

  it('with a scope is about the pods in it', async () => {
    await quota({ pods: '0' }, { scopes: ['BestEffort'] })
    expect((await pod('a')).status).to.equal(403)
    expect((await pod('b', { requests: { cpu: '1m' } })).status).to.equal(201)
  })
})
