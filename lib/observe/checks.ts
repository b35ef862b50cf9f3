/**
 * What `/livez` and `/readyz` answer from. A check looks at what is known and returns at once; whoever has something to tell registers one.
 */

export interface CheckAnswer {
  readonly ok: boolean
  /** What is wrong, or worth knowing although it is not. */
  readonly note?: string
}

export type Check = () => CheckAnswer

/** `live`: the process is of use only where it holds; otherwise it is restarted. `ready`: it does its work only where it holds. */
export type Purpose = 'live' | 'ready'

export interface CheckReport extends CheckAnswer {
  readonly name: string
}

export class Checks {
  readonly #checks = new Map<string, { readonly check: Check; readonly purpose: Purpose }>()

  /**
   * What is needed to be live is needed to be ready as well. A name that is registered again takes the place of the former check.
   *
   * @param name a word for the URL and the report, such as `leaderElection` or `kind/Database.db.example.com`
   * @returns a function that takes the check away
   */
  register(name: string, purpose: Purpose, check: Check): () => void {
    const entry = { check, purpose }
    this.#checks.set(name, entry)
    return () => {
      if (this.#checks.get(name) === entry) this.#checks.delete(name)
    }
  }

  /** What holds and what does not, in the order of registration; first that the process answers at all. */
  report(purpose: Purpose): readonly CheckReport[] {
    const reports: CheckReport[] = [{ name: 'ping', ok: true }]
    for (const [name, { check, purpose: own }] of this.#checks) {
      if (own === 'live' || purpose === 'ready') reports.push({ name, ...answerOf(check) })
    }
    return reports
  }
}

function answerOf(check: Check): CheckAnswer {
  try {
    return check()
  } catch (error) {
    return { ok: false, note: `the check itself failed: ${error instanceof Error ? error.message : String(error)}` }
  }
}
