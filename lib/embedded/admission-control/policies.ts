/** ValidatingAdmissionPolicies: rules in CEL, bound to what they are about and to their parameters. */
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import { ApiError, type StatusCause } from '../status.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { versioned } from './convert.ts'
import { isExempt, matchedType } from './matching.ts'
import { collectParams, paramType } from './params.ts'
import { matchCriteria } from './policy-match.ts'
import type { CompiledPolicy, Decision } from './policy-program.ts'
import { refusal } from './refusal.ts'

const GROUP = 'admissionregistration.k8s.io'

interface Denial {
  readonly policy: string
  /** Absent: the policy itself cannot be applied. */
  readonly binding?: string
  readonly message: string
  readonly reason?: string
}

export function validatingPolicies(core: Core): AdmissionPlugin {
  const policies = core.store.bucket(`${GROUP}/validatingadmissionpolicies`)
  const bindings = core.store.bucket(`${GROUP}/validatingadmissionpolicybindings`)
  const compiled = new WeakMap<ApiObject, CompiledPolicy>()
  return {
    name: 'ValidatingAdmissionPolicy',
    validate(request) {
      if (policies.size === 0 || bindings.size === 0 || isExempt(request.type)) return undefined
      return decide(core, request, compiled)
    },
  }
}

async function decide(core: Core, request: AdmissionRequest, compiled: WeakMap<ApiObject, CompiledPolicy>): Promise<void> {
  const denials: Denial[] = []
  const bindings = core.lookup.list(GROUP, 'validatingadmissionpolicybindings')
  for (const policy of core.lookup.list(GROUP, 'validatingadmissionpolicies')) {
    const own = bindings.filter((binding) => binding.spec.policyName === policy.metadata.name)
    if (own.length === 0) continue
    const type = matched(core, request, policy, undefined, policy.spec.matchConstraints, denials)
    if (type === undefined) continue
    const { paramKind } = policy.spec
    if (paramKind !== undefined && paramType(core, paramKind) === undefined) {
      const text = `failed to find resource referenced by paramKind: '${paramKind.apiVersion}, Kind=${paramKind.kind}'`
      misconfigured(policy, undefined, text, denials)
      continue
    }
    const program = compiled.get(policy) ?? (await compile(policy))
    compiled.set(policy, program)
    for (const binding of own) await applyBinding(core, request, policy, binding, type, program, denials)
  }
  if (denials.length > 0) throw denied(request, denials[0] as Denial)
}

async function compile(policy: ApiObject): Promise<CompiledPolicy> {
  const { compilePolicy } = await import('./policy-program.ts')
  return compilePolicy(policy.spec)
}

/** A namespace that is not there is a fault of configuration. */
function matched(
  core: Core,
  request: AdmissionRequest,
  policy: ApiObject,
  binding: ApiObject | undefined,
  resources: object | undefined,
  denials: Denial[],
): ResourceType | undefined {
  try {
    return matchedType(core, request, matchCriteria(resources ?? {}))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    misconfigured(policy, binding, error.message, denials)
    return undefined
  }
}

function misconfigured(policy: ApiObject, binding: ApiObject | undefined, text: string, denials: Denial[]): void {
  if (policy.spec.failurePolicy === 'Ignore') return
  const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${text}`
  const bound = binding === undefined ? {} : { binding: binding.metadata.name as string }
  denials.push({ policy: policy.metadata.name as string, ...bound, message })
}

async function applyBinding(
  core: Core,
  request: AdmissionRequest,
  policy: ApiObject,
  binding: ApiObject,
  type: ResourceType,
  program: CompiledPolicy,
  denials: Denial[],
): Promise<void> {
  const { matchResources, paramRef, validationActions = [] } = binding.spec
  if (matchResources !== undefined && matched(core, request, policy, binding, matchResources, denials) === undefined) return
  const collected = collectParams(core, policy.spec.paramKind, paramRef, request.namespace)
  if ('error' in collected) return misconfigured(policy, binding, collected.error, denials)
  const names = { policy: policy.metadata.name as string, binding: binding.metadata.name as string }
  const objects = await versioned(request, type)
  for (const params of collected.params) {
    const decisions = await program.decide({ core, request, type, objects, params })
    for (const decision of decisions) act(request, validationActions, names, decision, denials)
  }
}

function act(
  request: AdmissionRequest,
  actions: readonly string[],
  names: { readonly policy: string; readonly binding: string },
  { message, reason }: Decision,
  denials: Denial[],
): void {
  for (const action of actions) {
    if (action === 'Deny') denials.push({ ...names, message, ...(reason === undefined ? {} : { reason }) })
    else if (action === 'Warn') {
      request.warn(`Validation failed for ValidatingAdmissionPolicy '${names.policy}' with binding '${names.binding}': ${message}`)
    }
  }
}

const CODES: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 }

function denied(request: AdmissionRequest, { policy, binding, message, reason = 'Invalid' }: Denial): ApiError {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`
  const text = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${message}`
  const causes: readonly StatusCause[] = [{ message: text }]
  const error = refusal(request, text, causes)
  return new ApiError(CODES[reason] ?? 422, reason, error.message, error.details)
}
