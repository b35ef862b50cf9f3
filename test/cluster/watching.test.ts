import { expect } from 'chai'
import { inNamespace } from './cluster.ts'
import { Badge } from './fixtures/badge.ts'
import { runsOf } from './fixtures/log-lines.ts'
import { isReady, manifest, readyReason } from './fixtures/objects.ts'
import { Pick } from './fixtures/pick.ts'

describe('promise 2: kinds that are not owned map by @watches', () => {
  const handlers = 'test/cluster/fixtures/badge.ts'

  it(
    'wakes the objects that a Secret concerns when it comes, changes and goes',
    inNamespace(async (t) => {
      await t.install(Badge)
      await t.startOperator({ handlers })
      await t.apply(manifest('Badge', 'a', { secretName: 'person' }))
      await readyReason(t, Badge, 'a', 'NobodyThere')
      const shows = (name: string | undefined) =>
        t.until(async () => (await t.client.get(Badge, t.ref('a'))).status?.name === name, `the badge to show ${name}`)

      await t.apply(secret('person', 'Ada'))
      await shows('Ada')
      await isReady(t, Badge, 'a')
      await t.apply(secret('person', 'Grace'))
      await shows('Grace')
      await t.kubectl('delete', 'secret', 'person')
      await shows(undefined)
      await readyReason(t, Badge, 'a', 'NobodyThere')
    }),
  )

  it(
    'lets objects sleep that the change does not concern',
    inNamespace(async (t) => {
      await t.install(Badge)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Badge', 'a', { secretName: 'person' }), manifest('Badge', 'b', { secretName: 'other' }))
      await readyReason(t, Badge, 'a', 'NobodyThere')
      await readyReason(t, Badge, 'b', 'NobodyThere')
      await t.apply(secret('person', 'Ada'))
      await isReady(t, Badge, 'a')
      const runs = runsOf(operator, 'a').length
      await t.apply(secret('other', 'Grace'))
      await isReady(t, Badge, 'b')
      expect(runsOf(operator, 'a')).to.have.length(runs)
    }),
  )

  it(
    'wakes the former target too when a Secret points elsewhere',
    inNamespace(async (t) => {
      await t.install(Badge)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Badge', 'a', { secretName: 'x' }), manifest('Badge', 'b', { secretName: 'x' }))
      await t.apply(secret('pointer', 'Ada', { badge: 'a' }))
      await t.until(() => runsOf(operator, 'a').length === 2, 'the target to run')
      await t.apply(secret('pointer', 'Ada', { badge: 'b' }))
      await t.until(() => runsOf(operator, 'b').length === 2 && runsOf(operator, 'a').length === 3, 'both to run')
    }),
  )
})

describe('what wakes a run can be narrowed', () => {
  const handlers = 'test/cluster/fixtures/pick.ts'

  it(
    'runs only the objects with the labels of the handler, also when they get them later',
    inNamespace(async (t) => {
      await t.install(Pick)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Pick', 'plain'), manifest('Pick', 'mine', {}, { labels: { pick: 'me' } }))
      await isReady(t, Pick, 'mine')
      expect(runsOf(operator, 'plain')).to.have.length(0)
      await t.kubectl('label', 'picks.test.tsop.dev', 'plain', 'pick=me')
      await isReady(t, Pick, 'plain')
    }),
  )

  it(
    'lets objects sleep that `when` leaves out',
    inNamespace(async (t) => {
      await t.install(Pick)
      const labels = { pick: 'me' }
      await t.apply(manifest('Pick', 'early', { paused: true }, { labels }))
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Pick', 'a', { paused: true }, { labels }), manifest('Pick', 'marker', {}, { labels }))
      await isReady(t, Pick, 'marker')
      expect([...runsOf(operator, 'early'), ...runsOf(operator, 'a')]).to.deep.equal([])
      await t.kubectl('patch', 'picks.test.tsop.dev', 'a', '--type=merge', '-p', '{"spec":{"paused":false}}')
      await isReady(t, Pick, 'a')
    }),
  )

  it(
    'runs only the namespaces of the handler, and of those only what the command line serves',
    inNamespace(async (t) => {
      await t.install(Pick)
      const other = `${t.namespace}-b`
      await t.kubectl('create', 'namespace', other)
      t.onEnd(() => t.kubectl('delete', 'namespace', other, '--wait=false'))
      const labels = { pick: 'me' }
      const env = { PICK_NAMESPACES: `${t.namespace},default` }
      const operator = await t.startOperator({ handlers, args: ['-n', other], env })
      await t.apply(manifest('Pick', 'there', {}, { labels, namespace: other }), manifest('Pick', 'here', {}, { labels }))
      await isReady(t, Pick, 'here')
      await t.kubectl('annotate', 'picks.test.tsop.dev', 'here', 'look=again')
      await t.until(() => runsOf(operator, 'here').length === 2, 'another run')
      expect(runsOf(operator, 'there')).to.deep.equal([])
    }),
  )
})

const secret = (name: string, person: string, annotations = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, annotations },
  data: { name: Buffer.from(person).toString('base64') },
})
