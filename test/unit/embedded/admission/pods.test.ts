import { expect } from 'chai'
import { PODS, startWorld, text, type World } from './world.ts'

const DEFAULT = '/api/v1/namespaces/default'
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses'

describe('a new pod', () => {
  let world: World

  beforeEach(async () => {
    world = await startWorld()
  })
  afterEach(() => world.server.close())

  const pod = (spec: object = {}, name = 'p') =>
    world.post(PODS, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'x' }], ...spec } })
  const account = (more: object, name = 'op') => world.post(`${DEFAULT}/serviceaccounts`, { metadata: { name }, ...more })

  it('runs as the default service account, with its token in a volume', async () => {
    const { spec } = (await pod({ initContainers: [{ name: 'i', image: 'x' }] })).body
    expect([spec.serviceAccountName, spec.serviceAccount]).to.deep.equal(['default', 'default'])
    const [{ name, projected }] = spec.volumes
    expect(name).to.match(/^kube-api-access-\w{5}$/)
    expect(projected.sources.map((source: object) => Object.keys(source)[0])).to.deep.equal([
      'serviceAccountToken',
      'configMap',
      'downwardAPI',
    ])
    const mount = { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
    expect([spec.containers[0].volumeMounts, spec.initContainers[0].volumeMounts]).to.deep.equal([[mount], [mount]])
  })

  it('has no token where it, or its account, wants none', async () => {
    await account({ automountServiceAccountToken: false })
    expect((await pod({ automountServiceAccountToken: false }, 'a')).body.spec.volumes).to.equal(undefined)
    expect((await pod({ serviceAccountName: 'op' }, 'b')).body.spec.volumes).to.equal(undefined)
    expect((await pod({ serviceAccountName: 'op', automountServiceAccountToken: true }, 'c')).body.spec.volumes).to.have.length(1)
  })

  it('mounts no token over a mount of its own', async () => {
    const volumeMounts = [{ name: 'v', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }]
    const { spec } = (await pod({ containers: [{ name: 'c', image: 'x', volumeMounts }], volumes: [{ name: 'v', emptyDir: {} }] })).body
    expect(spec.volumes).to.have.length(1)
    expect(spec.containers[0].volumeMounts).to.have.length(1)
  })

  it('gets the pull secrets of its account, unless it has some', async () => {
    await account({ imagePullSecrets: [{ name: 'theirs' }] })
    expect((await pod({ serviceAccountName: 'op' }, 'a')).body.spec.imagePullSecrets).to.deep.equal([{ name: 'theirs' }])
    const own = [{ name: 'mine' }]
    expect((await pod({ serviceAccountName: 'op', imagePullSecrets: own }, 'b')).body.spec.imagePullSecrets).to.deep.equal(own)
  })

  it('needs its account to be there', async () => {
    expect(text(await pod({ serviceAccountName: 'nope' }))).to.equal(
      '403 pods "p" is forbidden: error looking up service account default/nope: serviceaccount "nope" not found',
    )
  })

  it('may be made at once in a new namespace', async () => {
    await world.post('/api/v1/namespaces', { metadata: { name: 'fresh' } })
    const containers = [{ name: 'c', image: 'x' }]
    const answer = await world.post('/api/v1/namespaces/fresh/pods', { metadata: { name: 'p' }, spec: { containers } })
    expect(answer.status).to.equal(201)
  })

  it('has the priority of its class, or of the default one', async () => {
    await world.post(CLASSES, { metadata: { name: 'low' }, value: 7, preemptionPolicy: 'Never' })
    const shown = async (spec: object, name: string) => {
      const { priorityClassName, priority, preemptionPolicy } = (await pod(spec, name)).body.spec
      return [priorityClassName, priority, preemptionPolicy]
    }
    expect(await shown({}, 'a')).to.deep.equal([undefined, 0, 'PreemptLowerPriority'])
    expect(await shown({ priorityClassName: 'low' }, 'b')).to.deep.equal(['low', 7, 'Never'])
    expect(await shown({ priorityClassName: 'system-node-critical' }, 'c')).to.deep.equal([
      'system-node-critical',
      2000001000,
      'PreemptLowerPriority',
    ])
    await world.post(CLASSES, { metadata: { name: 'usual' }, value: 8, globalDefault: true })
    expect(await shown({}, 'd')).to.deep.equal(['usual', 8, 'PreemptLowerPriority'])
    expect(text(await pod({ priorityClassName: 'nope' }))).to.equal('403 pods "p" is forbidden: no PriorityClass with name nope was found')
    expect(text(await pod({ priority: 5 }))).to.match(
      /^403 .*\(5\) must not be provided in pod spec; priority admission controller computed 8/,
    )
    expect(text(await world.post(CLASSES, { metadata: { name: 'other' }, value: 1, globalDefault: true }))).to.match(
      /PriorityClass usual is already marked as default/,
    )
  })

  it('tolerates a node in trouble for five minutes, unless it says otherwise', async () => {
    const keys = (tolerations: { key?: string; tolerationSeconds?: number }[]) =>
      tolerations.map((each) => `${each.key} ${each.tolerationSeconds}`)
    const ready = 'node.kubernetes.io/not-ready'
    const reachable = 'node.kubernetes.io/unreachable'
    expect(keys((await pod({}, 'a')).body.spec.tolerations)).to.deep.equal([`${ready} 300`, `${reachable} 300`])
    const own = { key: ready, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }
    expect(keys((await pod({ tolerations: [own] }, 'b')).body.spec.tolerations)).to.deep.equal([`${ready} 1`, `${reachable} 300`])
    expect((await pod({ tolerations: [{ operator: 'Exists' }] }, 'c')).body.spec.tolerations).to.have.length(1)
  })

  describe('in a namespace with limits', () => {
    beforeEach(async () => {
      const limits = [
        {
          type: 'Container',
          default: { cpu: '500m', memory: '64Mi' },
          defaultRequest: { cpu: '200m' },
          max: { cpu: '1' },
          min: { cpu: '50m' },
          maxLimitRequestRatio: { cpu: '4' },
        },
        { type: 'Pod', max: { memory: '100Mi' } },
        { type: 'PersistentVolumeClaim', max: { storage: '2Gi' }, min: { storage: '1Gi' } },
      ]
      await world.post(`${DEFAULT}/limitranges`, { metadata: { name: 'lr' }, spec: { limits } })
    })

    it('gets their defaults, and a note about it', async () => {
      const { metadata, spec } = (await pod()).body
      expect(spec.containers[0].resources).to.deep.equal({
        limits: { cpu: '500m', memory: '64Mi' },
        requests: { cpu: '200m', memory: '64Mi' },
      })
      expect(metadata.annotations['kubernetes.io/limit-ranger']).to.equal(
        'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c',
      )
    })

    const resources = (limits: object, requests?: object) => ({ resources: { limits, ...(requests === undefined ? {} : { requests }) } })
    const refused: readonly [string, object[], string][] = [
      ['a limit above the maximum', [resources({ cpu: '2' }, { cpu: '900m' })], 'maximum cpu usage per Container is 1, but limit is 2'],
      [
        'a request below the minimum',
        [resources({ cpu: '100m' }, { cpu: '10m' })],
        'minimum cpu usage per Container is 50m, but request is 10m',
      ],
      [
        'too much between the two',
        [resources({ cpu: '1' }, { cpu: '100m' })],
        'cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000',
      ],
      [
        'more than a pod may have together',
        [resources({ cpu: '200m', memory: '80Mi' }), resources({ cpu: '200m', memory: '80Mi' })],
        'maximum memory usage per Pod is 100Mi, but limit is 160Mi',
      ],
    ]
    for (const [what, containers, expected] of refused) {
      it(`is refused for ${what}`, async () => {
        const all = containers.map((each, i) => ({ name: `c${i}`, image: 'x', ...each }))
        expect(text(await pod({ containers: all })))
          .to.include(`pods "p" is forbidden: `)
          .and.include(expected)
      })
    }

    it('may not be given claims outside of them', async () => {
      const claim = (storage: string) =>
        world.post(`${DEFAULT}/persistentvolumeclaims`, {
          metadata: { name: 'v' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
        })
      expect(text(await claim('5Gi'))).to.match(/maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 5Gi$/)
      expect(text(await claim('5Mi'))).to.match(/minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Mi$/)
      expect((await claim('1Gi')).status).to.equal(201)
    })
  })
})
