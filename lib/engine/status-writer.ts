/** Writes the status that a run comes to. */
import { mergePatch } from '../api/patch.ts'
import { isConflict, isNotFound, StatusError } from '../api/status-error.ts'
import type { ContextClient } from '../resource/context-client.ts'
import { type KubeObject, kindName } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { type ConditionDraft, nextStatus, type Status } from './conditions.ts'
import { handlerFields } from './context.ts'
import type { ControllerScope } from './controller.ts'
import { messageOf, TsopError } from './errors.ts'
import type { Outcome } from './outcome.ts'
import type { Primary } from './primary.ts'

/** Conflicts on the status that are answered in place. */
const TRIES = 3

/** What it needs of the run. */
export interface StatusSource {
  readonly scope: ControllerScope
  readonly primary: Primary
  readonly conditionDraft: ConditionDraft
  /** What the handler wrote into `ctx.status`. */
  readonly drafts: { readonly hasStatusDraft: boolean; readonly statusDraft: Record<string, unknown> | undefined } | undefined
  readonly engine: ContextClient
  readonly log: Log
  readonly now: () => string
  outcomeOf(error: unknown): Outcome
  /** After a conflict: whether what the run came to still holds. */
  rebase(): Promise<boolean>
}

export class StatusWriter {
  readonly #run: StatusSource
  /** It made `Ready` true. */
  becameReady = false
  /** The run ended for good, and its status does not say so yet. */
  unreported = false

  constructor(run: StatusSource) {
    this.#run = run
  }

  /** Writes what the outcome makes of the status, once and only where something changed; returns how the run ends now. */
  async report(outcome: Outcome, withDraft = true): Promise<Outcome> {
    const isDrafted = withDraft && this.#run.drafts?.hasStatusDraft === true
    if (outcome.type === 'conflict' || (this.#run.primary.kind.status === undefined && !isDrafted)) return outcome
    try {
      await this.#writeStatus(outcome, withDraft)
      return outcome
    } catch (error) {
      if (isNotFound(error)) return this.#withoutStatus(outcome, error)
      if (outcome.type === 'error' || outcome.type === 'terminal') {
        this.#run.log.warn({ err: error }, 'the status could not be written')
        this.unreported = outcome.type === 'terminal'
        return outcome
      }
      const failed = this.#run.outcomeOf(error)
      // What the handler drafted is no JSON, refused by the schema or too big: without it the conditions can say so.
      return isDrafted && isDraftsFault(error) ? this.report(failed, false) : failed
    }
  }

  async #writeStatus(outcome: Outcome, withDraft: boolean): Promise<void> {
    const { kind, ref, uid } = this.#run.primary
    for (let attempt = 1; ; attempt++) {
      const fields = withDraft ? this.#run.drafts?.statusDraft : undefined
      const patch = this.#statusPatch(outcome, fields)
      if (patch === undefined) return this.#run.scope.observed?.status('saved')
      const { resourceVersion } = this.#run.primary
      const wasReady = isReady(this.#run.primary.status)
      try {
        const value = { metadata: { uid, resourceVersion }, status: patch }
        const answer: KubeObject & { status?: Status } = await this.#run.engine.status.patch(kind, ref, { type: 'merge', value })
        this.#run.scope.observed?.status('sent')
        this.#run.scope.statusEchoes.remember(uid, patch, resourceVersion === answer.metadata.resourceVersion)
        this.becameReady = !wasReady && isReady(answer.status)
        if (fields !== undefined) this.#missPruned(fields, answer.status)
        return
      } catch (error) {
        if (attempt >= TRIES || !isConflict(error) || !(await this.#run.rebase())) throw error
      }
    }
  }

  /** Says which fields of the handler's the definition in the cluster does not know: the server drops them without a word. */
  #missPruned(fields: Record<string, unknown>, kept: Status | undefined): void {
    const { kind } = this.#run.primary
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || value === null || kept?.[name] !== undefined) continue
      const remedy = kind.crd !== undefined && !kind.foreign ? 'run with --install-crds' : 'bring its definition up to date'
      this.#run.scope.warnOnce(`status.${name} is not kept: the definition of ${kindName(kind)} in the cluster does not know it; ${remedy}`)
    }
  }

  /** 404 for a status: the object is gone, or the definition of its kind has no status subresource. The server says the same of both. */
  async #withoutStatus(outcome: Outcome, error: unknown): Promise<Outcome> {
    const { kind, ref, uid } = this.#run.primary
    const live = await this.#run.engine.find(kind, ref)
    this.#run.scope.saw(kind, ref, live, uid)
    if (live?.metadata.uid !== uid) return { type: 'done' }
    if (outcome.type === 'error' || outcome.type === 'terminal') return outcome
    const missing = `the definition of ${kindName(kind)} has no status subresource (subresources.status), so that the status cannot be written`
    return this.#run.outcomeOf(new TsopError('TSOP_STATUS_MISSING', 'StatusMissing', missing, { cause: error }))
  }

  #statusPatch(outcome: Outcome, fields: Record<string, unknown> | undefined): object | undefined {
    const { primary } = this.#run
    const support = primary.kind.status ?? { conditions: false, observedGeneration: false, external: false }
    const current = primary.status
    let drafted: Record<string, unknown>
    try {
      // Through JSON: what cannot be written is found here, and `undefined` means gone.
      drafted = fields === undefined ? handlerFields(current) : (JSON.parse(JSON.stringify(fields)) as Record<string, unknown>)
    } catch (error) {
      throw new TsopError('TSOP_STATUS_INVALID', 'InvalidStatus', `ctx.status is no JSON: ${messageOf(error)}`)
    }
    const next = nextStatus(current, drafted, {
      outcome,
      generation: primary.generation,
      support,
      draft: this.#run.conditionDraft,
      now: this.#run.now,
    })
    const patch = mergePatch(current ?? {}, next) as object | undefined
    return patch === undefined || this.#run.scope.statusEchoes.isKnown(primary.uid, patch) ? undefined : patch
  }
}

function isReady(status: Status | undefined): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** Whether what the handler wrote into the status is to blame: bad JSON, a broken schema, too big. */
function isDraftsFault(error: unknown): boolean {
  if (error instanceof TsopError) return error.code === 'TSOP_STATUS_INVALID'
  return error instanceof StatusError && ([400, 413, 422].includes(error.status) || /too large/i.test(error.message))
}
