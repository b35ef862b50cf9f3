/** What an API server would say of definitions, without one: the embedded server is asked. */

import { Client } from '../api/client.ts'
import { type Clock, systemClock } from '../api/clock.ts'
import { StatusError } from '../api/status-error.ts'
import { type CustomResourceDefinition, kind } from '../resource/kind.ts'
import { CliError, exitCodes } from './exit-codes.ts'

const Definition = kind<CustomResourceDefinition>('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
})

/** @throws CliError with a line for each thing that it refuses */
export async function checkDefinitions(definitions: readonly CustomResourceDefinition[]): Promise<void> {
  const errors = definitions.length === 0 ? [] : await definitionErrors(definitions)
  if (errors.length === 0) return
  throw new CliError(exitCodes.configuration, `an API server would refuse this:\n${errors.map((line) => `  ${line}`).join('\n')}`)
}

/** A line for each thing that it refuses, naming the field as its author wrote it. Empty: it takes all of them. */
export async function definitionErrors(definitions: readonly CustomResourceDefinition[], clock: Clock = systemClock): Promise<string[]> {
  const { createServer } = await import('../embedded/server.ts')
  const { inProcess } = await import('../embedded/http/in-process.ts')
  const server = await createServer()
  const client = new Client({ transport: inProcess((request) => server.handle(request), { clock: server.core.clock }), clock })
  try {
    const errors: string[] = []
    for (const crd of definitions) errors.push(...(await errorsOf(client, crd)))
    return errors
  } finally {
    await server.close()
  }
}

async function errorsOf(client: Client, crd: CustomResourceDefinition): Promise<string[]> {
  try {
    await client.create(Definition, crd as never, { dryRun: true })
    return []
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const causes = error.details?.causes ?? []
    const name = crd.spec.names.kind
    if (causes.length === 0) return [`${name}: ${error.message}`]
    return causes.map(({ field = '', message = '' }) => `${name}: ${fieldOf(field, crd)}: ${message}`)
  }
}

/** `spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[size].minimum` becomes `v1beta1: spec.size.minimum`. */
function fieldOf(path: string, { spec: { versions } }: CustomResourceDefinition): string {
  const [, index, rest] = /^spec\.(?:validation|versions\[(\d+)\]\.schema)\.openAPIV3Schema\.?(.*)$/.exec(path) ?? []
  if (rest === undefined) return path
  const version = index === undefined || versions.length === 1 ? '' : `${versions[Number(index)]?.name}: `
  const field = rest
    .replace(/\.?properties\[([^\]]+)\]/g, '.$1')
    .replace(/\.items/g, '[]')
    .replace(/\.additionalProperties/g, '[*]')
    .replace(/^\./, '')
  return `${version}${field || 'the object'}`
}
