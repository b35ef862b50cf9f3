/** `authorizer.group('apps').resource('deployments').check('create').allowed()`, in admission policies. */
import { labelName, subdomainName } from '../../names.ts'
import { type Library, member } from '../environment.ts'
import { BOOL, STRING, struct } from '../types.ts'
import { CelError, noSuchOverload, Opaque, type Value } from '../values.ts'

/** What a check asks. A path, or a resource. */
export interface Question {
  /** Undefined: whose request it is. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly verb: string
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

export interface Answer {
  readonly allowed: boolean
  readonly reason: string
  readonly error?: string
}

export type Ask = (question: Question) => Answer

export const AUTHORIZER = struct('kubernetes.authorization.Authorizer')
const PATH = struct('kubernetes.authorization.PathCheck')
const GROUP = struct('kubernetes.authorization.GroupCheck')
export const RESOURCE_CHECK = struct('kubernetes.authorization.ResourceCheck')
const DECISION = struct('kubernetes.authorization.Decision')

/** Each call gives a new one that knows a little more. */
class Check extends Opaque {
  readonly typeName: string
  readonly ask: Ask
  readonly question: Question

  constructor(typeName: string, ask: Ask, question: Question) {
    super()
    this.typeName = typeName
    this.ask = ask
    this.question = question
  }

  with(part: Partial<Question>, typeName = this.typeName): Check {
    return new Check(typeName, this.ask, { ...this.question, ...part })
  }

  equals(other: Value): Value {
    return other instanceof Opaque && other.typeName === this.typeName ? other === this : noSuchOverload()
  }
}

class Decision extends Opaque {
  readonly typeName = DECISION.name
  readonly answer: Answer

  constructor(answer: Answer) {
    super()
    this.answer = answer
  }

  equals(other: Value): Value {
    return other instanceof Decision ? other === this : noSuchOverload()
  }
}

/** The variable `authorizer`. */
export const authorizerValue = (ask: Ask): Value => new Check(AUTHORIZER.name, ask, { verb: '' })
/** The variable `authorizer.requestResource`. */
export const resourceCheckValue = (ask: Ask, resource: Omit<Question, 'verb'>): Value =>
  new Check(RESOURCE_CHECK.name, ask, { verb: '', ...resource })

function serviceAccount(check: Check, namespace: string, name: string): Value {
  if (subdomainName(name, false).length > 0) return new CelError('Invalid service account name')
  if (labelName(namespace, false).length > 0) return new CelError('Invalid service account namespace')
  return check.with({ serviceAccount: { namespace, name } })
}

function named(what: 'path' | 'resource', type: string) {
  return (check: Check, value: string): Value =>
    value.trim() === '' ? new CelError(`${what} must not be empty`) : check.with({ [what]: value }, type)
}

const part = (what: 'subresource' | 'namespace' | 'name') => (check: Check, value: string) => check.with({ [what]: value })
const check = (asked: Check, verb: string): Value => new Decision(asked.ask({ ...asked.question, verb }))
/** Selectors narrow what is asked for; RBAC, the authorizer here, does not look at them. */
const same = (asked: Check): Value => asked

export const authorization: Library = {
  path: [member('authorizer_path', [AUTHORIZER, STRING], PATH, named('path', PATH.name))],
  group: [member('authorizer_group', [AUTHORIZER, STRING], GROUP, (asked: Check, group: string) => asked.with({ group }, GROUP.name))],
  serviceAccount: [member('authorizer_serviceaccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, serviceAccount)],
  resource: [member('groupcheck_resource', [GROUP, STRING], RESOURCE_CHECK, named('resource', RESOURCE_CHECK.name))],
  subresource: [member('resourcecheck_subresource', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, part('subresource'))],
  namespace: [member('resourcecheck_namespace', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, part('namespace'))],
  name: [member('resourcecheck_name', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, part('name'))],
  fieldSelector: [member('authorizer_fieldselector', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, same)],
  labelSelector: [member('authorizer_labelselector', [RESOURCE_CHECK, STRING], RESOURCE_CHECK, same)],
  check: [
    member('pathcheck_check', [PATH, STRING], DECISION, check),
    member('resourcecheck_check', [RESOURCE_CHECK, STRING], DECISION, check),
  ],
  errored: [member('decision_errored', [DECISION], BOOL, ({ answer }: Decision) => answer.error !== undefined)],
  error: [member('decision_error', [DECISION], STRING, ({ answer }: Decision) => answer.error ?? '')],
  allowed: [member('decision_allowed', [DECISION], BOOL, ({ answer }: Decision) => answer.allowed)],
  reason: [member('decision_reason', [DECISION], STRING, ({ answer }: Decision) => answer.reason)],
}
