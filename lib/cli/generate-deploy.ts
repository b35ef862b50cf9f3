/** `tsop generate deploy` */

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { certManagerParts } from '../generate/cert-manager.ts'
import { definitionsOf } from '../generate/crds.ts'
import { type DeployModel, deployParts } from '../generate/deploy.ts'
import { type ChartFacts, chartFiles, splitImage } from '../generate/helm.ts'
import { installFile, kustomizeFiles } from '../generate/kustomize.ts'
import { objectName } from '../generate/operator.ts'
import { UnknownPluralError } from '../generate/permissions.ts'
import { parseDuration } from '../resource/duration.ts'
import { checkDefinitions } from './check-definitions.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator, GeneratorInput } from './generator.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'
import type { OptionRow } from './option-rows.ts'

/** Of the Deployment, for every generator that writes one. */
export const DEPLOYMENT_OPTIONS: readonly OptionRow[] = [
  {
    name: 'image',
    value: 'IMAGE',
    sentence:
      "The container's image; by default the operator's name and the version in its package.json, which is also the tag of one that has none.",
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
  async generate(input) {
    try {
      const model = deployModel(input)
      await checkDefinitions(definitionsOf(model.specs))
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
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > MOST_REPLICAS)
    throw usage('replicas', options.one('replicas'), 'a whole number')
  const image = options.one('image') ?? defaultImage(model.operator, input)
  if (!IMAGE.test(image)) throw usage('image', image, 'the name of an image, such as registry.example.com/shop:1.2.3')
  // The chart would take its own version, and everything else the newest image there is.
  const named = isExact(image) ? image : `${image}:${tagOf(input)}`
  return { ...model, image: named, replicas, drainSeconds: drainSeconds(options.one('graceful-shutdown-timeout')) }
}

/** https://github.com/distribution/reference: a registry with its port, a path in small letters, a tag, a digest. */
const IMAGE = /^(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@[a-z][\w.+-]*:[0-9a-f]+)?$/
/** Kubernetes' replicas are an int32. */
const MOST_REPLICAS = 2 ** 31 - 1

function isExact(image: string): boolean {
  const { tag, digest } = splitImage(image)
  return tag !== '' || digest !== ''
}

/** What the manifests name where nobody says otherwise. */
export function defaultImage(operator: string, where: Pick<GeneratorInput, 'paths' | 'cwd'>): string {
  return `${objectName(operator)}:${tagOf(where)}`
}

/** As the chart has it: a tag has no +. */
function tagOf(where: Pick<GeneratorInput, 'paths' | 'cwd'>): string {
  return packageOf(where).version.replaceAll('+', '_')
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

/** https://semver.org */
const VERSION = /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/

/** Of the nearest package.json. A chart needs a version. */
function packageOf({ paths, cwd }: Pick<GeneratorInput, 'paths' | 'cwd'>): { version: string; description?: string } {
  for (let directory = resolve(cwd, paths[0] ?? '.'); ; directory = dirname(directory)) {
    try {
      const { version, description } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Record<string, unknown>
      const given = typeof version === 'string' && VERSION.test(version) ? version : '0.1.0'
      return typeof description === 'string' ? { version: given, description } : { version: given }
    } catch {
      if (directory === dirname(directory)) return { version: '0.1.0' }
    }
  }
}

function usage(name: string, value: string | undefined, expected: string): CliError {
  return new CliError(exitCodes.usage, `--${name} ${value}: expected ${expected}; see tsop generate deploy --help`)
}
