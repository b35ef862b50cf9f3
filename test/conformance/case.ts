import { setTimeout as pause } from 'node:timers/promises'
import { difference } from './difference.ts'
import { normalise } from './normalise.ts'
import type { Target } from './target.ts'
import { World } from './world.ts'

export interface Case {
  /** Letters, digits and dashes; unique. */
  readonly id: string
  /** What a server does, as a sentence. */
  readonly title: string
  run(t: World): Promise<void>
  /** The embedded server answers this otherwise, for this reason (an id of deviations.ts). */
  readonly deviates?: string
}

/** What the server answered, normalised: one line an exchange. */
export async function answers(each: Case, target: Target): Promise<unknown[]> {
  const world = new World(target, word())
  try {
    await world.open()
    await each.run(world)
    return answersOf(world)
  } finally {
    await world.close()
  }
}

/** All that was written down, normalised; as from a file: members without a value are no members. */
export const answersOf = (world: World): unknown[] => JSON.parse(JSON.stringify(normalise(world.log, world)))

/** The first difference of each answer that is not as expected, with the request it is an answer to. */
export function differences(expected: readonly unknown[], actual: readonly unknown[]): string[] {
  return Array.from({ length: Math.max(expected.length, actual.length) }, (_, i) => {
    const found = difference(expected[i], actual[i])
    return found === undefined ? [] : [`${i + 1}. ${(expected[i] as { ask?: string })?.ask ?? 'nothing'}\n    ${found}`]
  }).flat()
}

export const firstDifference = (expected: readonly unknown[], actual: readonly unknown[]): string | undefined =>
  differences(expected, actual)[0]

/** Runs so many at a time; most of them wait for a server most of the time. */
export async function inParallel<T>(jobs: number, all: readonly T[], f: (each: T) => Promise<void>): Promise<void> {
  const queue = [...all]
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await f(next)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
}

/** @returns after as long as it takes, but no error: what hangs is a result as well */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const abort = new AbortController()
  const late = pause(ms, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`took longer than ${ms / 1000} s`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    abort.abort()
    late.catch(() => {})
  }
}

const LETTERS = 'bcdfghjklmnpqrstvwxz'
/** Always as long, as it stands in texts whose length counts. */
export const word = (): string => `q${Array.from({ length: 9 }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join('')}`
