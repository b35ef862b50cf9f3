/** Admission policies, quotas and limits. */
import type { Case } from '../case.ts'
import { configMap, container, deployment, S } from '../objects.ts'
import { version, type World } from '../world.ts'

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'
const on = (apiGroups: string[], resources: string[], operations = ['CREATE', 'UPDATE']) => ({
  resourceRules: [{ apiGroups, apiVersions: ['*'], operations, resources }],
})

/** In the case's namespace only, and in force when it returns. */
async function policy(t: World, spec: object, binding: object = {}): Promise<void> {
  const name = `policy-${t.id}`
  const probe = { expression: `object == null || !has(object.metadata.name) || object.metadata.name != 'probe-${t.id}'`, message: 'probe' }
  const { validations = [], matchConstraints, ...rest } = spec as { validations?: object[]; matchConstraints: { resourceRules: object[] } }
  const withProbe = { resourceRules: [...matchConstraints.resourceRules, ...on([''], ['secrets']).resourceRules] }
  await t.quiet.post(POLICIES, { metadata: { name }, spec: { ...rest, matchConstraints: withProbe, validations: [...validations, probe] } })
  const here = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': t.namespace } } }
  const bind = (name: string, spec: object) =>
    t.quiet.post(BINDINGS, {
      metadata: { name },
      spec: { policyName: `policy-${t.id}`, validationActions: ['Deny'], matchResources: here, ...spec },
    })
  await bind(name, binding)
  await bind(`probe-${t.id}`, { matchResources: { ...here, ...on([''], ['secrets']) } })
  await inForce(t)
}

/** A real server reads its policies anew every second or so. */
async function inForce(t: World): Promise<void> {
  for (;;) {
    try {
      await t.quiet.post('secrets?dryRun=All', { metadata: { name: `probe-${t.id}` } })
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** What a policy is refused with; the message only where it says more than the causes. */
const tried = (t: World, spec: object) =>
  t.post(
    `${POLICIES}?dryRun=All`,
    { metadata: { name: `p-${t.id}` }, spec },
    {
      pick: ({ kind, details, message, spec }) => (kind === 'Status' ? { details, message: details === undefined ? message : '' } : spec),
    },
  )

export const cases: readonly Case[] = [
  {
    id: 'policy-sees-everything',
    title: 'A policy sees the object, the old one, the request, the namespace and its own variables',
    async run(t) {
      await policy(t, {
        matchConstraints: on([''], ['configmaps'], ['*']),
        variables: [
          { name: 'size', expression: 'object == null ? 0 : size(object.?data.orValue({}))' },
          { name: 'grew', expression: 'oldObject != null && object != null && variables.size > size(oldObject.?data.orValue({}))' },
        ],
        validations: [
          {
            expression: 'variables.size < 3',
            messageExpression:
              "'%d keys in %s by %s'.format([variables.size, namespaceObject.metadata.name.substring(0, 3), request.userInfo.username.size() > 0 ? 'someone' : 'nobody'])",
            reason: 'Forbidden',
          },
          { expression: '!variables.grew', message: 'may not grow' },
          { expression: "request.operation != 'DELETE' || oldObject.metadata.name != 'keep'", message: 'stays' },
        ],
      })
      await t.post('configmaps', configMap('a', { a: '1', b: '2', c: '3' }))
      await t.post('configmaps', configMap('a', { a: '1' }))
      await t.merge('configmaps/a', { data: { b: '2' } })
      await t.merge('configmaps/a', { data: { a: '2' } })
      await t.apply('configmaps/b?fieldManager=m&dryRun=All', configMap('b', { a: '1', b: '2', c: '3' }))
      await t.post('configmaps', configMap('keep'))
      await t.delete('configmaps/keep')
      await t.delete('configmaps/a')
    },
  },
  {
    id: 'policy-warns',
    title: 'A policy that only warns says so in a header; one that both warns and audits lets pass',
    async run(t) {
      const validations = [{ expression: '!has(object.spec.replicas) || object.spec.replicas < 3', message: 'many replicas, "quoted"' }]
      await policy(
        t,
        { matchConstraints: on(['apps'], ['deployments', 'deployments/scale']), validations },
        { validationActions: ['Warn', 'Audit'] },
      )
      await t.post('apps/v1/deployments', deployment('web', { replicas: 3 }))
      await t.merge('apps/v1/deployments/web', { spec: { replicas: 2 } })
      await t.merge('apps/v1/deployments/web/scale', { spec: { replicas: 5 } })
      await t.post('apps/v1/deployments?dryRun=All&fieldValidation=Warn', { ...deployment('two', { replicas: 9, bogus: 1 }) })
    },
  },
  {
    id: 'policy-on-custom',
    title: 'A policy with parameters on a custom kind, its status and its scale',
    async run(t) {
      await t.define({
        plural: 'things',
        kind: 'Thing',
        versions: [
          version(
            'v1',
            { spec: S.object({ n: S.int, replicas: S.int }), status: S.any },
            { subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } },
          ),
        ],
      })
      const thing = (name: string, spec: object) => ({ apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name }, spec })
      await policy(t, {
        matchConstraints: on([t.group], ['things', 'things/status', 'things/scale']),
        matchConditions: [{ name: 'not-free', expression: "!has(object.metadata.labels) || !('free' in object.metadata.labels)" }],
        validations: [
          { expression: "request.subResource != '' || object.spec.n <= 5", message: 'n is at most 5' },
          { expression: "request.subResource != 'status' || object.status.ok", messageExpression: "'status of ' + object.metadata.name" },
          { expression: "request.subResource != 'scale' || object.spec.replicas < 4", message: 'scaled too far', reason: 'Invalid' },
        ],
      })
      const path = `${t.group}/v1/things/a`
      await t.post(`${t.group}/v1/things`, thing('a', { n: 6 }))
      await t.post(`${t.group}/v1/things`, thing('a', { n: 5 }))
      await t.merge(`${path}/status`, { status: { ok: false } })
      await t.merge(`${path}/status`, { status: { other: 1 } })
      await t.merge(`${path}/status`, { status: { ok: true } })
      await t.merge(`${path}/scale`, { spec: { replicas: 9 } })
      await t.merge(path, { spec: { n: 9 }, metadata: { labels: { free: '' } } })
    },
  },
  {
    id: 'policy-refused',
    title: 'Policies and bindings that cannot be: expressions, actions, references',
    async run(t) {
      const try_ = (spec: object) => tried(t, spec)
      const matchConstraints = on([''], ['configmaps'])
      await try_({ matchConstraints, validations: [{ expression: 'true' }] })
      await try_({ matchConstraints, validations: [] })
      await try_({ validations: [{ expression: 'true' }] })
      await try_({ matchConstraints, validations: [{ expression: 'object.' }] })
      await try_({ matchConstraints, validations: [{ expression: '1 + 1' }, { expression: 'nothing == 1' }] })
      await try_({ matchConstraints, failurePolicy: 'Maybe', validations: [{ expression: 'true', reason: 'NoReason', message: ' ' }] })
      await t.post(
        `${BINDINGS}?dryRun=All`,
        { metadata: { name: `b-${t.id}` }, spec: { policyName: '', validationActions: ['Deny', 'Warn', 'Shout'] } },
        { pick: ({ details }) => details },
      )
      await t.post(
        `${BINDINGS}?dryRun=All`,
        {
          metadata: { name: `b-${t.id}` },
          spec: { policyName: 'p', validationActions: ['Deny', 'Warn'], paramRef: { name: 'x', selector: {} } },
        },
        { pick: ({ details }) => details },
      )
    },
  },
  {
    id: 'policy-wrong-in-both-ways',
    title: 'A policy with wrong names and wrong expressions is told both at once',
    deviates: 'expressions-last',
    async run(t) {
      const matchConstraints = on([''], ['configmaps'])
      await tried(t, {
        matchConstraints,
        variables: [
          { name: '1x', expression: 'true' },
          { name: 'a', expression: 'variables.b' },
          { name: 'a', expression: '1' },
        ],
        validations: [{ expression: 'variables.a == 1' }],
      })
      await tried(t, {
        matchConstraints: on([''], ['*', 'pods/']),
        matchConditions: [{ name: '', expression: 'x' }],
        auditAnnotations: [{ key: 'k k', valueExpression: '1' }],
      })
    },
  },
  {
    id: 'limits-and-quota',
    title: 'A limit range fills in and refuses; a quota of pods and of objects counts',
    async run(t) {
      await t.post('limitranges', {
        metadata: { name: 'l' },
        spec: {
          limits: [
            {
              type: 'Container',
              default: { cpu: '500m' },
              defaultRequest: { cpu: '100m', memory: '64Mi' },
              max: { cpu: '1' },
              min: { memory: '32Mi' },
            },
          ],
        },
      })
      const pod = (name: string, resources: object = {}) =>
        t.post(
          'pods',
          { metadata: { name }, spec: { containers: [container({ resources })] } },
          { pick: (body) => body.spec?.containers?.[0].resources ?? body },
        )
      // The admission plug-in of a real server reads limits from a cache.
      await t.quiet.until('limitranges/l', ({ status }) => status === 200)
      await new Promise((resolve) => setTimeout(resolve, 500))
      await pod('a')
      await pod('b', { limits: { cpu: '2' } })
      await pod('c', { requests: { cpu: '800m', memory: '16Mi' } })
      await pod('d', { requests: { cpu: '0.2' }, limits: { memory: '1Gi' } })
    },
  },
  {
    id: 'priorities',
    title: 'Priority classes: one that a pod names, one that is not there, one that cannot change',
    async run(t) {
      const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
      const name = `high-${t.id}`
      await t.post(classes, { metadata: { name }, value: 1000, description: 'high' })
      await t.merge(`${classes}/${name}`, { value: 5 })
      await t.post(classes, { metadata: { name: 'system-mine' }, value: 1 })
      await t.post(classes, { metadata: { name: `too-${t.id}` }, value: 2_000_000_000 })
      const pod = (name: string, spec: object) =>
        t.post(
          'pods',
          { metadata: { name }, spec: { containers: [container()], ...spec } },
          {
            pick: ({ kind, message, details, spec }) =>
              kind === 'Status'
                ? { message, details }
                : { priority: spec?.priority, policy: spec?.preemptionPolicy, class: spec?.priorityClassName },
          },
        )
      await pod('a', { priorityClassName: name })
      await pod('b', { priorityClassName: 'none' })
      await pod('c', { priority: 7 })
      await pod('d', { priorityClassName: 'system-node-critical' })
    },
  },
]
