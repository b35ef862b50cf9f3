/** Methods of @validates and @defaults, and conversions, as an API server asks them over TLS. */
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { conversionSwitch } from '../../lib/admission/configurations.ts'
import { collect } from '../../lib/decorators/collect.ts'
import { definitionsOf } from '../../lib/generate/crds.ts'
import { operatorPermissions, roles } from '../../lib/generate/rbac.ts'
import { webhookParts } from '../../lib/generate/webhooks.ts'
import { type KindRef, type KubeObject, kind } from '../../lib/resource/kind.ts'
import { Definition, inNamespace, type World } from './cluster.ts'
import { Crate, CrateHandler } from './fixtures/crate.ts'
import { asGenerated } from './fixtures/generated-role.ts'

const FIXTURE = 'test/cluster/fixtures/crate.ts'
const Old = kind<KubeObject & { spec: { dimension: string; colour?: string } }>('crates.example.com/v1alpha1', 'Crate', {
  plural: 'crates',
  scope: 'Namespaced',
})
const configurations = (['mutating', 'validating'] as const).map(
  (type): KindRef => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: type === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
    plural: `${type}webhookconfigurations`,
    scope: 'Cluster',
  }),
)

/** A free port, which the operator is told of. */
async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as import('node:net').AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function start(t: World) {
  const url = `https://127.0.0.1:${await freePort()}`
  const operator = await t.startOperator({ handlers: FIXTURE, args: ['--name', `op-${t.id}`, '--install-crds', '--webhook-url', url] })
  // An API server hears of its webhooks a moment later.
  await t.until(async () => (await tried(t, { size: 1, colour: 'pink' })).includes('no pink ones'), 'the webhooks to be asked')
  return operator
}

/** What kubectl says to a crate that is only tried. */
async function tried(t: World, spec: object, ...args: string[]): Promise<string> {
  return t.kubectl('create', '--dry-run=server', ...args, '-f', await t.file(crate(spec))).catch((error: Error) => error.message)
}

const crate = (spec: object, name = 'a', version = 'v1') => ({
  apiVersion: `crates.example.com/${version}`,
  kind: 'Crate',
  metadata: { name },
  spec,
})

describe('admission', () => {
  it(
    'checks and fills in objects, in whichever version they are written, and tells kubectl why not',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(crate({ dimension: '12cm' }, 'a', 'v1alpha1'))
      expect((await t.client.get(Crate, t.ref('a'))).spec).to.deep.equal({ size: 12, colour: 'red' })
      const refused = (patch: object, ...args: string[]) =>
        t.kubectl('patch', 'crate', 'a', '--type=merge', '-p', JSON.stringify(patch), ...args).then(
          (text) => `ok: ${text}`,
          (error: Error) => error.message,
        )
      expect(await refused({ spec: { size: 3 } })).to.contain('The Crate "a" is invalid: spec.size: a crate cannot shrink')
      const broken = await refused({ spec: { colour: 'secret' } })
      expect(broken).to.contain("CrateHandler.validate() failed; the operator's log says why").and.not.contain('hunter2')
      expect(await refused({ spec: { size: 20 } }, '--dry-run=server')).to.contain('patched')
      expect((await t.client.get(Crate, t.ref('a'))).spec.size, 'after a dry run').to.equal(12)
      expect(await refused({ metadata: { labels: { a: 'b' } } })).to.contain('patched')
      await t.until(async () => (await t.client.get(Crate, t.ref('a'))).status?.seen === 'red 12', 'the status to be written')
    }),
  )

  it(
    'passes warnings on',
    inNamespace(async (t) => {
      await start(t)
      const error = await t
        .kubectl('create', '--dry-run=server', '--warnings-as-errors', '-f', await t.file(crate({ size: 1 })))
        .catch(String)
      expect(error).to.contain('Warning: only a try, ')
    }),
  )

  it(
    'keeps an object from being deleted only as long as its class says so',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(crate({ size: 1, locked: true }))
      const error = await t.kubectl('delete', 'crate', 'a').catch((caught: Error) => caught.message)
      expect(error).to.contain('denied the request: it is locked')
      await t.apply(crate({ size: 1, locked: false }))
      await t.kubectl('delete', 'crate', 'a')
    }),
  )

  it(
    'leaves nothing in the way when the operator ends',
    inNamespace(async (t) => {
      const operator = await start(t)
      const found = () => Promise.all(configurations.map((each) => t.client.find(each, { name: `op-${t.id}-tsop-run` })))
      expect((await found()).map((each) => each?.metadata.name)).to.deep.equal([`op-${t.id}-tsop-run`, `op-${t.id}-tsop-run`])
      expect(await operator.stop()).to.equal(0)
      expect(await found()).to.deep.equal([undefined, undefined])
      await t.until(async () => (await tried(t, { size: 1, colour: 'pink' })).includes('created'), 'the API server to ask nobody')
    }),
  )
})

describe('admission by a Service', () => {
  it('works with the rights and objects that are generated, and a certificate that the operator makes', function () {
    // Only a network leads from a Service to a pod; here the Service is another name for this machine, for which one on the other side is needed.
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    return inNamespace(async (t) => {
      const port = await freePort()
      const operator = `op-${t.id}`
      const model = { operator, name: operator, home: t.namespace, namespaces: [t.namespace], specs: [collect(CrateHandler)] }
      const service = { namespace: t.namespace, name: `${operator}-webhook`, port }
      const parts = webhookParts(model)
      const configurations = JSON.parse(JSON.stringify(parts.configurations)) as Configuration[]
      for (const { webhooks } of configurations) for (const { clientConfig } of webhooks) clientConfig.service.port = port
      const here = { ...parts.service[0], spec: { type: 'ExternalName', externalName: 'localhost' } }
      await t.apply(here, ...parts.certificate, ...configurations)
      for (const crd of definitionsOf(model.specs, { service })) {
        // The tests above have left a URL in it.
        const live = await t.client.find(Definition, { name: crd.metadata.name })
        const value = live === undefined ? undefined : conversionSwitch(crd, live)
        if (value !== undefined) await t.client.patch(Definition, { name: crd.metadata.name }, { type: 'merge', value })
        await t.client.apply(Definition, crd as never, { fieldManager: 'test', force: true })
      }
      t.onEnd(async () => {
        for (const { kind: name, metadata } of configurations) await t.kubectl('delete', name, metadata.name)
      })
      const KUBECONFIG = await inHome(t, await asGenerated(t, await t.file(roles(model, operatorPermissions(model)))))
      const args = ['--name', operator, '--webhook-port', String(port)]
      const running = await t.startOperator({ handlers: FIXTURE, args, env: { KUBECONFIG } })
      await running.logged(/the webhooks have a certificate/)
      await t.until(async () => (await tried(t, { size: 1, colour: 'pink' })).includes('no pink ones'), 'the webhooks to be asked')
      await t.apply(crate({ dimension: '12cm' }, 'a', 'v1alpha1'))
      expect((await t.client.get(Crate, t.ref('a'))).spec).to.deep.equal({ size: 12, colour: 'red' })
      await t.until(async () => (await t.client.get(Crate, t.ref('a'))).status?.seen === 'red 12', 'the status to be written')
      expect(running.log).to.not.contain('cannot look after the certificate')
    })()
  })
})

interface Configuration {
  kind: string
  metadata: { name: string }
  webhooks: { clientConfig: { service: { port?: number } } }[]
}

/** The same kubeconfig, in the operator's own namespace. */
async function inHome(t: World, file: string): Promise<string> {
  const { contexts, ...config } = JSON.parse(await readFile(file, 'utf8')) as { contexts: { context: object }[] }
  return await t.file({ ...config, contexts: contexts.map((each) => ({ ...each, context: { ...each.context, namespace: t.namespace } })) })
}

describe('conversion', () => {
  it(
    'lists objects that were stored in several versions, in each of them',
    inNamespace(async (t) => {
      await start(t)
      const store = async (stored: string) => {
        const { spec } = await t.client.get(Definition, { name: 'crates.crates.example.com' })
        const versions = spec.versions.map((each) => ({ ...each, storage: each.name === stored }))
        await t.client.patch(Definition, { name: 'crates.crates.example.com' }, { type: 'merge', value: { spec: { versions } } })
      }
      t.onEnd(() => store('v1'))
      await t.apply(crate({ size: 1 }, 'new'))
      await store('v1alpha1')
      // A server stores in the other version a moment later.
      let i = 0
      await t.until(async () => {
        await t.apply(crate({ size: 2 }, `old-${i++}`))
        const { status } = await t.client.get(Definition, { name: 'crates.crates.example.com' })
        return i > 3 && (status as unknown as { storedVersions: string[] }).storedVersions.includes('v1alpha1')
      }, 'objects to be stored in the old version')
      const sizes = async () => (await t.client.list(Crate, { namespace: t.namespace })).items.map(({ spec }) => spec.size)
      const old = (await t.client.list(Old, { namespace: t.namespace })).items.map(({ spec }) => spec.dimension)
      expect(await sizes()).to.deep.equal([1, ...Array(i).fill(2)])
      expect(old).to.deep.equal(['1cm', ...Array(i).fill('2cm')])
    }),
  )

  it(
    'lets an author apply one version after the other',
    inNamespace(async (t) => {
      await start(t)
      const options = { fieldManager: 'author' }
      await t.client.apply(Old, { metadata: t.ref('a'), spec: { dimension: '4cm' } } as never, options)
      await t.client.apply(Crate, { metadata: t.ref('a'), spec: { size: 5 } } as never, options)
      expect((await t.client.get(Crate, t.ref('a'))).spec).to.deep.equal({ size: 5, colour: 'green' })
      await t.client.apply(Old, { metadata: t.ref('a'), spec: { dimension: '6cm', colour: 'blue' } } as never, options)
      expect((await t.client.get(Crate, t.ref('a'))).spec).to.deep.equal({ size: 6, colour: 'blue' })
    }),
  )

  it(
    'keeps what identifies an object, and names what it cannot convert',
    inNamespace(async (t) => {
      await start(t)
      await t.apply({ ...crate({ size: 4 }), metadata: { name: 'a', labels: { x: 'y' }, annotations: { z: '1' } } })
      const [now, before] = await Promise.all([t.client.get(Crate, t.ref('a')), t.client.get(Old, t.ref('a'))])
      const { managedFields: _, ...metadata } = now.metadata as typeof now.metadata & { managedFields?: unknown }
      expect(before.metadata).to.deep.include({ uid: metadata.uid, labels: { x: 'y' }, generation: metadata.generation })
      const error = await t
        .kubectl('create', '-f', await t.file(crate({ dimension: 'wide' }, 'b', 'v1alpha1')))
        .catch((caught: Error) => caught.message)
      expect(error).to.contain('Crate').and.to.contain('b: v1alpha1 to v1: spec.dimension: expected a number and cm')
    }),
  )
})
