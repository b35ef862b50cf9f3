import { expect } from 'chai'
import { inNamespace } from './cluster.ts'
import { gadgetOf } from './fixtures/gadget.ts'
import { logLines, runsOf } from './fixtures/log-lines.ts'
import { conditionOf, isReady, manifest } from './fixtures/objects.ts'
import { Project } from './fixtures/project.ts'
import { Script } from './fixtures/script.ts'

const handlers = 'test/cluster/fixtures/script.ts'

describe('the options of tsop-run', () => {
  it(
    'reconciles with --once what is there, and exits with 0 where all of it is done',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.apply(manifest('Script', 'a'), manifest('Script', 'b', { outcome: 'wait', ready: true }))
      const operator = await t.startOperator({ handlers, args: ['--once'], ready: false })
      expect(await operator.exited, operator.log).to.equal(0)
      for (const name of ['a', 'b']) expect(await conditionOf(t, Script, name, 'Ready')).to.include({ status: 'True' })
    }),
  )

  it(
    'exits with 1 after --once where an object fails or waits, and names each',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.apply(
        manifest('Script', 'good'),
        manifest('Script', 'bad', { outcome: 'error', message: 'no flour' }),
        manifest('Script', 'slow', { outcome: 'wait', message: 'dough rises' }),
        manifest('Script', 'worse', { outcome: 'terminal', message: 'no oven' }),
      )
      const operator = await t.startOperator({ handlers, args: ['--once'], ready: false })
      expect(await operator.exited, operator.log).to.equal(1)
      const told = logLines(operator, { level: 'error' }).filter(({ msg }) => msg.startsWith('not done'))
      expect(told.map((line) => line['name']).sort()).to.deep.equal(['bad', 'slow', 'worse'].map((name) => `${t.namespace}/${name}`))
      expect(told.map(({ msg }) => msg).join())
        .to.include('no flour')
        .and.to.include('dough rises')
        .and.to.include('no oven')
      expect(await conditionOf(t, Script, 'good', 'Ready')).to.include({ status: 'True' })
    }),
  )

  it(
    'exits with 1 after --once where a kind is not there',
    inNamespace(async (t) => {
      const env = { TEST_GROUP: `${t.id}.test.tsop.dev` }
      const operator = await t.startOperator({ handlers: 'test/cluster/fixtures/gadget.ts', args: ['--once'], env, ready: false })
      expect(await operator.exited, operator.log).to.equal(1)
      expect(operator.log).to.include(`Gadget.${t.id}.test.tsop.dev`)
    }),
  )

  it(
    'applies samples with their definitions before it starts',
    inNamespace(async (t) => {
      const group = `${t.id}.test.tsop.dev`
      t.onEnd(() => t.kubectl('delete', 'crd', `gadgets.${group}`, '--ignore-not-found', '--wait=false'))
      const project = new Project(t, {
        'samples/one.yaml': `apiVersion: ${group}/v1\nkind: Gadget\nmetadata: { name: one }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: text }\n`,
        'samples/two.json': JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'two' }, spec: { count: 1 } }),
      })
      const operator = await t.startOperator({
        handlers: 'test/cluster/fixtures/gadget.ts',
        args: ['--install-crds', '--apply', project.path('samples'), '--once'],
        env: { TEST_GROUP: group },
        ready: false,
      })
      expect(await operator.exited, operator.log).to.equal(0)
      for (const name of ['one', 'two']) await isReady(t, gadgetOf(group), name)
      await t.kubectl('get', 'configmap', 'text')
    }),
  )

  it(
    'serves each namespace that -n names, and no other',
    inNamespace(async (t) => {
      await t.install(Script)
      const [second, third] = [`${t.namespace}-b`, `${t.namespace}-c`]
      for (const namespace of [second, third]) {
        await t.kubectl('create', 'namespace', namespace)
        t.onEnd(() => t.kubectl('delete', 'namespace', namespace, '--wait=false'))
      }
      const operator = await t.startOperator({ handlers, args: ['-n', second] })
      for (const [name, namespace] of [
        ['c', third],
        ['b', second],
        ['a', t.namespace],
      ])
        await t.apply(manifest('Script', name!, {}, { namespace }))
      await isReady(t, Script, 'a')
      await t.until(async () => (await t.client.get(Script, { name: 'b', namespace: second })).status, 'the second namespace')
      await t.kubectl('annotate', 'script', 'a', 'look=again')
      await t.until(() => runsOf(operator, 'a').length === 2, 'another run')
      expect(runsOf(operator, 'c')).to.deep.equal([])
    }),
  )

  it(
    'exits with 4 and one line where the credentials are not accepted',
    inNamespace(async (t) => {
      const project = new Project(t, {})
      const kubeconfig = project.path('kubeconfig')
      project.write('kubeconfig', await t.kubectl('config', 'view', '--raw'))
      await t.kubectl('config', 'set-credentials', 'stranger', '--token=wrong', `--kubeconfig=${kubeconfig}`)
      await t.kubectl('config', 'set-context', '--current', '--user=stranger', `--kubeconfig=${kubeconfig}`)
      const operator = await t.startOperator({ handlers, env: { KUBECONFIG: kubeconfig }, ready: false })
      expect(await operator.exited).to.equal(4)
      expect(operator.log).to.match(/^tsop-run: .*401 Unauthorized.*$/m)
      expect(operator.log).to.not.include('    at ')
    }),
  )
})
