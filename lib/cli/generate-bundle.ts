/** `tsop generate bundle` */

import { readdirSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { type BundleModel, bundleFiles } from '../generate/bundle.ts'
import { definitionsOf } from '../generate/crds.ts'
import { BundleError, widened } from '../generate/csv.ts'
import type { Manifest } from '../generate/operator.ts'
import { UnknownPluralError } from '../generate/permissions.ts'
import { rulesOf } from '../generate/rules.ts'
import { checkDefinitions } from './check-definitions.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { DEPLOYMENT_OPTIONS, deployModel } from './generate-deploy.ts'
import type { Generator, GeneratorInput } from './generator.ts'
import { bundleFacts, OLM_FILE } from './olm-file.ts'
import { OPERATOR_OPTIONS } from './operator-model.ts'
import type { OptionRow } from './option-rows.ts'
import { readManifests } from './read-manifests.ts'

/** OLM has the last word on namespaces. */
const OTHERWISE: Readonly<Record<string, OptionRow>> = {
  namespace: {
    name: 'namespace',
    short: 'n',
    value: 'NAME',
    sentence: 'Serve one namespace instead of all; which one, OLM says at the installation, whatever the name here.',
  },
  home: { name: 'home', value: 'NAMESPACE', sentence: 'The namespace to suggest for the operator; by default its name and -system.' },
}

export const bundle: Generator = {
  takes: 'handlers',
  about:
    'Writes a bundle (registry+v1) by which the Operator Lifecycle Manager installs the operator: a ClusterServiceVersion with the kinds, their fields, examples, the rights, the webhooks and the Deployment; the definitions; roles for people; the metadata and a Dockerfile for the image of the bundle. What cannot be derived is read from olm.yaml and package.json: who makes it, what it is for, its icon. With -n it serves the namespace that OLM says at the installation, otherwise all.',
  output: 'config/bundle',
  options: [
    ...OPERATOR_OPTIONS.map((row) => OTHERWISE[row.name] ?? row),
    ...DEPLOYMENT_OPTIONS,
    {
      name: 'samples',
      value: 'FILE|DIR',
      multiple: true,
      sentence: 'Objects of the kinds to show as examples; by default those in the folder samples, in or beside that of the handlers.',
    },
    {
      name: 'olm',
      value: 'FILE',
      sentence:
        'What to say about the operator; by default olm.yaml in the folder of the handlers, or above it, up to that of package.json.',
    },
  ],
  async generate(input) {
    try {
      const model = bundleModel(input)
      await checkDefinitions(definitionsOf(model.specs))
      const files = bundleFiles(model)
      for (const line of remarks(model)) process.stderr.write(`${line}\n`)
      return files
    } catch (error) {
      if (!(error instanceof BundleError || error instanceof UnknownPluralError)) throw error
      throw new CliError(exitCodes.configuration, `generate bundle: ${error.message}`, { cause: error })
    }
  },
}

function bundleModel(input: GeneratorInput): BundleModel {
  const { options, paths, cwd } = input
  const model = deployModel(input)
  const facts = bundleFacts({ operator: model.operator, paths, cwd, given: options.one('olm'), shared: options.one('name') !== undefined })
  const known = new Set(definitionsOf(model.specs).map(({ spec }) => spec.names.kind))
  const unknown = Object.keys(facts.kinds).find((kind) => !known.has(kind))
  if (unknown !== undefined)
    throw new CliError(exitCodes.configuration, `${options.one('olm') ?? OLM_FILE}: kinds.${unknown}: the operator has no kind ${unknown}`)
  const image = options.one('image') ?? `${model.name}:${facts.version}`
  return { ...model, image, facts, examples: examplesOf(input, model) }
}

/** Of the versions that are served; what else is among the samples is of no interest to a catalogue. */
function examplesOf({ options, paths, cwd }: GeneratorInput, { specs }: Pick<BundleModel, 'specs'>): Manifest[] {
  const given = options.many('samples')
  const served = new Set(
    definitionsOf(specs).flatMap(({ spec: { group, names, versions } }) =>
      versions.flatMap(({ name, served }) => (served ? [`${group}/${name} ${names.kind}`] : [])),
    ),
  )
  const found = given.length === 0 ? usualSamples(paths, cwd) : given
  return readManifests(found, cwd).filter(({ apiVersion, kind }) => served.has(`${apiVersion} ${kind}`)) as unknown as Manifest[]
}

function usualSamples(paths: readonly string[], cwd: string): string[] {
  const first = resolve(cwd, paths[0] ?? '.')
  const folder = extname(first) === '' ? first : dirname(first)
  const found = [join(folder, 'samples'), join(folder, '../samples')].find(hasManifests)
  return found === undefined ? [] : [found]
}

function hasManifests(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => /\.(ya?ml|json)$/.test(name))
  } catch {
    return false
  }
}

/** What a catalogue would like to know, and what OLM cannot be told. */
function remarks(model: BundleModel): string[] {
  const { facts, examples, specs } = model
  const definitions = definitionsOf(specs)
  const missing = [
    ...(facts.description === undefined ? ['description'] : []),
    ...(facts.icon === undefined ? ['icon'] : []),
    ...(facts.maintainers.length === 0 ? ['maintainers'] : []),
    ...(facts.links.length === 0 ? ['links'] : []),
    ...(facts.keywords.length === 0 ? ['keywords'] : []),
    ...(facts.categories.length === 0 ? ['categories'] : []),
    ...definitions.flatMap(({ spec: { names, versions } }) => {
      const described = versions.every(({ schema }) => schema?.openAPIV3Schema['description'] !== undefined)
      return described || facts.kinds[names.kind]?.description !== undefined ? [] : [`kinds.${names.kind}.description`]
    }),
  ]
  const unshown = definitions.filter(({ spec: { group, names } }) =>
    examples.every(({ apiVersion, kind }) => kind !== names.kind || !apiVersion.startsWith(`${group}/`)),
  )
  const wide = rulesOf(widened(model)).map(({ apiGroups: [group = ''], resources, verbs }) => {
    const names = resources.map((resource) => (group === '' ? resource : `${resource}.${group}`))
    return `  ${verbs.join(', ')}: ${names.join(', ')}`
  })
  return [
    ...(missing.length === 0 ? [] : [`a catalogue would like to know (${OLM_FILE}): ${missing.join(', ')}`]),
    ...unshown.map(({ spec: { names } }) => `there is no example of ${names.kind}: put one into samples/, or name it with --samples`),
    ...(wide.length === 0 ? [] : ['OLM gives no rights in a namespace of a certain name, so that these hold in all:', ...wide]),
  ]
}
