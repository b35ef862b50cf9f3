import { expect } from 'chai'
import { CONFIG_MAPS, REGISTRATION, startWorld, text, type World } from './world.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const denied = (message: string, binding = " with binding 'p'") =>
  `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p'${binding} denied request: ${message}`

describe('a ValidatingAdmissionPolicy', () => {
  let world: World

  beforeEach(async () => {
    world = await startWorld()
  })
  afterEach(() => world.server.close())

  async function policy(spec: object, binding: object = {}, name = 'p'): Promise<void> {
    const made = [
      await world.post(`${REGISTRATION}/validatingadmissionpolicies`, {
        metadata: { name },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
            ],
          },
          ...spec,
        },
      }),
      await world.post(`${REGISTRATION}/validatingadmissionpolicybindings`, {
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'], ...binding },
      }),
    ]
    for (const { status, body } of made) if (status !== 201) throw new Error(body.message)
  }

  it('denies what its expression is false for', async () => {
    await policy({ validations: [{ expression: "has(object.data) && 'ok' in object.data" }] })
    const { status, body } = await world.configMap('a', { x: '1' })
    expect([status, body.reason]).to.deep.equal([422, 'Invalid'])
    expect(body.message).to.equal(denied("failed expression: has(object.data) && 'ok' in object.data"))
    expect(body.details.causes).to.deep.equal([{ message: body.message.slice('configmaps "a" is forbidden: '.length) }])
    expect((await world.configMap('a', { ok: '1' })).status).to.equal(201)
  })

  it('is nothing without a binding, and one that is gone is forgotten', async () => {
    await policy({ validations: [{ expression: 'false' }] })
    await world.delete(`${REGISTRATION}/validatingadmissionpolicybindings/p`)
    expect((await world.configMap('a')).status).to.equal(201)
  })

  it('says why in the words of its message, or of its message expression', async () => {
    await policy({
      validations: [
        {
          expression: "object.metadata.name != 'a'",
          message: 'no',
          messageExpression: "'no ' + object.metadata.name",
          reason: 'Forbidden',
        },
      ],
    })
    expect(text(await world.configMap('a'))).to.equal(`403 ${denied('no a')}`)
  })

  it('falls back to its message where the expression of it fails or gives two lines', async () => {
    await policy({ validations: [{ expression: 'false', message: 'plain', messageExpression: 'string(object.data.x)' }] })
    expect(text(await world.post(CONFIG_MAPS, { metadata: { name: 'a' } }))).to.equal(`422 ${denied('plain')}`)
    expect(text(await world.configMap('a', { x: 'one\ntwo' }))).to.equal(`422 ${denied('plain')}`)
  })

  it('that cannot be told denies, unless failures are to be ignored', async () => {
    await policy({ validations: [{ expression: 'int(object.data.x) > 1', message: 'small' }] })
    const error = "expression 'int(object.data.x) > 1' resulted in error: no such key: data"
    expect(text(await world.post(CONFIG_MAPS, { metadata: { name: 'a' } }))).to.equal(`422 ${denied(error)}`)
    await world.merge(`${REGISTRATION}/validatingadmissionpolicies/p`, { spec: { failurePolicy: 'Ignore' } })
    expect((await world.post(CONFIG_MAPS, { metadata: { name: 'b' } })).status).to.equal(201)
    expect(text(await world.configMap('a', { x: '1' }))).to.equal(`422 ${denied('small')}`)
  })

  it('warns where its binding wants no more', async () => {
    await policy({ validations: [{ expression: 'false', message: 'careful' }] }, { validationActions: ['Warn', 'Audit'] })
    const { status, headers } = await world.configMap('a')
    expect(status).to.equal(201)
    expect(headers.warning).to.deep.equal([`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': careful"`])
  })

  it('sees old and new object, request and namespace', async () => {
    await world.configMap('a', { x: '1' })
    const facts = [
      "request.operation + ' ' + request.userInfo.username + ' ' + string(request.dryRun)",
      "' ' + request.kind.kind + ' ' + request.name + ' ' + namespaceObject.metadata.labels['kubernetes.io/metadata.name']",
      "' ' + (oldObject == null ? '-' : oldObject.data.x) + ' ' + (object == null ? '-' : object.data.x)",
    ]
    await policy({ validations: [{ expression: 'false', messageExpression: facts.join(' + ') }] })
    const change = await world.merge(`${CONFIG_MAPS}/a`, { data: { x: '2' } })
    expect(change.body.message).to.equal(denied('UPDATE kubernetes-admin false ConfigMap a default 1 2'))
    const removal = await world.delete(`${CONFIG_MAPS}/a`)
    expect(removal.body.message).to.equal(denied('DELETE kubernetes-admin false ConfigMap a default 1 -'))
  })

  it('is for requests that its conditions are true for', async () => {
    await policy({
      matchConditions: [{ name: 'x', expression: "object.data.x == 'a'" }],
      validations: [{ expression: 'false', message: 'no' }],
    })
    expect((await world.configMap('b', { x: 'b' })).status).to.equal(201)
    expect(text(await world.configMap('a', { x: 'a' }))).to.equal(`422 ${denied('no')}`)
  })

  it('evaluates each of its variables once, and only when it is used', async () => {
    await policy({
      variables: [
        { name: 'bad', expression: 'int(object.data.nope)' },
        { name: 'n', expression: 'int(object.data.n)' },
        { name: 'twice', expression: 'variables.n * 2' },
      ],
      validations: [{ expression: 'variables.twice < 10 || variables.bad > 1', messageExpression: "'got ' + string(variables.twice)" }],
    })
    expect((await world.configMap('b', { n: '4' })).status).to.equal(201)
    expect(text(await world.configMap('a', { n: '5' }))).to.match(/composited variable "bad" fails to evaluate: no such key: nope$/)
  })

  it('takes its parameters from the objects that its binding names or selects', async () => {
    await world.configMap('limits-a', { max: '3' }, { labels: { limits: 'yes' } })
    await world.configMap('limits-b', { max: '2' }, { labels: { limits: 'yes' } })
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'counted', expression: 'object != null && has(object.data.n)' }],
      validations: [{ expression: 'int(object.data.n) <= int(params.data.max)', messageExpression: "'more than ' + params.data.max" }],
    }
    await policy(spec, { paramRef: { selector: { matchLabels: { limits: 'yes' } }, parameterNotFoundAction: 'Deny' } })
    expect((await world.configMap('b', { n: '2' })).status).to.equal(201)
    expect(text(await world.configMap('a', { n: '3' }))).to.equal(`422 ${denied('more than 2')}`)
    await world.delete(`${CONFIG_MAPS}/limits-a`)
    await world.delete(`${CONFIG_MAPS}/limits-b`)
    const none = 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'
    expect(text(await world.configMap('a', { n: '1' }))).to.equal(`422 ${denied(none)}`)
  })

  it('without parameters lets pass where its binding allows that, and with a kind there is not denies', async () => {
    await policy(
      { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'params == null', message: 'has some' }] },
      { paramRef: { name: 'none', parameterNotFoundAction: 'Allow' } },
    )
    expect((await world.configMap('b')).status).to.equal(201)
    await policy({ paramKind: { apiVersion: 'x.io/v1', kind: 'Nope' }, validations: [{ expression: 'true' }] }, {}, 'q')
    expect((await world.configMap('a')).body.message).to.equal(
      `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'q' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Nope'`,
    )
  })

  it('fences writers by the holder of a Lease, from its next change on', async () => {
    await world.post(LEASES, { metadata: { name: 'leader' }, spec: { holderIdentity: 'me', leaseTransitions: 3 } })
    await policy(
      {
        paramKind: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
        validations: [{ expression: 'int(object.data.term) >= params.spec.leaseTransitions', message: 'stale leader' }],
      },
      { paramRef: { name: 'leader', namespace: 'default', parameterNotFoundAction: 'Deny' } },
    )
    expect((await world.configMap('b', { term: '3' })).status).to.equal(201)
    await world.merge(`${LEASES}/leader`, { spec: { leaseTransitions: 4 } })
    expect(text(await world.configMap('a', { term: '3' }))).to.equal(`422 ${denied('stale leader')}`)
  })

  it('leaves out what it excludes', async () => {
    await policy({
      matchConstraints: {
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
        excludeResourceRules: [{ apiGroups: [''], apiVersions: ['*'], operations: ['*'], resources: ['configmaps'], resourceNames: ['b'] }],
      },
      validations: [{ expression: 'false', message: 'no' }],
    })
    expect((await world.configMap('b')).status).to.equal(201)
    expect(text(await world.configMap('a'))).to.equal(`422 ${denied('no')}`)
  })

  const refused: readonly [string, object, string][] = [
    ['that is no expression', { validations: [{ expression: 'object.' }] }, 'spec.validations[0].expression'],
    [
      'that is no bool',
      { validations: [{ expression: "'a'" }] },
      `spec.validations[0].expression: Invalid value: "'a'": must evaluate to bool but got string`,
    ],
    ['of which nobody knows the type', { validations: [{ expression: 'object.spec.x' }] }, 'must evaluate to bool but got dyn'],
    ['with parameters it has not', { validations: [{ expression: 'params.x == 1' }] }, "undeclared reference to 'params'"],
    ['of a request that it knows better', { validations: [{ expression: "request.nope == 'x'" }] }, "undefined field 'nope'"],
    [
      'of a variable declared later',
      {
        variables: [
          { name: 'a', expression: 'variables.b' },
          { name: 'b', expression: '1' },
        ],
        validations: [{ expression: 'true' }],
      },
      'spec.variables[0].expression',
    ],
    [
      'of a message that is no text',
      { validations: [{ expression: 'true', messageExpression: '1' }] },
      'must evaluate to string but got int',
    ],
    [
      'of a message that asks the authorizer',
      { validations: [{ expression: 'true', messageExpression: "authorizer.path('/').check('get').reason()" }] },
      "undeclared reference to 'authorizer'",
    ],
    [
      'of a condition that is no bool',
      { matchConditions: [{ name: 'x', expression: '1' }], validations: [{ expression: 'true' }] },
      'spec.matchConditions[0]',
    ],
  ]
  for (const [what, spec, expected] of refused) {
    it(`is refused with an expression ${what}`, async () => {
      const error = await policy(spec).then(
        () => 'nothing',
        ({ message }) => message,
      )
      expect(error).to.include(expected)
    })
  }

  it('asks the authorizer what the user may do otherwise', async () => {
    const secured = await startWorld({ rbac: true, token: 't' })
    const admin = { authorization: 'Bearer t' }
    const send = (url: string, body: object, headers = {}) => secured.request('POST', url, body, { ...admin, ...headers })
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }
    await send('/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'r' }, rules: [rule] })
    await send('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'r' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
      subjects: [
        { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' },
        { kind: 'ServiceAccount', namespace: 'default', name: 'default' },
      ],
    })
    const may = "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"
    const self = "authorizer.requestResource.check('create').allowed()"
    const account = "authorizer.serviceAccount('default', 'default').group('').resource('configmaps').check('create').allowed()"
    await send(`${REGISTRATION}/validatingadmissionpolicies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] },
        validations: [
          { expression: self, message: 'self' },
          { expression: `!${account}`, message: 'account' },
          { expression: may, message: 'secrets' },
        ],
      },
    })
    await send(`${REGISTRATION}/validatingadmissionpolicybindings`, {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Warn'] },
    })
    const warnings = async (headers: object) => {
      const answer = await send(`${CONFIG_MAPS}?dryRun=All`, { metadata: { name: 'a' } }, headers)
      return [answer.headers.warning ?? []].flat().map((each) => String(each).replace(/^.*: (\w+)"$/, '$1'))
    }
    expect(await warnings({})).to.deep.equal(['account'])
    expect(await warnings({ 'impersonate-user': 'bob' })).to.deep.equal(['account', 'secrets'])
    await secured.server.close()
  })
})
