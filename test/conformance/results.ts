/** All cases on one server, against the goldens. */
import { answers, differences, inParallel, within } from './case.ts'
import { AREAS } from './cases.ts'
import { readGoldens } from './goldens.ts'
import type { Target } from './target.ts'

/** By the case's id: where it differs; empty where it does not. */
export type Results = ReadonlyMap<string, readonly string[]>

const PATIENCE_MS = 180_000

export async function runCases(target: Target, jobs: number, wanted: (name: string) => boolean = () => true): Promise<Results> {
  const results = new Map<string, readonly string[]>()
  const goldens = new Map([...AREAS.keys()].map((area) => [area, readGoldens(area)]))
  const all = [...AREAS].flatMap(([area, cases]) => cases.map((each) => ({ area, each })))
  await inParallel(
    jobs,
    all.filter(({ area, each }) => wanted(`${area}/${each.id}`)),
    async ({ area, each }) => {
      const golden = goldens.get(area)?.get(each.id)
      try {
        const found = await within(PATIENCE_MS, answers(each, target))
        results.set(each.id, golden === undefined ? ['never recorded'] : differences(golden, found))
      } catch (error) {
        results.set(each.id, [error instanceof Error ? (error.stack ?? error.message) : String(error)])
      }
    },
  )
  return results
}

/** Those that are the same on each of the servers. */
export function same(...all: readonly Results[]): ReadonlySet<string> {
  const ids = [...(all[0]?.keys() ?? [])]
  return new Set(ids.filter((id) => all.every((results) => results.get(id)?.length === 0)))
}
