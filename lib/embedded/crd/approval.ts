/** Groups below k8s.io and kubernetes.io belong to the community: a definition in one says who approved it. */
import { type FieldError, invalid, required } from '../field-error.ts'
import type { Condition, Definition } from './definition.ts'

const ANNOTATION = 'api-approved.kubernetes.io'
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111'

const isProtected = (group: string) => /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)

type State = 'missing' | 'bypassed' | 'approved' | 'invalid'

function approval({ metadata }: Definition): { state: State; text: string; value: string } {
  const value = metadata.annotations?.[ANNOTATION] ?? ''
  const groups = `protected groups must have approval annotation "${ANNOTATION}"`
  if (value === '') return { state: 'missing', text: `${groups}, ${SEE}`, value }
  if (value.startsWith('unapproved')) return { state: 'bypassed', text: `not approved: ${JSON.stringify(value)}`, value }
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(value)) return { state: 'approved', text: `approved in ${value}`, value }
  return { state: 'invalid', text: `${groups} with either a URL or a reason starting with "unapproved", ${SEE}`, value }
}

/** What was so before may stay. */
export function approvalErrors(definition: Definition, old?: Definition): FieldError[] {
  if (!isProtected(definition.spec.group ?? '')) return []
  const { state, text, value } = approval(definition)
  if (old !== undefined && approval(old).state === state) return []
  const field = `metadata.annotations[${ANNOTATION}]`
  if (state === 'missing') return [required(field, text)]
  return state === 'invalid' ? [invalid(field, value, text)] : []
}

const REASONS: Readonly<Record<State, string>> = {
  missing: 'MissingAnnotation',
  bypassed: 'UnapprovedAnnotation',
  approved: 'ApprovedAnnotation',
  invalid: 'InvalidAnnotation',
}

/** Undefined: the group is nobody's. */
export function approvalCondition(definition: Definition): Condition | undefined {
  if (!isProtected(definition.spec.group)) return undefined
  const { state, text } = approval(definition)
  const status = state === 'approved' ? 'True' : 'False'
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason: REASONS[state], message: text }
}
