import { expect } from 'chai'
import { cloneJson, equalJson } from '../../../../lib/embedded/json.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import type { ApiObject } from '../../../../lib/embedded/types.ts'
import { recordedCases } from '../recorded.ts'
import { Widget } from './widgets.ts'

interface Step {
  update?: ApiObject
  apply?: ApiObject
  /** Written by the server itself, without owners: as defaults and controllers' patches of old are. */
  poke?: object
  by: string
  force?: boolean
  subresource?: string
  owners?: { by: string; applied?: boolean; apiVersion: string; subresource?: string; timeless?: boolean; fields: object }[]
  result?: ApiObject
  error?: { message: string; code?: number }
}

describe('owners of fields', () => {
  it('are those that Kubernetes finds, through updates and applies of several managers, versions and subresources', () => {
    for (const { steps, ...how } of recordedCases<{ v2?: 'same' | 'granular' | 'less'; reset?: boolean; steps: Step[] }>(
      new URL('field-manager.recorded.jsonl', import.meta.url),
    )) {
      const world = new Widget(how)
      for (const [i, step] of steps.entries()) {
        const told = JSON.stringify({ ...how, steps: steps.slice(0, i + 1).map(({ owners: _, result: __, error: ___, ...rest }) => rest) })
        if (step.poke !== undefined) {
          world.poke(step.poke)
          continue
        }
        const sent = JSON.stringify(step)
        const live = cloneJson(world.live)
        const outcome = take(world, step)
        expect(JSON.stringify(step), 'what was sent').to.equal(sent)
        if (step.error !== undefined) {
          expect(lines(outcome.error?.message ?? ''), told).to.deep.equal(lines(step.error.message))
          expect(outcome.error?.code, told).to.equal(step.error.code ?? 500)
          expect(world.live, 'what is stored').to.deep.equal(live)
          continue
        }
        expect(outcome.error, told).to.equal(undefined)
        expect(ownersOf(world), told).to.have.deep.members(step.owners ?? [])
        if (step.result === undefined) continue
        const { managedFields: _, ...metadata } = outcome.object?.metadata ?? {}
        delete metadata.uid
        expect(equalJson({ ...outcome.object, metadata }, step.result), told).to.equal(true)
      }
    }
  })
})

function take(world: Widget, { update, apply, ...hand }: Step): { object?: ApiObject; error?: ApiError } {
  const body = (update ?? apply) as ApiObject
  const version = body.apiVersion.split('/').at(-1) ?? ''
  try {
    return { object: update === undefined ? world.apply(body, { ...hand, version }) : world.update(body, { ...hand, version }) }
  } catch (error) {
    if (error instanceof ApiError) return { error }
    throw error
  }
}

const ownersOf = (world: Widget) =>
  world.managedFields.map(({ manager, operation, apiVersion, subresource, time, fieldsV1 }) => ({
    by: manager,
    ...(operation === 'Apply' ? { applied: true } : {}),
    apiVersion,
    ...(subresource === undefined ? {} : { subresource }),
    ...(time === undefined ? { timeless: true } : {}),
    fields: fieldsV1,
  }))

/** In which order a real server lists managers in conflict is chance. */
const lines = (text: string) => text.split('\n').sort()
