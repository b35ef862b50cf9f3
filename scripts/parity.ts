/**
 * The cases of test/conformance by hand:
 *
 *     node --conditions=tsop-source scripts/parity.ts record [CASE…]          new goldens, from a real control plane
 *     node --conditions=tsop-source scripts/parity.ts check [CASE…]           the embedded server, in process and over HTTP
 *     node --conditions=tsop-source scripts/parity.ts check --real [CASE…]    a real control plane
 *     … --server URL --token TOKEN                                            another server instead
 *     npm run parity                                                          docs/reference/parity.md
 *
 * CASE is a part of `area/id`.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { answers, type Case, firstDifference, inParallel, within } from '../test/conformance/case.ts'
import { AREAS } from '../test/conformance/cases.ts'
import { readGoldens, writeGoldens } from '../test/conformance/goldens.ts'
import { overHttp } from '../test/conformance/over-http.ts'
import { PAGE, page } from '../test/conformance/page.ts'
import { type Results, runCases, same } from '../test/conformance/results.ts'
import { embeddedTargets, realTarget } from '../test/conformance/servers.ts'
import type { Target } from '../test/conformance/target.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { real: { type: 'boolean' }, server: { type: 'string' }, token: { type: 'string' }, jobs: { type: 'string', default: '8' } },
})
const [command, ...parts] = positionals
const wanted = (area: string, { id }: Case) => parts.length === 0 || parts.some((part) => `${area}/${id}`.includes(part))

if (command === 'record') await withServer((target) => record(target))
else if (command === 'check' && !values.real && values.server === undefined) await checkEmbedded()
else if (command === 'check') await withServer(async (target) => void (await check('real', target)))
else if (command === 'page') writeFileSync(PAGE, page(same(...(await checkEmbedded()))))
else {
  process.stderr.write('usage: parity.ts record|check|page [--real | --server URL --token TOKEN] [CASE…]\n')
  process.exitCode = 2
}

/** Twice: what is not the same both times is left to chance, and would fail by chance. */
async function record(target: Target): Promise<void> {
  for (const [area, cases] of AREAS) {
    const goldens = readGoldens(area)
    await inParallel(
      Number(values.jobs),
      cases.filter((each) => wanted(area, each)),
      async (each) => {
        try {
          const once = await within(180_000, answers(each, target))
          const again = await within(180_000, answers(each, target))
          const chance = firstDifference(once, again)
          if (chance !== undefined) print(`${area}/${each.id} differs from run to run: ${chance}`)
          if (JSON.stringify(once).includes('"late":true')) print(`${area}/${each.id} waited in vain`)
          goldens.set(each.id, once)
        } catch (error) {
          print(`${area}/${each.id}: ${error}`)
        }
      },
    )
    writeGoldens(area, new Map(cases.filter(({ id }) => goldens.has(id)).map(({ id }) => [id, goldens.get(id) ?? []])))
    print(`${area}: ${goldens.size} recorded`)
  }
}

async function checkEmbedded(): Promise<Results[]> {
  const { targets, close } = await embeddedTargets()
  const all: Results[] = []
  for (const [name, target] of Object.entries(targets)) all.push(await check(name, target))
  await close()
  return all
}

async function check(name: string, target: Target): Promise<Results> {
  const results = await runCases(target, Number(values.jobs), (id) => parts.length === 0 || parts.some((part) => id.includes(part)))
  for (const [area, cases] of AREAS) {
    const run = cases.filter(({ id }) => results.has(id))
    for (const { id } of run) if (results.get(id)?.length !== 0) print(`${area}/${id}: ${results.get(id)?.join('\n  ')}`)
    if (run.length > 0) print(`${name} ${area}: ${run.filter(({ id }) => results.get(id)?.length === 0).length} of ${run.length}`)
  }
  return results
}

async function withServer(f: (target: Target) => Promise<void>): Promise<void> {
  const { target, close } = values.server ? { target: overHttp(values.server, values.token), close: () => {} } : await realTarget()
  await f(target)
  await target.close()
  close()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
