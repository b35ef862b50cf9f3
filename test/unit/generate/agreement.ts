/**
 * Whether zod and an API server say the same of an object. A server fills in defaults, drops fields it does not know, and nulls where a
 * type does not take them; so that what is compared is what it stores:
 *
 * - what zod takes, the server takes, and stores it as zod gives it out;
 * - what the server stores, zod takes, and finds nothing to change in it.
 */
import { expect } from 'chai'
import type { Client } from '../../../lib/api/client.ts'
import { isInvalid } from '../../../lib/api/status-error.ts'
import { type ResourceKind, resource, z } from '../../../lib/index.ts'
import type { KubeObject } from '../../../lib/resource/kind.ts'
import { schemaOf } from '../../../lib/resource/zod-schema.ts'

export interface Asked {
  readonly field: string
  readonly value: unknown
}

/** A kind with a field `fN` for each type; all are optional, so that each can be asked by itself. */
export function kindOf(group: string, types: readonly z.ZodType[]): ResourceKind<KubeObject & { spec: Record<string, unknown> }> {
  const spec = z.object(Object.fromEntries(types.map((type, i) => [`f${i}`, type.optional()])))
  return resource({ group, version: 'v1', kind: 'Sample', spec }) as never
}

export async function compare(
  client: Client,
  kind: ReturnType<typeof kindOf>,
  types: readonly z.ZodType[],
  { field, value }: Asked,
  namespace: string,
): Promise<'taken' | 'refused'> {
  const type = types[Number(field.slice(1))] as z.ZodType
  const byZod = type.safeParse(value)
  const object = { metadata: { name: 'sample', namespace }, spec: { [field]: value } }
  const properties = schemaOf(z.object({ field: type }), 'spec').properties
  const shown = `${field} = ${JSON.stringify(value)}, a ${JSON.stringify(properties?.field)}`
  let stored: unknown
  try {
    const answer = await client.create(kind, object as never, { dryRun: true })
    stored = answer.spec?.[field]
  } catch (error) {
    if (!isInvalid(error)) throw error
    if (byZod.success) expect.fail(`zod takes ${shown}, but the server does not: ${(error as Error).message}`)
    return 'refused'
  }
  if (byZod.success) expect(stored, `as the server stores ${shown}`).to.deep.equal(JSON.parse(JSON.stringify(byZod.data)))
  else if (stored !== undefined) {
    const again = type.safeParse(stored)
    if (!again.success) expect.fail(`the server takes ${shown}, but zod does not: ${again.error.message}`)
    expect(JSON.parse(JSON.stringify(again.data)), `as zod gives out ${shown}`).to.deep.equal(stored)
  }
  return byZod.success ? 'taken' : 'refused'
}
