import { expect } from 'chai'
import { CONFIG_MAPS, PODS, patchOf, type Review, startWorld, text, type World } from './world.ts'

const add = (key: string) => patchOf({ op: 'add', path: `/data/${key}`, value: 'yes' })

describe('admission webhooks', () => {
  let world: World

  beforeEach(async () => {
    world = await startWorld()
  })
  afterEach(() => world.server.close())

  it('see who does what to which object, and how', async () => {
    const seen: Review[] = []
    await world.hook('Validating', 'w', (request) => {
      seen.push(request)
      return {}
    })
    await world.configMap('a', { x: '1' })
    await world.request(
      'PATCH',
      `${CONFIG_MAPS}/a?fieldManager=me`,
      { data: { x: '2' } },
      { 'content-type': 'application/merge-patch+json' },
    )
    await world.delete(`${CONFIG_MAPS}/a`)
    const [create, update, remove] = seen
    expect(seen.map((request) => request.operation)).to.deep.equal(['CREATE', 'UPDATE', 'DELETE'])
    expect(create).to.deep.include({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: 'default',
      dryRun: false,
      oldObject: null,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    })
    expect(create.userInfo).to.deep.equal({ username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] })
    expect(create.object.metadata.uid).to.be.a('string')
    expect(update.options).to.deep.equal({ kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' })
    expect([update.oldObject.data, update.object.data]).to.deep.equal([{ x: '1' }, { x: '2' }])
    expect([remove.object, remove.oldObject.data]).to.deep.equal([null, { x: '2' }])
  })

  it('change objects one after the other, by name', async () => {
    await world.hook('Mutating', 'b', ({ object }) => patchOf({ op: 'add', path: '/data/order', value: `${object.data.order}b` }))
    await world.hook('Mutating', 'a', ({ object }) => patchOf({ op: 'add', path: '/data/order', value: `${object.data.order}a` }))
    expect((await world.configMap('x', { order: '' })).body.data).to.deep.equal({ order: 'ab' })
  })

  it('that want to are asked again after a later one has changed the object', async () => {
    const calls: string[] = []
    const called = (name: string, answer: (request: Review) => object) => (request: Review) => {
      calls.push(name)
      return answer(request)
    }
    const labels = ({ object }: Review) => (object.data.late ? add('seen') : {})
    await world.hook('Mutating', 'a', called('a', labels), { reinvocationPolicy: 'IfNeeded' })
    await world.hook(
      'Mutating',
      'b',
      called('b', () => ({})),
      { reinvocationPolicy: 'Never' },
    )
    await world.hook(
      'Mutating',
      'c',
      called('c', () => add('late')),
    )
    expect((await world.configMap('x', { x: '1' })).body.data).to.deep.equal({ x: '1', late: 'yes', seen: 'yes' })
    expect(calls).to.deep.equal(['a', 'b', 'c', 'a'])
  })

  it('make an object whole again: defaults of what they add', async () => {
    const container = { name: 'side', image: 'y' }
    await world.hook('Mutating', 'w', () => patchOf({ op: 'add', path: '/spec/containers/-', value: container }), {
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    })
    const { body } = await world.post(PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'x' }] } })
    const [, side] = body.spec.containers
    expect(side).to.deep.include({ name: 'side', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' })
    // The plugins before it have seen the new container, too.
    expect(side.volumeMounts).to.have.length(1)
  })

  const denials: readonly [string, object, object][] = [
    ['nothing to say', {}, { code: 400, message: 'admission webhook "w.ex.io" denied the request without explanation' }],
    ['a message', { message: 'no' }, { code: 400, message: 'admission webhook "w.ex.io" denied the request: no' }],
    [
      'a reason',
      { reason: 'NotFound' },
      { code: 400, reason: 'NotFound', message: 'admission webhook "w.ex.io" denied the request: NotFound' },
    ],
    [
      'code and causes',
      {
        code: 422,
        reason: 'Invalid',
        message: 'bad',
        details: { causes: [{ field: 'data.a', message: 'm', reason: 'FieldValueInvalid' }] },
      },
      { code: 422, reason: 'Invalid', details: { causes: [{ field: 'data.a', message: 'm', reason: 'FieldValueInvalid' }] } },
    ],
    ['a code of success', { code: 200, message: 'x' }, { code: 400 }],
  ]
  for (const [what, status, expected] of denials) {
    it(`deny with ${what}`, async () => {
      await world.hook('Validating', 'w', () => ({ allowed: false, status }))
      const answer = await world.configMap('a')
      expect(answer.body).to.deep.include(expected)
      expect(answer.status).to.equal(answer.body.code)
      expect((await world.get(`${CONFIG_MAPS}/a`)).status).to.equal(404)
    })
  }

  it('may deny a deletion, mutating ones as well', async () => {
    await world.configMap('a')
    await world.hook('Mutating', 'w', ({ operation }) => ({ allowed: operation !== 'DELETE' }))
    expect((await world.delete(`${CONFIG_MAPS}/a`)).status).to.equal(400)
    expect((await world.get(`${CONFIG_MAPS}/a`)).status).to.equal(200)
  })

  it('warn', async () => {
    await world.hook('Validating', 'w', () => ({ warnings: ['first', 'second one', 'not\nthis'] }))
    expect((await world.configMap('a')).headers.warning).to.deep.equal(['299 - "first"', '299 - "second one"'])
  })

  const wrong: readonly [string, object, string][] = [
    ['the answer to another question', { uid: 'x' }, 'received invalid webhook response: expected response.uid="…", got "x"'],
    [
      'a patch without its type',
      { patch: 'W10=' },
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      'a patch that is none',
      { ...patchOf(), patch: 'eno=' },
      "received undecodable patch in webhook response: invalid character 'z' looking for beginning of value",
    ],
    ['a patch of another type', { ...patchOf({}), patchType: 'Merge' }, 'unsupported patch type "Merge"'],
  ]
  for (const [what, answer, expected] of wrong) {
    it(`that give ${what} have failed`, async () => {
      await world.hook('Mutating', 'w', () => answer)
      const { status, body } = await world.configMap('a')
      expect(status).to.equal(500)
      const shown = body.message.replace(/response\.uid="[^"]*"/, 'response.uid="…"')
      expect(shown).to.equal(`Internal error occurred: failed calling webhook "w.ex.io": ${expected}`)
    })
  }

  it('that fail keep the request away, unless they may be missed', async () => {
    const unreachable = { clientConfig: { service: { namespace: 'default', name: 'nobody' } } }
    await world.hook('Validating', 'w', () => ({}), unreachable)
    expect(text(await world.configMap('a'))).to.equal(
      '500 Internal error occurred: failed calling webhook "w.ex.io": failed to call webhook: ' +
        'Post "https://nobody.default.svc:443?timeout=10s": service "nobody" not found',
    )
    await world.delete('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/w')
    await world.hook('Validating', 'w', () => ({}), { ...unreachable, failurePolicy: 'Ignore' })
    expect((await world.configMap('a')).status).to.equal(201)
  })

  it('may not move an object to another namespace', async () => {
    await world.hook('Mutating', 'w', () => patchOf({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }))
    expect(text(await world.configMap('a'))).to.equal(
      '400 the namespace of the provided object does not match the namespace sent on the request',
    )
  })

  it('that validate may not change anything', async () => {
    await world.hook('Validating', 'w', () => add('x'))
    expect(text(await world.configMap('a'))).to.match(/validating webhook may not return response.patch$/)
  })

  it('are not called where selectors or conditions say no', async () => {
    const no = () => ({ allowed: false })
    await world.hook('Validating', 'labelled', no, { objectSelector: { matchLabels: { check: 'yes' } } })
    await world.hook('Validating', 'conditional', no, {
      matchConditions: [{ name: 'not-free', expression: "!object.metadata.name.startsWith('free')" }],
    })
    await world.hook('Validating', 'elsewhere', no, {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
    })
    expect((await world.configMap('free')).status).to.equal(201)
    expect((await world.configMap('free-2', {}, { labels: { check: 'yes' } })).status).to.equal(400)
    expect((await world.configMap('x')).status).to.equal(400)
  })

  it('refuse a request whose conditions cannot be told', async () => {
    await world.hook('Validating', 'w', () => ({}), { matchConditions: [{ name: 'm', expression: "object.data.x == 'y'" }] })
    expect(text(await world.post(CONFIG_MAPS, { metadata: { name: 'a' } }))).to.equal(
      `403 configmaps "a" is forbidden: expression 'object.data.x == 'y'' resulted in error: no such key: data`,
    )
  })

  it('with side effects are no part of a dry run', async () => {
    let dry: unknown
    await world.hook('Validating', 'w', ({ dryRun }) => {
      dry = dryRun
      return {}
    })
    expect((await world.configMap('a', {}, {}, '?dryRun=All')).status).to.equal(201)
    expect(dry).to.equal(true)
    const bucket = world.server.core.store.bucket('admissionregistration.k8s.io/validatingwebhookconfigurations')
    const { object, revision } = bucket.get('', 'w')!
    const stored = { ...object, metadata: { ...object.metadata }, webhooks: [{ ...object.webhooks[0], sideEffects: 'Some' }] }
    bucket.put('', 'w', stored, revision)
    expect(text(await world.configMap('b', {}, {}, '?dryRun=All'))).to.equal('400 admission webhook "w.ex.io" does not support dry run')
    expect((await world.configMap('b')).status).to.equal(201)
  })

  it('do not decide about their own configurations', async () => {
    await world.hook('Validating', 'w', () => ({ allowed: false }), {
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
      namespaceSelector: {},
    })
    expect((await world.configMap('a')).status).to.equal(400)
    expect((await world.delete('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/w')).status).to.equal(200)
    expect((await world.configMap('a')).status).to.equal(201)
  })

  it('see a request in the version they know, also when it comes in another', async () => {
    const seen: string[] = []
    await world.hook(
      'Mutating',
      'w',
      ({ object, requestKind }) => {
        seen.push(`${object.apiVersion} of ${requestKind.version}`)
        return patchOf({ op: 'add', path: '/metadata/labels', value: { by: 'w' } })
      },
      { rules: [{ apiGroups: ['autoscaling'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['horizontalpodautoscalers'] }] },
    )
    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
    const { status, body } = await world.post('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      metadata: { name: 'h' },
      spec: { scaleTargetRef: target, maxReplicas: 3 },
    })
    expect([status, body.apiVersion, body.metadata.labels]).to.deep.equal([201, 'autoscaling/v2', { by: 'w' }])
    expect(seen).to.deep.equal(['autoscaling/v1 of v2'])
  })
})
