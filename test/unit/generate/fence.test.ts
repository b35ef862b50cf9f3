import { expect } from 'chai'
import { kind, onReconcile, owns, type ReconcileOptions, resource, z } from 'tsop'
import { ConfigMap, Lease, Pod, StatefulSet } from 'tsop/kinds'
import { collect, type HandlerClass } from '../../../lib/decorators/collect.ts'
import { fence, fenceFiles } from '../../../lib/generate/fence.ts'
import type { OperatorModel } from '../../../lib/generate/operator.ts'
import { parseYaml } from '../../../lib/resource/yaml.ts'

const Widget = resource({ group: 'example.com', version: 'v1', kind: 'Widget', spec: z.object({}), status: z.object({}) })
const Site = resource({ group: 'example.com', version: 'v1', kind: 'Site', scope: 'Cluster', spec: z.object({}) })

interface Policy {
  spec: {
    failurePolicy: string
    paramKind: object
    matchConstraints: { resourceRules: { apiGroups: string[]; operations: string[]; resources: string[] }[] }
    matchConditions: { expression: string }[]
    validations: { expression: string }[]
  }
}
interface Binding {
  spec: { policyName: string; paramRef: object; validationActions: string[]; matchResources?: object }
}

const owner = (primary: typeof Widget | typeof Site, options: ReconcileOptions<never> = {}): HandlerClass => {
  class Handler {
    @onReconcile(primary as typeof Widget, options as ReconcileOptions)
    reconcile() {}
    @owns(StatefulSet)
    set() {
      return {}
    }
  }
  return Handler
}

function of(handlers: readonly HandlerClass[], rest: Partial<OperatorModel> = {}) {
  const model: OperatorModel = {
    operator: 'shop',
    name: 'shop',
    home: 'sys',
    namespaces: undefined,
    specs: handlers.map((each) => collect(each)),
    ...rest,
  }
  const [policy, binding] = fence(model) as unknown as [Policy, Binding]
  return { policy, binding, model }
}

const resources = ({ spec }: Policy) =>
  spec.matchConstraints.resourceRules.flatMap(({ apiGroups, resources }) => resources.map((each) => `${apiGroups[0]}/${each}`))

describe('the fence of an operator', () => {
  it('covers all that the operator may write, and their status', () => {
    const uses = [
      { kind: Pod, verbs: ['create'] as const, subresource: 'eviction' },
      { kind: ConfigMap, verbs: ['get'] as const },
      { kind: kind('other.io/v1', 'Thing', { plural: 'things', scope: 'Namespaced' }), verbs: ['update'] as const },
    ]
    const { policy } = of([owner(Widget, { uses } as never)])
    expect(resources(policy)).to.deep.equal([
      '/pods/eviction',
      'apps/statefulsets',
      'apps/statefulsets/status',
      // The class has no @onDelete, so that it writes only the status of its kind.
      'example.com/widgets/status',
      'other.io/things',
      'other.io/things/status',
    ])
    for (const { operations } of policy.spec.matchConstraints.resourceRules)
      expect(operations).to.deep.equal(['CREATE', 'UPDATE', 'DELETE'])
  })

  it('leaves out Leases, Events, and questions about rights: a standby needs them', () => {
    const review = kind('authorization.k8s.io/v1', 'SubjectAccessReview', { plural: 'subjectaccessreviews', scope: 'Cluster' })
    const uses = [
      { kind: Lease, verbs: ['update'] as const },
      { kind: review, verbs: ['create'] as const },
    ]
    const { policy } = of([owner(Widget, { uses } as never)])
    expect(resources(policy).join()).to.not.match(/lease|event|review|finalizers/)
  })

  it('concerns the operator only, and asks for its pod by the name in the token', () => {
    const { policy } = of([owner(Widget)])
    expect(policy.spec.matchConditions.map(({ expression }) => expression)).to.deep.equal([
      "request.userInfo.username == 'system:serviceaccount:sys:shop'",
    ])
    expect(policy.spec.validations[0]?.expression).to.contain(
      "extra['authentication.kubernetes.io/pod-name'][0] == params.spec.holderIdentity",
    )
    expect(policy.spec.failurePolicy).to.equal('Fail')
  })

  it('does not shut everybody out while there is no Lease', () => {
    const { binding } = of([owner(Widget)])
    expect(binding.spec.paramRef).to.deep.equal({ name: 'shop', namespace: 'sys', parameterNotFoundAction: 'Allow' })
    expect(binding.spec).to.include({ policyName: 'shop-fence' })
    expect(binding.spec.validationActions).to.deep.equal(['Deny'])
  })

  it('looks at the namespaces of the operator only, where it writes nowhere else', () => {
    const selector = (names: string[]) => ({
      namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: names }] },
    })
    expect(of([owner(Widget)], { namespaces: ['b', 'a'] }).binding.spec.matchResources).to.deep.equal(selector(['a', 'b']))
    expect(of([owner(Widget)]).binding.spec).to.not.have.property('matchResources')
    expect(of([owner(Widget), owner(Site)], { namespaces: ['a'] }).binding.spec).to.not.have.property('matchResources')
  })

  it('comes with a Lease without a holder, and a kustomization', () => {
    const files = fenceFiles(of([owner(Widget)]).model)
    expect(files.map(({ path }) => path)).to.deep.equal(['lease.yaml', 'policy.yaml', 'kustomization.yaml'])
    const [lease] = parseYaml(files[0]?.content as string)
    expect(lease?.value).to.deep.include({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' }).and.not.have.property('spec')
  })
})
