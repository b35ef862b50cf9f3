import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { delay, systemClock } from '../../../lib/api/clock.ts'
import { installCrds } from '../../../lib/cli/install-crds.ts'
import { Uninstall } from '../../../lib/cli/uninstall-steps.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { inProcess } from '../../../lib/embedded/http/in-process.ts'
import { createServer, type EmbeddedServer } from '../../../lib/embedded/server.ts'
import { selectorOf } from '../../../lib/generate/operator.ts'
import { onReconcile, resource, z } from '../../../lib/index.ts'
import { kind } from '../../../lib/resource/kind.ts'
import { Deployment, Namespace, PersistentVolumeClaim, Pod } from '../../../lib/resource/kinds.ts'
import { logTo } from '../admission/fixtures.ts'
import { Project } from './project.ts'

const Shop = resource({ group: 'shop.example.com', version: 'v1', kind: 'Shop', spec: z.object({}) })

class ShopHandler {
  @onReconcile(Shop) reconcile() {}
}

const home = 'shop-system'
const model = { operator: 'shop', name: 'shop', home, namespaces: undefined as string[] | undefined, specs: [collect(ShopHandler)] }
const metadata = { name: 'a', namespace: home }

describe("tsop uninstall in a namespace of the operator's own", () => {
  let server: EmbeddedServer
  let client: Client
  beforeEach(async () => {
    server = await createServer()
    client = new Client({
      transport: inProcess((request) => server.handle(request), { clock: systemClock, headers: {} }),
      clock: systemClock,
    })
    await client.create(Namespace, { metadata: { name: home, labels: selectorOf(model) } })
    await installCrds([Shop.crd], { client, clock: systemClock, signal: new AbortController().signal, log: logTo([]) })
    await client.create(Shop, { metadata, spec: {} })
  })
  afterEach(() => server.close())

  async function uninstalled(given: { keepData?: boolean; namespaces?: string[] } = {}) {
    const { keepData = false, namespaces } = given
    const said: string[] = []
    const say = (line: string) => void said.push(line)
    const options = { client, keepData, onlyResources: false, abandon: false, timeoutMs: 5_000, say }
    const work = new Uninstall({ ...options, model: { ...model, namespaces } })
    const plan = await work.plan()
    await work.run()
    const live = await client.find(Namespace, { name: home })
    return { plan: plan.at(-1), said: said.at(-1), stays: live !== undefined && live.metadata.deletionTimestamp === undefined }
  }

  it('says that the namespace goes, and deletes it', async () => {
    expect(await uninstalled()).to.deep.equal({
      plan: 'delete the namespace shop-system, unless it is used by others',
      said: 'deleted the namespace shop-system',
      stays: false,
    })
  })

  it('keeps it with --keep-data where there is data in it', async () => {
    expect(await uninstalled({ keepData: true })).to.deep.equal({
      plan: 'delete the namespace shop-system, unless it is used by others',
      said: 'kept the namespace shop-system: 1 Shop.shop.example.com in it',
      stays: true,
    })
    expect((await client.get(Shop, metadata)).metadata.deletionTimestamp).to.equal(undefined)
  })

  it('keeps it where another operator serves what is in it', async () => {
    const { said, stays } = await uninstalled({ namespaces: ['default'] })
    expect({ said, stays }).to.deep.equal({ said: 'kept the namespace shop-system: 1 Shop.shop.example.com in it', stays: true })
  })

  it('keeps it where others have pods or volumes in it', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await client.create(PersistentVolumeClaim, { metadata, spec })
    const { said, stays } = await uninstalled()
    expect({ said, stays }).to.deep.equal({ said: 'kept the namespace shop-system: 1 PersistentVolumeClaim in it', stays: true })
  })

  it('waits for the end of the pods, however little time the clean-up is given', async () => {
    const labels = selectorOf(model)
    const containers = [{ name: 'operator', image: 'shop' }]
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } }
    await client.create(Deployment, { metadata: { name: 'shop', namespace: home }, spec } as never)
    const pod = { name: 'shop-1', namespace: home }
    await client.create(Pod, { metadata: { ...pod, labels }, spec: { containers } } as never)
    const said: string[] = []
    const say = (line: string) => {
      said.push(line)
      if (line.startsWith('stopping the operator')) setTimeout(() => client.delete(Pod, pod, { gracePeriodSeconds: 0 }), 100)
    }
    const options = { client, keepData: true, onlyResources: false, abandon: false, timeoutMs: 1, say }
    await new Uninstall({ ...options, model }).run()
    expect(said).to.include('stopping the operator shop-system/shop')
    expect(await client.find(Pod, pod)).to.equal(undefined)
  })

  it('plans for what there is', async () => {
    const options = { client, model, keepData: false, abandon: false, timeoutMs: 1, say: () => {} }
    const plan = (onlyResources = false) => new Uninstall({ ...options, onlyResources }).plan()
    const rest = 'delete the namespace shop-system, unless it is used by others'
    const roles = 'delete the Lease and the roles of shop, if there are any; there is no Deployment shop-system/shop'
    const objects = 'delete 1 Shop.shop.example.com, with clean-up, and what they own'
    expect(await plan()).to.deep.equal([objects, roles, 'delete the definition shops.shop.example.com', rest])
    await client.delete(Shop, metadata)
    expect(await plan(true)).to.deep.equal(['delete nothing: there are no objects of its kinds'])
    const definition = kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition')
    await client.delete(definition, { name: 'shops.shop.example.com' })
    while ((await client.find(definition, { name: 'shops.shop.example.com' })) !== undefined) await delay(systemClock, 20)
    expect(await plan()).to.deep.equal([roles, rest])
  })

  it('lets a namespace be that was there before', async () => {
    await client.patch(Namespace, { name: home }, { type: 'merge', value: { metadata: { labels: { 'app.kubernetes.io/name': 'other' } } } })
    const { plan, stays } = await uninstalled()
    expect({ plan, stays }).to.deep.equal({ plan: 'delete the definition shops.shop.example.com', stays: true })
  })
})

describe('tsop uninstall', function () {
  this.timeout(30_000)

  it('says so where nobody answers, instead of ending without a word', async () => {
    const project = new Project({
      'handlers/shop.ts': `
import { kind, onReconcile } from 'tsop'
export class ShopHandler {
  @onReconcile(kind('shop.example.com/v1', 'Shop', { plural: 'shops', scope: 'Namespaced' })) reconcile() {}
}
`,
    })
    const server = await createServer({ port: 0 })
    project.write('kubeconfig', JSON.stringify(server.kubeconfig()))
    await server.close()
    try {
      const { code, stderr } = await project.run(['uninstall', '--yes', '--kubeconfig', 'kubeconfig'], { command: 'tsop' })
      expect(stderr).to.match(/^tsop: cannot .*cannot connect to .*connection refused/)
      expect(code).to.equal(4)
    } finally {
      await project.remove()
    }
  })

  it('waits for objects to the end of its time where nothing else keeps the process alive', async () => {
    const project = new Project({
      'handlers/shop.ts': `
import { onReconcile, resource, z } from 'tsop'
const Shop = resource({ group: 'shop.example.com', version: 'v1', kind: 'Shop', spec: z.object({}) })
export class ShopHandler {
  @onReconcile(Shop) reconcile() {}
}
`,
    })
    const server = await createServer({ port: 0 })
    try {
      const client = new Client({
        transport: inProcess((request) => server.handle(request), { clock: systemClock, headers: {} }),
        clock: systemClock,
      })
      await installCrds([Shop.crd], { client, clock: systemClock, signal: new AbortController().signal, log: logTo([]) })
      const held = { name: 'a', namespace: 'default', finalizers: ['example.com/others'] }
      await client.create(Shop, { metadata: held, spec: {} } as never)
      project.write('kubeconfig', JSON.stringify(server.kubeconfig()))
      const { code, stderr } = await project.run(['uninstall', '--yes', '--timeout', '1s', '--kubeconfig', 'kubeconfig'], {
        command: 'tsop',
      })
      expect(stderr).to.match(/^tsop: 1 is not gone; the operator, its roles and definitions are left as they are:\n {2}.*default\/a/)
      expect(code).to.equal(1)
    } finally {
      await server.close()
      await project.remove()
    }
  })
})
