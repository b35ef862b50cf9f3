/** No webhook outlives the operator that answers it: neither in a configuration nor in a definition. */
import { expect } from 'chai'
import { ConfigMap, Deployment, Namespace } from 'tsop/kinds'
import { type KubeObject, kind } from '../../lib/resource/kind.ts'
import { Definition, inNamespace, type World } from './cluster.ts'
import { asking } from './fixtures/asking.ts'
import { installed, tsop } from './fixtures/installed.ts'

const onReal = (body: (t: World) => Promise<void>) =>
  function (this: Mocha.Context): Promise<void> | void {
    // The Service is another name for this machine, which the embedded server does not look up.
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    return inNamespace(body)()
  }

describe('tsop uninstall of an operator that the API server asks', function () {
  this.timeout(240_000)

  it(
    'has it answer until its last object is gone, and leaves no webhook behind',
    onReal(async (t) => {
      const o = await asked(t)
      await t.apply(o.widget('a'), o.widget('b', { locked: true }))
      await t.until(() => t.client.find(ConfigMap, t.ref('a')), 'the child')
      const refused = await o.uninstall().catch((failed) => failed)
      expect(refused.code).to.equal(4)
      expect(refused.stderr).to.include(`cannot delete Widget ${t.namespace}/b: `).and.to.include('denied the request: it is locked')
      expect(refused.stderr).to.include(`see kubectl -n ${o.home} logs`).and.to.not.include('rights')
      // Nothing has been taken away yet.
      expect(await o.configurations()).to.have.length(2)
      expect(await o.tried({ colour: 'pink' })).to.include('no pink ones')

      // As tsop-run --webhook-url leaves them when it is killed.
      const left = { name: `${o.name}-tsop-run` }
      await t.apply({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: left, webhooks: [] })
      await t.kubectl('patch', `widgets.${o.group}`, 'b', '--type=merge', '-p', '{"spec":{"locked":false}}')
      expect(await o.uninstall()).to.match(
        /deleted MutatingWebhookConfiguration[\s\S]*deleted ValidatingWebhookConfiguration[\s\S]*stopping the operator[\s\S]*deleted the definition[\s\S]*done\n$/,
      )
      expect(o.container.log).to.include('cleaned up a').and.to.include('cleaned up b')
      expect(await o.configurations()).to.deep.equal([])
    }),
  )

  it(
    'says what is in the way where nobody answers, and can give the clean-up up even then',
    onReal(async (t) => {
      const o = await asked(t)
      await t.apply(o.widget('a'))
      await t.until(() => t.client.find(ConfigMap, t.ref('a')), 'the child')
      await o.dies()
      const refused = await o.uninstall('--timeout', '1s').catch((failed) => failed)
      expect(refused.code).to.equal(4)
      expect(refused.stderr).to.include(`cannot delete Widget ${t.namespace}/a: `).and.to.include('failed calling webhook')
      expect(refused.stderr).to.include(`the operator ${o.home}/${o.name} does not run`).and.to.include('--abandon')
      expect(await o.configurations()).to.have.length(2)

      expect(await o.uninstall('--timeout', '10s', '--abandon')).to.match(/freed 1 Widget[\s\S]*deleted the definition[\s\S]*done\n$/)
      expect(await o.configurations()).to.deep.equal([])
    }),
  )

  it(
    'also gives up what cannot even be read, because nobody converts it',
    onReal(async (t) => {
      const o = await asked(t)
      await o.storedInBoth()
      await o.dies()
      const unread = await o.uninstall('--timeout', '1s').catch((failed) => failed)
      expect(unread.code).to.equal(4)
      expect(unread.stderr).to.include('cannot list Widget').and.to.include('conversion webhook for')
      expect(unread.stderr).to.include(`the operator ${o.home}/${o.name} does not run`).and.to.include('--abandon')

      expect(await o.uninstall('--timeout', '1s', '--abandon')).to.match(
        /nobody answers conversions[\s\S]*deleted the definition[\s\S]*done\n$/,
      )
      expect(await o.configurations()).to.deep.equal([])
      expect(await t.client.find(Definition, { name: `widgets.${o.group}` })).to.equal(undefined)
    }),
  )

  it(
    'keeps data that can be read, changed and deleted without the operator, until it is back',
    onReal(async (t) => {
      const o = await asked(t)
      t.onEnd(() => t.kubectl('delete', 'crd', `widgets.${o.group}`, '--ignore-not-found', '--wait=false'))
      await o.storedInBoth()
      const kept = await o.uninstall('--keep-data')
      expect(await o.container.exited).to.equal(0)
      expect(kept).to.match(/stored 2 Widget\S* in version v1, no longer in v1alpha1[\s\S]*only version v1 is served from now on/)

      expect(await o.configurations()).to.deep.equal([])
      const { items } = await t.client.list(o.kind, { namespace: t.namespace })
      expect(items.map(({ spec }) => spec)).to.deep.equal([{ size: 1 }, { size: 2 }])
      await t.kubectl('patch', `widgets.${o.group}`, 'old', '--type=merge', '-p', '{"spec":{"size":3}}')
      await t.kubectl('delete', `widgets.${o.group}`, 'old', '--timeout=10s')
      const { spec } = await t.client.get(Definition, { name: `widgets.${o.group}` })
      expect(spec.versions.map(({ name, served }) => [name, served])).to.deep.equal([
        ['v1', true],
        ['v1alpha1', false],
      ])

      let home: unknown
      const gone = async () => {
        home = await t.client.find(Namespace, { name: o.home })
        return home === undefined
      }
      await t.until(gone, () => `the namespace to go: ${JSON.stringify(home)}`, { withinMs: 90_000 })
      await t.kubectl('apply', '-f', o.install, '--namespace=')
      const back = await t.client.get(Definition, { name: `widgets.${o.group}` })
      expect(back.spec.versions.map(({ served }) => served)).to.deep.equal([true, true])
      expect(back.spec).to.have.nested.property('conversion.webhook.clientConfig.service.name', `${o.name}-webhook`)
      await o.uninstall('--abandon', '--timeout', '1s')
    }),
  )

  it(
    'ends the conversions of a definition that stays because of objects which it does not serve',
    onReal(async (t) => {
      const o = await asked(t)
      t.onEnd(() => t.kubectl('delete', 'crd', `widgets.${o.group}`, '--ignore-not-found', '--wait=false'))
      const elsewhere = `${t.namespace}-elsewhere`
      t.onEnd(() => t.client.delete(Namespace, { name: elsewhere }))
      await t.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: elsewhere } })
      await t.apply({ ...o.widget('b', { dimension: '2cm' }, 'v1alpha1'), metadata: { name: 'b', namespace: elsewhere } })
      const said = await o.uninstall()
      expect(said).to.match(/only version v1 is served[\s\S]*kept the definition widgets\S+: there is 1 Widget\S* elsewhere[\s\S]*done\n$/)
      expect((await t.client.get(o.kind, { name: 'b', namespace: elsewhere })).spec).to.deep.equal({ size: 2 })
      expect((await t.client.get(Definition, { name: `widgets.${o.group}` })).spec).to.have.nested.property('conversion.strategy', 'None')
    }),
  )
})

/** An operator that runs, whose kind is checked, filled in, and converted. */
async function asked(t: World) {
  const o = await installed(t, { handler: asking, args: ['--replicas', '1'] })
  const group = `${t.id}.example.com`
  const container = await o.run()
  await t.until(
    () => container.log.includes('the webhooks have a certificate'),
    () => `a certificate; it said:\n${container.log}`,
  )
  const widget = (name: string, spec: object = {}, version = 'v1') => ({
    apiVersion: `${group}/${version}`,
    kind: 'Widget',
    metadata: { name },
    spec: version === 'v1' ? { size: 1, ...spec } : spec,
  })
  const tried = async (spec: object) =>
    t.kubectl('create', '--dry-run=server', '-f', await t.file(widget('tried', spec))).catch((error: Error) => error.message)
  await t.until(async () => (await tried({ colour: 'pink' })).includes('no pink ones'), 'the webhooks to be asked')
  return {
    ...o,
    group,
    container,
    widget,
    tried,
    kind: kind<KubeObject & { spec: object }>(`${group}/v1`, 'Widget', { plural: 'widgets', scope: 'Namespaced' }),
    uninstall: (...args: string[]) => tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--yes', ...args),
    configurations: async () =>
      (await t.kubectl('get', 'mutatingwebhookconfigurations,validatingwebhookconfigurations', '--output=name'))
        .split('\n')
        .filter((each) => each.includes(o.name)),
    /** Without a word, as the kubelet then says. */
    async dies() {
      await container.kill()
      const ready = async () => (await t.client.get(Deployment, { name: o.name, namespace: o.home })).status?.readyReplicas ?? 0
      await t.until(async () => (await ready()) === 0, 'the Deployment to know')
    },
    /** `new` in v1, `old` in v1alpha1. */
    async storedInBoth() {
      const name = `widgets.${group}`
      const store = async (stored: string) => {
        const { spec } = await t.client.get(Definition, { name })
        const versions = spec.versions.map((each) => ({ ...each, storage: each.name === stored }))
        await t.client.patch(Definition, { name }, { type: 'merge', value: { spec: { versions } } })
      }
      await t.apply(widget('new'))
      await store('v1alpha1')
      await t.apply(widget('old', { size: 2 }))
      // A server stores in the other version a moment later.
      let i = 0
      await t.until(async () => {
        await t.kubectl('annotate', name, 'old', '--overwrite', `tried=${i++}`)
        const { status } = await t.client.get(Definition, { name })
        return i > 3 && (status as unknown as { storedVersions: string[] }).storedVersions.includes('v1alpha1')
      }, 'the object to be stored in the old version')
      await store('v1')
      await t.until(() => t.client.find(ConfigMap, t.ref('old')), 'the child of old')
    },
  }
}
