/** Deletion, finalizers, namespaces. */
import type { Case } from '../case.ts'
import { configMap, deployment, ownedBy, S, withoutRevision } from '../objects.ts'
import { type Body, version } from '../world.ts'

const GUARD = 'example.com/guard'

export const cases: readonly Case[] = [
  {
    id: 'finalizers-one-by-one',
    title: 'An object goes when the last of several finalizers is taken away, each by another kind of patch',
    async run(t) {
      const made = await t.post(
        'configmaps',
        configMap('a', {}, { finalizers: ['example.com/one', 'example.com/two', 'example.com/three'] }),
      )
      const watch = await t.watch(`configmaps?watch=1&fieldSelector=metadata.name=a&resourceVersion=${made.body.metadata.resourceVersion}`)
      await t.delete('configmaps/a')
      await t.json('configmaps/a', [{ op: 'remove', path: '/metadata/finalizers/1' }])
      await t.strategic('configmaps/a', { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/three'] } })
      await t.merge('configmaps/a', { metadata: { finalizers: ['example.com/one'] } })
      await t.merge('configmaps/a', { metadata: { finalizers: null } })
      await t.get('configmaps/a')
      await watch.events(4)
    },
  },
  {
    id: 'deleting-object-still-changes',
    title: 'An object that is being deleted takes changes of data and labels, but no new finalizer',
    async run(t) {
      await t.post('configmaps', configMap('a', { k: '1' }, { finalizers: [GUARD] }))
      await t.delete('configmaps/a')
      await t.merge('configmaps/a', { data: { k: '2' }, metadata: { labels: { a: 'b' } } })
      await t.merge('configmaps/a', { metadata: { finalizers: [GUARD, 'example.com/new'] } })
      await t.merge('configmaps/a', { metadata: { finalizers: ['example.com/new'] } })
      await t.apply('configmaps/a?fieldManager=m', configMap('a', { k: '3' }, { finalizers: ['example.com/new'] }))
      await t.merge('configmaps/a', { metadata: { deletionTimestamp: null } })
      await t.post('configmaps', configMap('a'))
      await t.delete('configmaps/a')
    },
  },
  {
    id: 'apply-removes-own-finalizer',
    title: 'An apply without the finalizer that this manager applied before ends an object that is being deleted',
    async run(t) {
      await t.apply('configmaps/a?fieldManager=op', configMap('a', { k: '1' }, { finalizers: [GUARD] }))
      await t.delete('configmaps/a')
      await t.apply('configmaps/a?fieldManager=other', configMap('a', { o: '1' }))
      await t.apply('configmaps/a?fieldManager=op', configMap('a', { k: '1' }))
      await t.get('configmaps/a')
    },
  },
  {
    id: 'delete-with-stale-version',
    title: 'A deletion with the resourceVersion of an older state is refused, and one with that of the newest is not',
    async run(t) {
      const made = await t.post('configmaps', configMap('a'))
      const next = await t.merge('configmaps/a', { data: { k: '1' } })
      await t.delete('configmaps/a', { preconditions: { resourceVersion: made.body.metadata.resourceVersion } })
      await t.delete('configmaps/a', { preconditions: { uid: '11111111-1111-4111-8111-111111111111' } })
      await t.delete('configmaps/a', {
        preconditions: { uid: made.body.metadata.uid, resourceVersion: next.body.metadata.resourceVersion },
      })
      await t.delete('configmaps/a')
    },
  },
  {
    id: 'deletion-options-odd',
    title: 'Options of a deletion that make no sense are refused',
    async run(t) {
      await t.post('configmaps', configMap('a', {}, { finalizers: [GUARD] }))
      await t.delete('configmaps/a', { propagationPolicy: 'Sideways' })
      await t.delete('configmaps/a?propagationPolicy=sideways')
      await t.delete('configmaps/a', { orphanDependents: true, propagationPolicy: 'Orphan' })
      await t.delete('configmaps/a', { gracePeriodSeconds: -1 })
      await t.delete('configmaps/a', { dryRun: ['Some'] })
      await t.delete('configmaps/a', { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', bogus: 1 })
      await t.delete('configmaps/a', { kind: 'ConfigMap', apiVersion: 'v1' })
      await t.delete('configmaps/a', { apiVersion: 'apps/v1', kind: 'DeleteOptions', dryRun: ['All'] })
      await t.merge('configmaps/a', { metadata: { finalizers: null } })
    },
  },
  {
    id: 'dry-run-deletion',
    title: 'A dry run of a deletion answers as the deletion and leaves all as it was',
    async run(t) {
      await t.post('configmaps', configMap('a'))
      await t.post('configmaps', configMap('b', {}, { finalizers: [GUARD] }))
      await t.delete('configmaps/a?dryRun=All')
      await t.delete('configmaps/b', { dryRun: ['All'], propagationPolicy: 'Foreground' })
      await t.delete('configmaps?labelSelector=none=here', { dryRun: ['All'] })
      await t.get('configmaps/a')
      await t.get('configmaps/b')
      await t.merge('configmaps/b', { metadata: { finalizers: null } })
    },
  },
  {
    id: 'recreate-is-another',
    title: 'An object made again under the name of a deleted one is another, and a watch tells so',
    async run(t) {
      const before = await t.get('configmaps', { pick: () => '' })
      const watch = await t.watch(`configmaps?watch=true&resourceVersion=${before.body.metadata.resourceVersion}`)
      await t.post('configmaps', configMap('a', { n: '1' }))
      await t.delete('configmaps/a')
      const again = await t.post('configmaps', configMap('a', { n: '2' }))
      await t.put('configmaps/a', configMap('a', { n: '3' }, { uid: '22222222-2222-4222-8222-222222222222' }))
      await t.put('configmaps/a', configMap('a', { n: '4' }, { uid: again.body.metadata.uid }))
      await watch.events(4)
    },
  },
  {
    id: 'collection-keeps-finalized',
    title: 'Deleting a collection by labels takes what has no finalizer and marks what has',
    async run(t) {
      await t.post('configmaps', configMap('a', {}, { labels: { tier: 'x' } }))
      await t.post('configmaps', configMap('b', {}, { labels: { tier: 'x' }, finalizers: [GUARD] }))
      await t.post('configmaps', configMap('c', {}, { labels: { tier: 'y' } }))
      await t.delete('configmaps?labelSelector=tier in (x,z)&propagationPolicy=Background'.replaceAll(' ', '%20'))
      await t.get('configmaps?labelSelector=tier')
      await t.merge('configmaps/b', { metadata: { finalizers: [] } })
      await t.get('configmaps?labelSelector=tier')
    },
  },
  {
    id: 'foreground-custom',
    title: 'A custom object deleted in the foreground waits for a dependent that holds it, and its status can still change',
    async run(t) {
      await t.define({
        plural: 'parents',
        kind: 'Parent',
        versions: [version('v1', { spec: S.any, status: S.any }, { subresources: { status: {} } })],
      })
      const parents = `${t.group}/v1/parents`
      const parent = await t.post(parents, { apiVersion: `${t.group}/v1`, kind: 'Parent', metadata: { name: 'p' }, spec: { a: 1 } })
      const owner = ownedBy(parent.body, { blockOwnerDeletion: true, controller: true })
      await t.post('configmaps', configMap('child', {}, { ownerReferences: [owner], finalizers: [GUARD] }))
      await t.delete(`${parents}/p`, { propagationPolicy: 'Foreground' })
      await t.until('configmaps/child', ({ body }) => body.metadata?.deletionTimestamp !== undefined)
      await t.merge(`${parents}/p/status`, { status: { phase: 'Going' } })
      await t.merge('configmaps/child', { metadata: { finalizers: null } })
      await t.gone(`${parents}/p`)
    },
  },
  {
    id: 'orphaned-child-keeps-other-owner',
    title: 'Orphaning takes the reference to the owner that goes and leaves those to others',
    async run(t) {
      const one = await t.post('configmaps', configMap('one'))
      const two = await t.post('configmaps', configMap('two'))
      await t.post('configmaps', configMap('both', {}, { ownerReferences: [ownedBy(one.body), ownedBy(two.body, { controller: true })] }))
      await t.post('configmaps', configMap('only', {}, { ownerReferences: [ownedBy(one.body)] }))
      await t.delete('configmaps/one', { propagationPolicy: 'Orphan' })
      await t.gone('configmaps/one')
      // In any order.
      await t.get('configmaps/both', { pick: withoutRevision })
      await t.get('configmaps/only', { pick: withoutRevision })
    },
  },
  {
    id: 'background-chain',
    title: 'Deleting the first of a chain in the background takes the whole chain',
    async run(t) {
      const one = await t.post('configmaps', configMap('one'))
      const two = await t.post('secrets', { metadata: { name: 'two', ownerReferences: [ownedBy({ ...one.body })] } })
      await t.post('configmaps', configMap('three', {}, { ownerReferences: [ownedBy({ apiVersion: 'v1', kind: 'Secret', ...two.body })] }))
      await t.delete('configmaps/one')
      await t.gone('secrets/two')
      await t.gone('configmaps/three')
    },
  },
  {
    id: 'namespace-with-finalizers',
    title: 'A namespace waits for an object with a finalizer, says so, refuses new objects, and goes after it',
    async run(t) {
      const other = `/api/v1/namespaces/more-${t.id}`
      await t.post('/api/v1/namespaces', { metadata: { name: `more-${t.id}`, labels: { team: 'x' } } })
      await t.quiet.until(`${other}/serviceaccounts/default`, ({ status }) => status === 200)
      await t.post(`${other}/configmaps`, configMap('held', {}, { finalizers: [GUARD] }))
      await t.delete(other)
      const waits = ({ body }: { body: Body }) =>
        body.status?.conditions?.some((each: Body) => each.type === 'NamespaceFinalizersRemaining' && each.status === 'True')
      await t.until(other, waits, {
        pick: ({ status }) => ({ ...status, conditions: status.conditions?.map(({ lastTransitionTime, ...each }: Body) => each) }),
      })
      await t.post(`${other}/configmaps`, configMap('new'))
      await t.apply(`${other}/configmaps/new?fieldManager=m`, configMap('new'))
      await t.merge(`${other}/configmaps/held`, { data: { still: 'changes' } })
      await t.merge(`${other}/configmaps/held`, { metadata: { finalizers: null } })
      await t.gone(other)
    },
  },
  {
    id: 'deployment-orphan-by-query',
    title: 'Options in the query count for a deletion without a body; a body wins',
    async run(t) {
      await t.post('apps/v1/deployments', deployment('web', { paused: true, replicas: 0 }))
      await t.delete('apps/v1/deployments/web?propagationPolicy=Foreground&dryRun=All')
      await t.delete('apps/v1/deployments/web?propagationPolicy=Orphan', { propagationPolicy: 'Foreground', dryRun: ['All'] })
      await t.delete('apps/v1/deployments/web?gracePeriodSeconds=5')
      await t.get('apps/v1/deployments/web')
    },
  },
]
