import { nextTurn } from '../api/clock.ts'

/** Time as it passes outside, for bounds on waiting. Taken when this is loaded: a test may put fake timers in the place of the real ones later. */
const { setTimeout, performance } = globalThis

export function realNow(): number {
  return performance.now()
}

/** Lets everything run that can: promises, then what waited for its turn. */
export function turn(): Promise<void> {
  return new Promise(nextTurn)
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
