/** The official JavaScript client on the embedded server: its informer, its typed calls, its object API, its watches. */
import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node'
import { expect } from 'chai'
import { until } from '../cluster/until.ts'
import { embeddedServer } from './servers.ts'

describe('@kubernetes/client-node', () => {
  let server: Awaited<ReturnType<typeof embeddedServer>>
  let config: KubeConfig
  let core: CoreV1Api

  before(async () => {
    server = await embeddedServer()
    config = new KubeConfig()
    config.loadFromFile(server.kubeconfig)
    core = config.makeApiClient(CoreV1Api)
  })
  after(() => server?.stop())

  const map = (name: string, data: Record<string, string> = {}): V1ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels: { seen: 'yes' } },
    data,
  })

  it('has an informer that follows every change, and goes on after its watch was cut and its version expired', async () => {
    const namespace = 'default'
    const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: 'seen=yes' })
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, 'seen=yes')
    const heard: string[] = []
    for (const event of ['add', 'update', 'delete'] as const) {
      informer.on(event, ({ metadata, data }) => void heard.push(`${event} ${metadata?.name} ${data?.['a'] ?? ''}`.trim()))
    }
    // It stops by itself when something goes wrong; its documentation has it started again so. After the test nobody may, or it
    // asks a server that is gone for ever.
    let over = false
    informer.on('error', () => void setTimeout(() => void (over || informer.start()), 10))
    await core.createNamespacedConfigMap({ namespace, body: map('before') })
    await informer.start()
    try {
      await core.createNamespacedConfigMap({ namespace, body: map('one', { a: '1' }) })
      await core.replaceNamespacedConfigMap({ namespace, name: 'one', body: map('one', { a: '2' }) })
      await core.deleteNamespacedConfigMap({ namespace, name: 'one' })
      const expected = ['add before', 'add one 1', 'update one 2', 'delete one 2']
      await until(
        () => heard.length >= expected.length,
        () => `four events, not ${heard.join(', ')}`,
      )
      expect(heard).to.deep.equal(expected)

      server.server.faults.dropWatches()
      server.server.compact()
      await core.createNamespacedConfigMap({ namespace, body: map('two', { a: '3' }) })
      await until(() => heard.includes('add two 3'), 'what came after the cut')
      expect(informer.list(namespace).map(({ metadata }) => metadata?.name)).to.have.members(['before', 'two'])
    } finally {
      over = true
      await informer.stop()
    }
  })

  it('creates, reads, patches, lists and deletes objects of any kind by its object API', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config)
    await objects.create(map('three', { a: '1' }))
    const read = await objects.read<V1ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'three', namespace: 'default' } })
    expect(read.data).to.deep.equal({ a: '1' })
    const change = { ...map('three'), data: { b: '2' } }
    const merged = await objects.patch<V1ConfigMap>(change, undefined, undefined, 'me', undefined, PatchStrategy.MergePatch)
    expect(merged.data).to.deep.equal({ a: '1', b: '2' })
    const applied = await objects.patch<V1ConfigMap>(
      map('three', { a: '3' }),
      undefined,
      undefined,
      'me',
      true,
      PatchStrategy.ServerSideApply,
    )
    expect(applied.data).to.deep.equal({ a: '3', b: '2' })
    const list = await objects.list('v1', 'ConfigMap', 'default', undefined, undefined, undefined, undefined, 'seen=yes')
    expect(list.items.map(({ metadata }) => metadata?.name)).to.include('three')
    await objects.delete(map('three'))
    const error = await objects.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'three', namespace: 'default' } }).then(
      () => undefined,
      (reason) => reason,
    )
    expect(error).to.include({ code: 404 })
    expect(JSON.parse(error.body)).to.include({ kind: 'Status', reason: 'NotFound', message: 'configmaps "three" not found' })
  })

  it('works with custom resources, their status and their scale', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config)
    const spec = { type: 'object', properties: { size: { type: 'integer' } } }
    await objects.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.client.example.com' },
      spec: {
        group: 'client.example.com',
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
            schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: spec } } },
          },
        ],
      },
    } as never)
    await server.server.settled()
    const things = config.makeApiClient(CustomObjectsApi)
    const where = { group: 'client.example.com', version: 'v1', namespace: 'default', plural: 'things' }
    const body = { apiVersion: 'client.example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { size: 1 } }
    const created = await things.createNamespacedCustomObject({ ...where, body })
    const status = await things.replaceNamespacedCustomObjectStatus({ ...where, name: 'a', body: { ...created, status: { size: 1 } } })
    expect(status).to.deep.include({ spec: { size: 1 }, status: { size: 1 } })
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
    await things.patchNamespacedCustomObjectScale({ ...where, name: 'a', body: { spec: { replicas: 4 } } }, merge)
    const thing = await things.getNamespacedCustomObject({ ...where, name: 'a' })
    expect(thing).to.deep.include({ spec: { size: 4 } })
    expect(thing.metadata.generation).to.equal(2)
  })

  it('makes a Deployment that gets its pods', async () => {
    const apps = config.makeApiClient(AppsV1Api)
    const labels = { app: 'web' }
    const body = {
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
      },
    }
    const created = await apps.createNamespacedDeployment({ namespace: 'default', body })
    expect(created.metadata?.creationTimestamp).to.be.instanceOf(Date)
    await server.server.settled()
    const { items } = await core.listNamespacedPod({ namespace: 'default', labelSelector: 'app=web' })
    expect(items.map(({ status }) => status?.phase)).to.deep.equal(['Pending', 'Pending'])
    const page = await core.listNamespacedPod({ namespace: 'default', labelSelector: 'app=web', limit: 1 })
    expect(page.metadata?._continue).to.be.a('string')
  })

  it('watches with bookmarks and ends when it is told to', async () => {
    const seen: string[] = []
    const list = await core.listNamespacedConfigMap({ namespace: 'default' })
    const query = { resourceVersion: list.metadata?.resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 1 }
    await new Promise<void>((resolve, reject) => {
      new Watch(config)
        .watch(
          '/api/v1/namespaces/default/configmaps',
          query,
          (type) => void seen.push(type),
          (error) => (error === null || error === undefined || (error as Error).name === 'AbortError' ? resolve() : reject(error)),
        )
        .then(() => core.createNamespacedConfigMap({ namespace: 'default', body: map('five') }), reject)
    })
    expect(seen).to.include('ADDED')
  })
})
