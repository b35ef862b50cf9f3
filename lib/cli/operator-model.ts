/** What `generate rbac`, `generate deploy` and their kin are told about the operator. */

import { type OperatorModel, objectName } from '../generate/operator.ts'
import { servedNamespaces } from '../resource/served-namespaces.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { GeneratorInput } from './generator.ts'
import type { OptionRow } from './option-rows.ts'

export const OPERATOR_OPTIONS: readonly OptionRow[] = [
  { name: 'name', value: 'NAME', sentence: "The operator's name; by default the name in the package.json nearest to the handlers." },
  {
    name: 'namespace',
    short: 'n',
    value: 'NAME',
    multiple: true,
    sentence: 'Serve only this namespace, by a Role there instead of a ClusterRole; may be given several times.',
  },
  { name: 'home', value: 'NAMESPACE', sentence: 'The namespace that the operator runs in; by default its name and -system.' },
  { name: 'metrics-secure', sentence: 'Metrics over TLS, only for those who may read them: tsop-run has this option too.' },
]

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

export function operatorModel({
  handlers,
  options,
  name,
}: Pick<GeneratorInput, 'handlers' | 'options' | 'name'>): OperatorModel & { readonly metricsSecure: boolean } {
  const operator = options.one('name') ?? name
  const own = objectName(operator)
  const home = options.one('home') ?? `${own}-system`
  const namespaces = [...new Set(options.many('namespace'))]
  for (const each of [home, ...namespaces]) {
    if (!DNS_LABEL.test(each)) throw new CliError(exitCodes.usage, `"${each}" cannot be the name of a namespace`)
  }
  const specs = handlers.map(({ spec }) => spec)
  for (const spec of specs) {
    if (servedNamespaces(spec, spec.kind, namespaces.length === 0 ? undefined : namespaces)?.length !== 0) continue
    const own = spec.reconcile.options.namespaces?.join(', ')
    const said = `its namespaces (${own}) and those of -n (${namespaces.join(', ')}) have none in common`
    throw new CliError(exitCodes.usage, `${spec.className}: ${said}, so that the operator would not start`)
  }
  return {
    operator,
    name: own,
    home,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    specs,
    metricsSecure: options.flag('metrics-secure'),
  }
}
