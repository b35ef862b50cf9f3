import { expect } from 'chai'
import { inNamespace } from './cluster.ts'
import { runsOf } from './fixtures/log-lines.ts'
import { conditionOf, isReady, manifest } from './fixtures/objects.ts'
import { Project } from './fixtures/project.ts'
import { Script } from './fixtures/script.ts'

const handlers = 'test/cluster/fixtures/script.ts'

describe('the options of tsop-run', () => {
  it(
    'exits with 0 after --once also where objects only want to be looked at later',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.apply(manifest('Script', 'a'), manifest('Script', 'b', { outcome: 'wait', ready: true }))
      const operator = await t.startOperator({ handlers, args: ['--once'], ready: false })
      expect(await operator.exited, operator.log).to.equal(0)
      for (const name of ['a', 'b']) expect(await conditionOf(t, Script, name, 'Ready')).to.include({ status: 'True' })
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
