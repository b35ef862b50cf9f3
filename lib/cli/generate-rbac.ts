/** `tsop generate rbac` */

import { REVIEWS } from '../generate/deploy.ts'
import type { OperatorModel } from '../generate/operator.ts'
import { covers, type Permission, UnknownPluralError, withoutCovered } from '../generate/permissions.ts'
import { operatorPermissions, rbacFiles } from '../generate/rbac.ts'
import { rulesOf } from '../generate/rules.ts'
import { parseDuration } from '../resource/duration.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator, GeneratorInput } from './generator.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'

export const rbac: Generator = {
  takes: 'handlers',
  about:
    'Writes a service account for the operator and the narrowest role it works with: from the decorators, and from what @onReconcile says that the class uses. Beside it, roles to view and to edit the kinds, added to those that every cluster has. With --observe, the handlers are run as well, and what they ask for beyond that is told and added.',
  output: 'config/rbac',
  options: [
    ...OPERATOR_OPTIONS,
    {
      name: 'observe',
      value: 'DURATION',
      sentence: 'Run the handlers for so long, on an API server in this process or on that of --kubeconfig, and see what they ask for.',
    },
    {
      name: 'apply',
      value: 'FILE|DIR',
      multiple: true,
      sentence: 'What the handlers are to work on meanwhile. Objects of the kinds they reconcile are deleted at half-time.',
    },
    { name: 'kubeconfig', value: 'FILE', sentence: 'Observe on the cluster of this kubeconfig, as its user.' },
    { name: 'context', value: 'NAME', sentence: 'Observe on the cluster of this context.' },
  ],
  async generate(input) {
    const model = operatorModel(input)
    const more = model.metricsSecure ? REVIEWS : []
    try {
      const observed = await observe(input, model, operatorPermissions(model, { more }))
      return rbacFiles(model, { more: [...more, ...observed] })
    } catch (error) {
      if (error instanceof UnknownPluralError) throw new CliError(exitCodes.configuration, error.message, { cause: error })
      throw error
    }
  },
}

/** What the handlers asked for and the role does not allow. */
async function observe(input: GeneratorInput, model: OperatorModel, allowed: readonly Permission[]): Promise<Permission[]> {
  const { options, handlers, cwd } = input
  const duration = options.one('observe')
  if (duration === undefined) {
    const other = ['apply', 'kubeconfig', 'context'].find((name) => options.many(name).length > 0)
    if (other !== undefined) throw new CliError(exitCodes.usage, `--${other} is for --observe; see tsop generate rbac --help`)
    return []
  }
  const { observeOperator } = await import('./observe-operator.ts')
  const [kubeconfig, context] = [options.one('kubeconfig'), options.one('context')]
  const durationMs = msOf(duration)
  const asked = await observeOperator({ handlers, model, durationMs, manifests: options.many('apply'), kubeconfig, context, cwd })
  const needed = withoutCovered(asked.map((observation) => scoped(observation, model)))
  const missing = needed.filter((permission) => !covers(allowed, permission))
  const unseen = allowed.filter((permission) => !needed.some((each) => covers([permission], each)) && canBeSeen(permission))
  const refused = asked.filter((each) => each.refused).length
  tell(`asked for in ${duration}: ${needed.length} rights${refused === 0 ? '' : `, of which the API server refused ${refused}`}`, [])
  tell(
    'beyond what the handlers say, and added; say it with `uses` of @onReconcile, or the next run without --observe takes it away:',
    missing,
  )
  tell('allowed and not asked for in this time:', unseen)
  return missing
}

/** A role is for all that the operator serves, not for what it happened to work on. */
function scoped({ group, resource, verb, namespace }: Permission, { namespaces }: OperatorModel): Permission {
  return { group, resource, verb, ...(namespace === undefined || namespaces === undefined ? {} : { namespace }) }
}

/** What is looked at while something else is asked for is no request; the election is not run. */
function canBeSeen({ group, resource, verb }: Permission): boolean {
  return !resource.endsWith('/finalizers') && group !== 'coordination.k8s.io' && verb !== 'bind' && verb !== 'escalate'
}

function tell(what: string, permissions: readonly Permission[]): void {
  if (what.endsWith(':') && permissions.length === 0) return
  const lines = rulesOf(permissions).map(({ apiGroups: [group = ''], resources, verbs }) => {
    const names = resources.map((resource) => (group === '' ? resource : `${resource}.${group}`))
    return `  ${verbs.join(', ')}: ${names.join(', ')}\n`
  })
  process.stderr.write(`${what}\n${lines.join('')}`)
}

function msOf(duration: string): number {
  try {
    return parseDuration(duration, '--observe')
  } catch (error) {
    throw new CliError(exitCodes.usage, `${(error as Error).message}; see tsop generate rbac --help`, { cause: error })
  }
}
