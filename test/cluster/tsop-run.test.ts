import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { type Condition, type KubeObject, kind } from '../../lib/resource/kind.ts'
import { Definition, inNamespace, type World } from './cluster.ts'

type Widget = KubeObject & { status?: { observedGeneration?: number; conditions?: Condition[] } }

const HERE = fileURLToPath(new URL('./', import.meta.url))

describe('tsop-run on a cluster', () => {
  /** An operator of a kind that only this test has. It lies in the project, so that it finds tsop. */
  function project(t: World) {
    const group = `g${t.id}.example.com`
    const directory = mkdtempSync(join(HERE, '.tsop-run-'))
    t.onEnd(() => rmSync(directory, { recursive: true, force: true }))
    t.onEnd(() => t.client.delete(Definition, { name: `widgets.${group}` }).catch(() => {}))
    const write = (file: string, text: string) => writeFileSync(join(directory, file), text)
    const handler = (resource: string, body = '') =>
      write(
        'widget.ts',
        `import { onReconcile, requeueAfter, resource, z } from 'tsop'
         const Widget = resource({ group: '${group}', version: 'v1', kind: 'Widget', ${resource} })
         export class WidgetHandler { @onReconcile(Widget) async reconcile(widget: any) { ${body} } }`,
      )
    handler('spec: z.object({ size: z.int() })')
    const widget = (name: string, spec: string) => `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: ${name}}\nspec: ${spec}\n`
    const run = async (...args: string[]) => {
      const operator = await t.startOperator({ handlers: directory, args, ready: false })
      return { code: await operator.exited, log: operator.log }
    }
    return {
      group,
      directory,
      write,
      handler,
      widget,
      run,
      Widget: kind<Widget>(`${group}/v1`, 'Widget', { plural: 'widgets', scope: 'Namespaced' }),
    }
  }

  it(
    'installs a definition, applies samples of it, reconciles them once and exits with 0; a second time writes nothing',
    inNamespace(async (t) => {
      const { directory, write, widget, run, Widget } = project(t)
      write('samples.yaml', `${widget('one', '{size: 1}')}---\n${widget('two', '{size: 2}')}`)
      const args = ['--install-crds', '--apply', join(directory, 'samples.yaml'), '--once']
      const first = await run(...args)
      expect(first.code, first.log).to.equal(0)
      const read = async () => (await t.client.list(Widget, { namespace: t.namespace })).items
      const before = await read()
      expect(before.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status)).to.deep.equal(['True', 'True'])
      expect((await run(...args)).code).to.equal(0)
      expect((await read()).map(({ metadata }) => metadata.resourceVersion)).to.deep.equal(
        before.map(({ metadata }) => metadata.resourceVersion),
      )
    }),
  )

  it(
    'applies a manifest of several documents in the order they need each other',
    inNamespace(async (t) => {
      const { directory, write, run } = project(t)
      const group = `h${t.id}.example.com`
      t.onEnd(() => t.client.delete(Definition, { name: `gears.${group}` }).catch(() => {}))
      const schema = '{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}'
      write(
        'all.yaml',
        `apiVersion: ${group}/v1
kind: Gear
metadata: {name: a, namespace: ns-${t.id}}
---
apiVersion: v1
kind: Namespace
metadata: {name: ns-${t.id}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {kind: Gear, plural: gears}
  versions: [{name: v1, served: true, storage: true, schema: ${schema}}]
`,
      )
      const { code, log } = await run('--install-crds', '--apply', join(directory, 'all.yaml'), '--once')
      expect(code, log).to.equal(0)
      expect(await t.kubectl('get', `gears.${group}`, 'a', '-n', `ns-${t.id}`, '-o', 'name')).to.contain('a')
      await t.kubectl('delete', 'namespace', `ns-${t.id}`, '--wait=false')
    }),
  )

  it(
    'shows in one line why the server refuses a definition or a manifest, with exit code 4',
    inNamespace(async (t) => {
      const { directory, handler, write, widget, run } = project(t)
      expect((await run('--install-crds', '--once')).code).to.equal(0)
      write('bad.yaml', widget('bad', '{size: many}'))
      const sample = await run('--apply', join(directory, 'bad.yaml'), '--once')
      expect(sample.code).to.equal(4)
      expect(sample.log).to.match(/tsop-run: cannot apply Widget\.\S+ bad: .*spec\.size.*\n/)
      handler("scope: 'Cluster', spec: z.object({ size: z.int() })")
      const changed = await run('--install-crds', '--once')
      expect(changed.code).to.equal(4)
      expect(changed.log).to.match(/tsop-run: cannot install the definition widgets\.\S+: .*immutable.*\n/)
    }),
  )

  it(
    'exits with 1 with --once where an object failed or waits, and names it',
    inNamespace(async (t) => {
      const { directory, handler, write, widget, run } = project(t)
      handler(
        'spec: z.object({ size: z.int() })',
        `if (widget.spec.size === 1) throw new Error('no luck'); if (widget.spec.size === 2) return requeueAfter('1h', { message: 'patience' })`,
      )
      write('samples.yaml', ['failing', 'waiting', 'fine'].map((name, i) => widget(name, `{size: ${i + 1}}`)).join('---\n'))
      const { code, log } = await run('--install-crds', '--apply', join(directory, 'samples.yaml'), '--once', '--timeout', '1s')
      expect(code, log).to.equal(1)
      expect(log).to.match(/"level":"error".*\/failing","msg":"not done: ReconcileFailed: no luck"/)
      expect(log).to.match(/"level":"warn".*\/waiting","msg":"waits: patience"/)
      expect(log).to.include('not all is done: 1 failed, 1 waits')
    }),
  )

  it(
    'starts without its definition, says so, and works once it is there',
    inNamespace(async (t) => {
      const { directory, widget, write, run, Widget } = project(t)
      const operator = await t.startOperator({ handlers: directory })
      expect(operator.log).to.match(/"state":"failing"/)
      write('samples.yaml', widget('late', '{size: 1}'))
      expect((await run('--install-crds', '--apply', join(directory, 'samples.yaml'), '--once')).code).to.equal(0)
      await t.until(
        async () => (await t.client.find(Widget, t.ref('late')))?.status?.observedGeneration === 1,
        'the late widget to be reconciled',
      )
      expect(await operator.stop()).to.equal(0)
    }),
  )
})
