import { expect } from 'chai'
import { compact, describeRule, type PolicyRule, ruleAllows, uncovered } from '../../../../lib/embedded/auth/rules.ts'
import type { Attributes } from '../../../../lib/embedded/core.ts'

const request = (over: Partial<Attributes> = {}): Attributes => ({
  user: { name: 'bob', groups: [] },
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'a',
  ...over,
})
const path = (text: string, verb = 'get'): Attributes => ({ ...request({ verb, resource: '' }), path: text })

const allows: readonly [string, PolicyRule, Attributes, boolean][] = [
  ['the verb, group and resource it names', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, request(), true],
  ['no other verb', { verbs: ['list'], apiGroups: [''], resources: ['pods'] }, request(), false],
  ['no other group', { verbs: ['get'], apiGroups: ['apps'], resources: ['pods'] }, request(), false],
  ['everything by stars', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, request({ subresource: 'log' }), true],
  ['no subresource by the resource', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, request({ subresource: 'log' }), false],
  ['a subresource by its name', { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, request({ subresource: 'log' }), true],
  ['a subresource of any resource', { verbs: ['get'], apiGroups: [''], resources: ['*/scale'] }, request({ subresource: 'scale' }), true],
  ['no other subresource', { verbs: ['get'], apiGroups: [''], resources: ['*/scale'] }, request({ subresource: 'status' }), false],
  ['the named object', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }, request(), true],
  ['no other object', { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['b'] }, request(), false],
  [
    'no list by names',
    { verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
    request({ verb: 'list', name: '' }),
    false,
  ],
  ['a path', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, path('/metrics'), true],
  ['paths below by a star', { verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, path('/healthz/etcd'), true],
  ['not the path above', { verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, path('/healthz'), false],
  ['no path by resources', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, path('/metrics'), false],
  ['no resource by paths', { verbs: ['*'], nonResourceURLs: ['*'] }, request(), false],
]

const covering: readonly [string, readonly PolicyRule[], readonly PolicyRule[], string[]][] = [
  [
    'everything held',
    [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    [],
  ],
  [
    'what is held by different rules',
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
    ],
    [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }],
    [],
  ],
  [
    'no whole resource by one name of it',
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'names by the whole resource',
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }],
    [],
  ],
  [
    'no star by its parts',
    [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }],
    [{ verbs: ['*'], apiGroups: [''], resources: ['pods'] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  [
    'paths below a star',
    [{ verbs: ['get'], nonResourceURLs: ['/a*'] }],
    [{ verbs: ['get'], nonResourceURLs: ['/ab', '/b'] }],
    ['{NonResourceURLs:["/b"], Verbs:["get"]}'],
  ],
  [
    'a subresource by a star of it',
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['*/scale'] }],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale', 'deployments'] }],
    ['{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}'],
  ],
  [
    'nothing, told with all verbs of a resource together',
    [],
    [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'] }],
    ['{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'],
  ],
]

describe('an RBAC rule', () => {
  for (const [what, rule, asked, expected] of allows) it(`allows ${what}`, () => expect(ruleAllows(rule, asked)).to.equal(expected))
})

describe('the escalation check', () => {
  for (const [what, held, wanted, missing] of covering) {
    it(`covers ${what}`, () => expect(compact(uncovered(held, wanted)).map(describeRule)).to.deep.equal(missing))
  }
})
