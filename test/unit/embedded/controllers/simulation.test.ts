import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { readyAfterMs, type SimulationOptions } from '../../../../lib/embedded/simulate/options.ts'
import { type Api, apiOf } from '../api.ts'

interface TestEvent {
  readonly involvedObject: { readonly kind: string }
  readonly type: string
  readonly reason: string
  readonly source: { readonly component: string }
  readonly message: string
}

const AT_ONCE: SimulationOptions = { podReadyMs: 0, podRunMs: 0, podStopMs: 0, claimBoundMs: 0 }
const pod = (labels: object, annotations: object = {}, spec: object = {}) => ({
  metadata: { labels, annotations },
  spec: { containers: [{ name: 'c', image: 'img:1', ports: [{ name: 'http', containerPort: 8080 }] }], ...spec },
})

describe('simulated workloads of the embedded API server', () => {
  let server: EmbeddedServer
  let api: Api
  let faults: unknown[]
  let warnings: string[]
  const report = (fault: unknown) => void faults.push(fault)
  const apps = '/apis/apps/v1/namespaces/default'
  const core = '/api/v1/namespaces/default'
  const start = async (options: SimulationOptions = {}) => {
    faults = []
    warnings = []
    server = await createServer({ simulate: { ...AT_ONCE, ...options }, report, warn: (message) => void warnings.push(message) })
    api = apiOf(server)
  }
  const deploy = (replicas: number, template: object = pod({ app: 'd' })) => {
    const spec = { replicas, selector: { matchLabels: { app: 'd' } }, template }
    return api.post(`${apps}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec })
  }
  const pods = async (): Promise<{ metadata: { name: string }; spec: { containers: { image: string }[] }; status: { phase: string } }[]> =>
    (await api.get(`${core}/pods`)).body.items

  afterEach(async () => {
    await server.close()
    expect(faults).to.deep.equal([])
  })

  it('make a Deployment available through a ReplicaSet and pods with an address each', async () => {
    await start()
    expect((await deploy(2)).status).to.equal(201)
    await server.settled()
    const { status } = (await api.get(`${apps}/deployments/d`)).body
    expect(status).to.include({ observedGeneration: 1, replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 })
    expect(status.conditions[0]).to.include({ type: 'Available', status: 'True' })
    const addresses = (await api.get(`${core}/pods`)).body.items.map((each: { status: { podIP: string } }) => each.status.podIP)
    expect(new Set(addresses).size).to.equal(2)
  })

  it('write nothing more once all is as it should be', async () => {
    await start()
    await deploy(2)
    await server.settled()
    const { revision } = server.core.store
    await api.merge(`${apps}/deployments/d`, { metadata: { labels: { touched: 'yes' } } })
    await server.settled()
    expect(server.core.store.revision).to.equal(revision + 1)
  })

  it('tell what they do in Events, and hand a cause of change on, as kubectl rollout history shows it', async () => {
    await start()
    await deploy(1)
    await server.settled()
    await api.merge(`${apps}/deployments/d`, { metadata: { annotations: { 'kubernetes.io/change-cause': 'first' } } })
    await api.merge(`${apps}/deployments/d`, { spec: { replicas: 2 } })
    await server.settled()
    const [set] = (await api.get(`${apps}/replicasets`)).body.items
    expect(set.metadata.annotations).to.include({ 'kubernetes.io/change-cause': 'first' })
    const events: { involvedObject: { kind: string }; message: string }[] = (await api.get(`${core}/events`)).body.items
    const of = (kind: string) => events.filter(({ involvedObject }) => involvedObject.kind === kind).map(({ message }) => message)
    const { name } = set.metadata
    expect(of('Deployment')).to.have.members([`Scaled up replica set ${name} from 0 to 1`, `Scaled up replica set ${name} from 1 to 2`])
    expect(of('ReplicaSet')).to.have.members((await pods()).map(({ metadata }) => `Created pod: ${metadata.name}`))
  })

  it('roll a changed template out, keep the old ReplicaSet, and count revisions', async () => {
    await start()
    await deploy(2)
    await server.settled()
    await api.merge(`${apps}/deployments/d`, { spec: { template: { metadata: { labels: { version: '2' } } } } })
    await server.settled()
    const sets = (await api.get(`${apps}/replicasets`)).body.items
    expect(sets.map((set: { spec: { replicas: number } }) => set.spec.replicas).sort()).to.deep.equal([0, 2])
    expect(await pods()).to.have.length(2)
    const deployment = (await api.get(`${apps}/deployments/d`)).body
    expect(deployment.metadata.annotations['deployment.kubernetes.io/revision']).to.equal('2')
    expect(deployment.status).to.include({ replicas: 2, updatedReplicas: 2, availableReplicas: 2 })
  })

  it('replace a pod that is deleted, and take away those that are too many', async () => {
    await start()
    await deploy(2)
    await server.settled()
    const [first] = await pods()
    await api.delete(`${core}/pods/${first?.metadata.name}`)
    await server.settled()
    const now = (await pods()).map(({ metadata }) => metadata.name)
    expect(now).to.have.length(2).and.not.include(first?.metadata.name)
    await api.merge(`${apps}/deployments/d`, { spec: { replicas: 0 } })
    await server.settled()
    expect(await pods()).to.have.length(0)
  })

  it('end with their owner', async () => {
    await start()
    await deploy(2)
    await server.settled()
    await api.delete(`${apps}/deployments/d`)
    await server.settled()
    expect(await pods()).to.have.length(0)
    expect((await api.get(`${apps}/replicasets`)).body.items).to.have.length(0)
  })

  it('keep a pod waiting for the reason that its annotation names', async () => {
    await start()
    await deploy(1, pod({ app: 'd' }, { 'simulate.tsop.dev/fail': 'ImagePullBackOff' }))
    await server.settled()
    const [{ status }] = (await api.get(`${core}/pods`)).body.items
    expect(status.phase).to.equal('Pending')
    expect(status.containerStatuses[0].state.waiting.reason).to.equal('ImagePullBackOff')
    expect((await api.get(`${apps}/deployments/d`)).body.status).to.include({ unavailableReplicas: 1 })
  })

  it('tell in Events what kubectl describe shows of pods, StatefulSets, Jobs and claims in a cluster', async () => {
    await start()
    const told = async (kind: string) => {
      const { items } = (await api.get(`${core}/events`)).body as { items: TestEvent[] }
      return items
        .filter(({ involvedObject }) => involvedObject.kind === kind)
        .map(({ type, reason, source, message }) => `${type} ${reason} ${source.component}: ${message}`)
    }
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    const spec = {
      serviceName: 's',
      selector: { matchLabels: { app: 's' } },
      template: pod({ app: 's' }),
      volumeClaimTemplates: [claim],
    }
    await api.post(`${apps}/statefulsets`, { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 's' }, spec })
    await server.settled()
    await api.merge(`${apps}/statefulsets/s`, { spec: { replicas: 0 } })
    await server.settled()
    expect(await told('StatefulSet')).to.have.members([
      'Normal SuccessfulCreate statefulset-controller: Create Claim data-s-0 Pod s-0 in StatefulSet s success',
      'Normal SuccessfulCreate statefulset-controller: Create Pod s-0 in StatefulSet s successful',
      'Normal SuccessfulDelete statefulset-controller: Delete Pod s-0 in StatefulSet s successful',
    ])
    // Whether it had to wait for its claim first is chance.
    expect((await told('Pod')).filter((event) => event.startsWith('Normal'))).to.have.members([
      'Normal Scheduled default-scheduler: Successfully assigned default/s-0 to embedded',
      'Normal Started kubelet: Container started',
    ])
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'nope' } }]
    for (const [name, more] of [
      ['waits', pod({}, {}, { volumes })],
      ['fails', pod({}, { 'simulate.tsop.dev/fail': 'ImagePullBackOff' })],
      ['crashes', pod({}, { 'simulate.tsop.dev/fail': '3' })],
    ] as const) {
      await api.post(`${core}/pods`, { apiVersion: 'v1', kind: 'Pod', ...more, metadata: { ...more.metadata, name } })
      await server.settled()
      await api.merge(`${core}/pods/${name}`, { metadata: { labels: { touched: 'yes' } } })
      await server.settled()
    }
    const { uid } = (await api.get(`${core}/pods/crashes`)).body.metadata
    expect((await told('Pod')).filter((event) => event.startsWith('Warning') && !event.includes('data-s-0'))).to.have.members([
      'Warning FailedScheduling default-scheduler: 0/1 nodes are available: persistentvolumeclaim "nope" is not bound.',
      'Warning Failed kubelet: Error: ImagePullBackOff',
      `Warning BackOff kubelet: Back-off restarting failed container c in pod crashes_default(${uid})`,
    ])
    const none = { storageClassName: 'none', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await api.post(`${core}/persistentvolumeclaims`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'p' },
      spec: none,
    })
    await server.settled()
    await api.merge(`${core}/persistentvolumeclaims/p`, { metadata: { labels: { touched: 'yes' } } })
    await server.settled()
    const { volumeName } = (await api.get(`${core}/persistentvolumeclaims/data-s-0`)).body.spec
    expect(await told('PersistentVolumeClaim')).to.have.members([
      `Normal ProvisioningSucceeded simulate.tsop.dev/volumes: Successfully provisioned volume ${volumeName}`,
      'Warning ProvisioningFailed persistentvolume-controller: storageclass.storage.k8s.io "none" not found',
    ])
    const job = (name: string, more: object, annotations: object = {}) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: { backoffLimit: 0, template: pod({}, annotations, { restartPolicy: 'Never' }), ...more },
    })
    const jobs = '/apis/batch/v1/namespaces/default/jobs'
    for (const each of [job('good', {}), job('bad', {}, { 'simulate.tsop.dev/fail': '1' }), job('idle', { suspend: true })])
      await api.post(jobs, each)
    await server.settled()
    const names = new Map((await pods()).map(({ metadata }) => [metadata.name.split('-')[0], metadata.name]))
    expect(await told('Job')).to.have.members([
      `Normal SuccessfulCreate job-controller: Created pod: ${names.get('good')}`,
      `Normal SuccessfulCreate job-controller: Created pod: ${names.get('bad')}`,
      'Normal Completed job-controller: Job completed',
      'Warning BackoffLimitExceeded job-controller: Job has reached the specified backoff limit',
      'Normal Suspended job-controller: Job suspended',
    ])
  })

  it('say once what is wrong with an annotation, and where one belongs, and do without it', async () => {
    await start()
    const wrong = { 'simulate.tsop.dev/ready-after': 'soon', 'simulate.tsop.dev/fail': '0', 'simulate.tsop.dev/fial': 'x' }
    const spec = { replicas: 2, selector: { matchLabels: { app: 'd' } }, template: pod({ app: 'd' }, wrong) }
    const annotations = { 'simulate.tsop.dev/ready-after': '5' }
    await api.post(`${apps}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', annotations }, spec })
    await server.settled()
    expect((await api.get(`${apps}/deployments/d`)).body.status.readyReplicas).to.equal(2)
    expect(warnings.map((text) => text.replace(/^Pod default\/d-\S+:/, 'Pod:')).sort()).to.deep.equal([
      'Deployment default/d: simulate.tsop.dev/ready-after is ignored: it belongs to spec.template.metadata.annotations',
      'Pod: simulate.tsop.dev/fail: "0" is ignored: it takes a reason such as ImagePullBackOff, or an exit code from 1 to 255',
      'Pod: simulate.tsop.dev/fial: "x" is ignored: there are simulate.tsop.dev/ready-after and simulate.tsop.dev/fail',
      'Pod: simulate.tsop.dev/ready-after: "soon" is ignored: it takes seconds, or a duration such as 1m30s',
    ])
  })

  it('take seconds and durations for the time until a pod is ready', () => {
    const after = (text: string) =>
      readyAfterMs({ apiVersion: 'v1', kind: 'Pod', metadata: { annotations: { 'simulate.tsop.dev/ready-after': text } } }, {
        podReadyMs: 7,
      } as never)
    expect(['5', '0.5', '0', '5s', '1m30s', '250ms', 'soon', '-1', '', '5 apples'].map(after)).to.deep.equal([
      5000, 500, 0, 5000, 90_000, 250, 7, 7, 7, 7,
    ])
  })

  it('say instead of a log that nothing runs', async () => {
    await start()
    await deploy(1)
    await server.settled()
    const [{ metadata: { name } = { name: '' } } = {}] = await pods()
    const { body } = await api.get(`${core}/pods/${name}/log`)
    expect(body).to.equal(`pod ${name} is simulated: no container runs, so nothing is logged\n`)
  })

  it('make a pod ready when its annotation says so, not before', async () => {
    await start()
    await deploy(1, pod({ app: 'd' }, { 'simulate.tsop.dev/ready-after': '86400' }))
    // Another workload settles meanwhile; this one waits for its day.
    while ((await pods())[0]?.status.phase !== 'Pending') await new Promise((resolve) => setImmediate(resolve))
    expect((await api.get(`${apps}/deployments/d`)).body.status?.readyReplicas).to.equal(undefined)
  })

  it('bring the pods of a StatefulSet up in order, each with its claim', async () => {
    await start()
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    const spec = {
      replicas: 3,
      serviceName: 's',
      selector: { matchLabels: { app: 's' } },
      template: pod({ app: 's' }),
      volumeClaimTemplates: [claim],
    }
    await api.post(`${apps}/statefulsets`, { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 's' }, spec })
    await server.settled()
    const { status } = (await api.get(`${apps}/statefulsets/s`)).body
    expect(status).to.include({ replicas: 3, readyReplicas: 3, availableReplicas: 3, observedGeneration: 1 })
    const made = (await api.get(`${core}/pods`)).body.items
    expect(made.map((each: { metadata: { name: string } }) => each.metadata.name)).to.deep.equal(['s-0', 's-1', 's-2'])
    const revisions = made.map((each: { metadata: { resourceVersion: string } }) => Number(each.metadata.resourceVersion))
    expect(revisions).to.deep.equal([...revisions].sort((a, b) => a - b))
    const claims = (await api.get(`${core}/persistentvolumeclaims`)).body.items
    expect(claims.map((each: { status: { phase: string } }) => each.status.phase)).to.deep.equal(['Bound', 'Bound', 'Bound'])
    await api.merge(`${apps}/statefulsets/s`, { spec: { replicas: 1 } })
    await server.settled()
    expect((await pods()).map(({ metadata }) => metadata.name)).to.deep.equal(['s-0'])
    expect((await api.get(`${core}/persistentvolumeclaims`)).body.items, 'claims stay').to.have.length(3)
  })

  it('complete a Job, and fail one whose pods fail too often', async () => {
    await start()
    const job = (name: string, annotations: object) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: { completions: 2, parallelism: 2, backoffLimit: 1, template: pod({}, annotations, { restartPolicy: 'Never' }) },
    })
    const jobs = '/apis/batch/v1/namespaces/default/jobs'
    await api.post(jobs, job('good', {}))
    await api.post(jobs, job('bad', { 'simulate.tsop.dev/fail': '1' }))
    await server.settled()
    const types = async (name: string) =>
      (await api.get(`${jobs}/${name}`)).body.status.conditions.map(({ type }: { type: string }) => type)
    expect(await types('good')).to.deep.equal(['SuccessCriteriaMet', 'Complete'])
    expect((await api.get(`${jobs}/good`)).body.status.succeeded).to.equal(2)
    expect(await types('bad')).to.deep.equal(['FailureTarget', 'Failed'])
  })

  it('run a pod of a DaemonSet on every node', async () => {
    await start({ nodes: ['a', 'b'] })
    const spec = { selector: { matchLabels: { app: 'x' } }, template: pod({ app: 'x' }) }
    await api.post(`${apps}/daemonsets`, { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'x' }, spec })
    await server.settled()
    expect((await api.get(`${apps}/daemonsets/x`)).body.status).to.include({ desiredNumberScheduled: 2, numberReady: 2 })
  })

  it('give a Service the addresses of its ready pods, with the number of a named port', async () => {
    await start()
    const spec = { selector: { app: 'd' }, ports: [{ name: 'web', port: 80, targetPort: 'http' }] }
    await api.post(`${core}/services`, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec })
    await deploy(2)
    await server.settled()
    const [subset] = (await api.get(`${core}/endpoints/s`)).body.subsets
    expect(subset.addresses).to.have.length(2)
    expect(subset.ports).to.deep.equal([{ name: 'web', port: 8080, protocol: 'TCP' }])
    const [slice] = (
      await api.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=s')
    ).body.items
    expect(slice.endpoints.map((each: { conditions: { ready: boolean } }) => each.conditions.ready)).to.deep.equal([true, true])
  })

  it('leave the endpoints of a Service alone that has no pods', async () => {
    await start()
    const spec = { selector: { app: 'none' }, ports: [{ name: 'web', port: 80 }] }
    await api.post(`${core}/services`, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec })
    await server.settled()
    const slices = await api.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name=s')
    expect(slices.body.items[0].metadata.generation).to.equal(1)
  })

  it('leave a claim of a class that does not exist pending', async () => {
    await start()
    const spec = { storageClassName: 'none', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await api.post(`${core}/persistentvolumeclaims`, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'p' }, spec })
    await server.settled()
    expect((await api.get(`${core}/persistentvolumeclaims/p`)).body.status.phase).to.equal('Pending')
  })
})
