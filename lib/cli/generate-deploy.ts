/** `tsop generate deploy` */

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { certManagerParts } from '../generate/cert-manager.ts'
import { type DeployModel, deployParts } from '../generate/deploy.ts'
import { type ChartFacts, chartFiles } from '../generate/helm.ts'
import { installFile, kustomizeFiles } from '../generate/kustomize.ts'
import { objectName } from '../generate/operator.ts'
import { UnknownPluralError } from '../generate/permissions.ts'
import { parseDuration } from '../resource/duration.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator, GeneratorInput } from './generator.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'
import type { OptionRow } from './option-rows.ts'

/** Of the Deployment, for every generator that writes one. */
export const DEPLOYMENT_OPTIONS: readonly OptionRow[] = [
  {
    name: 'image',
    value: 'IMAGE',
    sentence: "The container's image; by default the operator's name and the version in its package.json.",
  },
  { name: 'replicas', value: 'N', sentence: 'How many pods; 2 by default, of which one works and the other stands by.' },
  {
    name: 'graceful-shutdown-timeout',
    value: 'DURATION',
    sentence: 'How long runs may go on after SIGTERM; 20s by default. The pod gets 10 s more.',
  },
]

export const deploy: Generator = {
  takes: 'handlers',
  about:
    'Writes all that the operator is in a cluster, from one model: install.yaml for kubectl apply -f, a kustomize base with overlays, and a Helm chart. Definitions, service account, roles, Deployment, Services, NetworkPolicy, PodDisruptionBudget, and a ServiceMonitor for who has Prometheus Operator.',
  output: 'config/deploy',
  options: [...OPERATOR_OPTIONS, ...DEPLOYMENT_OPTIONS],
  generate(input) {
    try {
      const model = deployModel(input)
      const parts = deployParts(model)
      return [installFile(parts), ...kustomizeFiles(parts, certManagerParts(model)), ...chartFiles(model, chartFacts(input))]
    } catch (error) {
      if (error instanceof UnknownPluralError) throw new CliError(exitCodes.configuration, error.message, { cause: error })
      throw error
    }
  },
}

const DRAIN_SECONDS = 20

export function deployModel(input: GeneratorInput): DeployModel {
  const { options } = input
  const model = operatorModel(input)
  const replicas = Number(options.one('replicas') ?? 2)
  if (!Number.isInteger(replicas) || replicas < 0) throw usage('replicas', options.one('replicas'), 'a whole number')
  const image = options.one('image') ?? defaultImage(model.operator, input)
  if (/\s/.test(image)) throw usage('image', image, 'the name of an image')
  return { ...model, image, replicas, drainSeconds: drainSeconds(options.one('graceful-shutdown-timeout')) }
}

/** What the manifests name where nobody says otherwise. */
export function defaultImage(operator: string, where: Pick<GeneratorInput, 'paths' | 'cwd'>): string {
  // As the chart has it: a tag has no +.
  return `${objectName(operator)}:${packageOf(where).version.replaceAll('+', '_')}`
}

function drainSeconds(text: string | undefined): number {
  if (text === undefined) return DRAIN_SECONDS
  try {
    return Math.max(1, Math.ceil(parseDuration(text, '--graceful-shutdown-timeout') / 1000))
  } catch (error) {
    throw new CliError(exitCodes.usage, (error as Error).message, { cause: error })
  }
}

function chartFacts(input: GeneratorInput): ChartFacts {
  const { version, description } = packageOf(input)
  // A package with operators of several names describes none of them.
  const own = input.options.one('name') === undefined ? description : undefined
  return { version, description: own ?? `The operator ${operatorModel(input).name}` }
}

/** Of the nearest package.json. A chart needs a version. */
function packageOf({ paths, cwd }: Pick<GeneratorInput, 'paths' | 'cwd'>): { version: string; description?: string } {
  for (let directory = resolve(cwd, paths[0] ?? '.'); ; directory = dirname(directory)) {
    try {
      const { version, description } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Record<string, unknown>
      const given = typeof version === 'string' && /^\d+\.\d+\.\d+/.test(version) ? version : '0.1.0'
      return typeof description === 'string' ? { version: given, description } : { version: given }
    } catch {
      if (directory === dirname(directory)) return { version: '0.1.0' }
    }
  }
}

function usage(name: string, value: string | undefined, expected: string): CliError {
  return new CliError(exitCodes.usage, `--${name} ${value}: expected ${expected}; see tsop generate deploy --help`)
}
