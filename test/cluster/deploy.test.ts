import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ConfigMap, Deployment, Lease, Namespace } from 'tsop/kinds'
import { inNamespace, type World } from './cluster.ts'
import { installed, PROJECT, tsop } from './fixtures/installed.ts'

// Whole commands and a bundle each.
const TIMEOUT_MS = 180_000

describe('the manifests of tsop generate deploy', function () {
  this.timeout(TIMEOUT_MS)

  it(
    'are taken by the API server, whichever way they are installed',
    inNamespace(async (t) => {
      const { folder, home } = await generated(t)
      await t.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } })
      t.onEnd(() => t.client.delete(Namespace, { name: home }))
      const dryRun = ['apply', '--dry-run=server', '--warnings-as-errors', '-n', home]
      expect(await t.kubectl(...dryRun, '-f', `${folder}/install.yaml`)).to.match(/deployment\.apps\/\S+ created \(server dry run\)/)
      for (const overlay of ['development', 'production'])
        expect(await t.kubectl(...dryRun, '-k', `${folder}/kustomize/overlays/${overlay}`)).to.match(/deployment\.apps\/\S+ created/)
      const monitoring = await t.kubectl('kustomize', `${folder}/kustomize/overlays/monitoring`)
      expect(monitoring).to.match(/kind: ServiceMonitor/)
    }),
  )

  it(
    'run an operator from its bundle, as its pod and with its rights, until tsop uninstall takes all of it away',
    inNamespace(async (t) => {
      const o = await installed(t)
      // Its pods pass the checks of the namespace, which enforces the restricted standard; no kubelet runs them here.
      const pods = await o.pods()
      const container = await o.start(pods[0]!)
      const lease = await t.client.get(Lease, { name: o.name, namespace: o.home })
      expect(lease.spec?.holderIdentity).to.equal(pods[0]!.metadata.name)

      await t.apply(o.widget('a'))
      await t.until(
        () => t.client.find(ConfigMap, t.ref('a')),
        () => `the child; it said:\n${container.log}`,
      )
      expect((await t.client.get(o.kind, t.ref('a'))).metadata.finalizers).to.have.length(1)
      expect(container.log).to.not.match(/forbidden|"status":403/i)

      const said = await tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--yes', '--timeout', '30s')
      expect(said).to.match(/deleting 1 Widget[\s\S]*stopping the operator[\s\S]*deleted the definition[\s\S]*done\n$/)
      expect(container.log).to.include('cleaned up a')
      container.signal('SIGTERM')
      expect(await container.exited, container.log).to.equal(0)
      await t.until(async () => (await t.client.find(Namespace, { name: o.home })) === undefined, 'the namespace to go')
      expect(await t.kubectl('get', 'clusterroles,clusterrolebindings,crd', '-o', 'name')).to.not.include(t.id)
      expect(await t.kubectl('get', 'roles,rolebindings', '-o', 'name')).to.not.include(t.id)
      // A real garbage collector looks for new kinds every half minute, and may never learn of one that lived for seconds.
      if (process.env['TSOP_TEST_SERVER'] === 'embedded') {
        await t.until(async () => (await t.client.find(ConfigMap, t.ref('a'))) === undefined, 'what the widget owned to go')
      }
    }),
  )
})

describe('tsop uninstall', function () {
  this.timeout(TIMEOUT_MS)

  it(
    'leaves everything as it is where nobody cleans up, and says what waits',
    inNamespace(async (t) => {
      const o = await installed(t)
      const container = await o.start((await o.pods())[0]!)
      await t.apply(o.widget('a'))
      await t.until(() => t.client.find(ConfigMap, t.ref('a')), 'the child')
      await container.kill()
      const error = await tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--yes', '--timeout', '1s').catch((failed) => failed)
      expect(error.code).to.equal(1)
      expect(error.stderr).to.include(`Widget ${t.namespace}/a (held by ${t.id}.example.com/widgets)`)
      expect(error.stderr).to.include(`the operator ${o.home}/${o.name} does not run (no pod of it is ready)`)
      expect(await t.client.find(Deployment, { name: o.name, namespace: o.home })).to.not.equal(undefined)

      // Told to, it gives the clean-up up, and still leaves no finalizer behind.
      const said = await tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--yes', '--timeout', '1s', '--abandon')
      expect(said).to.match(/abandoned without clean-up:[\s\S]*freed 1 Widget[\s\S]*deleted the definition/)
    }),
  )

  it(
    'keeps the data on request, without finalizers that nobody serves',
    inNamespace(async (t) => {
      const o = await installed(t)
      const container = await o.start((await o.pods())[0]!)
      await t.apply(o.widget('a'))
      await t.until(() => t.client.find(ConfigMap, t.ref('a')), 'the child')
      t.onEnd(() => t.kubectl('delete', 'crd', `widgets.${t.id}.example.com`, '--wait=false'))
      // The kubelet would end it together with its pod.
      container.signal('SIGTERM')
      await container.exited
      const said = await tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--yes', '--keep-data')
      expect(said).to.include(`freed 1 Widget.${t.id}.example.com of the finalizer ${t.id}.example.com/widgets`)
      const widget = await t.client.get(o.kind, t.ref('a'))
      expect([widget.metadata.finalizers, widget.metadata.deletionTimestamp]).to.deep.equal([undefined, undefined])
      expect(await t.client.find(ConfigMap, t.ref('a'))).to.not.equal(undefined)
      expect(await t.client.find(Deployment, { name: o.name, namespace: o.home })).to.equal(undefined)
      expect(await t.kubectl('get', 'clusterroles', '-o', 'name')).to.include(`widgets.${t.id}.example.com-edit`)
    }),
  )

  it(
    'asks before it deletes, and shows what it would do',
    inNamespace(async (t) => {
      const o = await installed(t)
      t.onEnd(() => tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--yes', '--abandon', '--timeout', '2s'))
      await t.apply(o.widget('a'))
      const refused = await tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names).catch((failed) => failed)
      expect([refused.code, refused.stderr]).to.deep.equal([2, 'tsop: nobody is asked here: say --yes\n'])
      const shown = await tsop(t, o.cwd, 'uninstall', 'handlers', ...o.names, '--dry-run')
      expect(shown).to.include(`  delete 1 Widget.${t.id}.example.com, with clean-up, and what they own\n`)
      expect(shown).to.include(`  delete the definition widgets.${t.id}.example.com\n`)
      expect((await t.client.get(o.kind, t.ref('a'))).metadata.deletionTimestamp).to.equal(undefined)
    }),
  )
})

/** The operator of handlers/ under a name of the test's own. */
async function generated(t: World): Promise<{ folder: string; home: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  t.onEnd(() => rmSync(folder, { recursive: true, force: true }))
  const name = `db-${t.id}`
  await tsop(t, PROJECT, 'generate', 'deploy', 'handlers', '--name', name, '--output', folder)
  return { folder, home: `${name}-system` }
}
