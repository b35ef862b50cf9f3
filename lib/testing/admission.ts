/** The handlers' answers to the API server of a test: methods of `@validates` and `@defaults`, and conversions. */

import { type Endpoint, webhookConfigurations } from '../admission/configurations.ts'
import type { ReviewTools } from '../admission/review.ts'
import { type WebhookService, webhookService } from '../admission/service.ts'
import type { Core } from '../embedded/core.ts'
import type { ContextClient } from '../resource/context-client.ts'
import type { KindRef } from '../resource/kind.ts'
import type { Handler } from './handlers.ts'

const SERVICE = { namespace: 'default', name: 'operator-webhook' }
export const ENDPOINT: Endpoint = { service: SERVICE }

/** Answers whether or not the operator runs, as another replica of it would. */
export class TestAdmission {
  readonly #tools: ReviewTools
  readonly #kinds = new Set<KindRef<unknown>>()
  #handlers: readonly Handler[] = []
  #answer: WebhookService

  constructor(services: Core['services'], tools: ReviewTools) {
    this.#tools = tools
    this.#answer = webhookService([], tools)
    services.set(`${SERVICE.namespace}/${SERVICE.name}`, (review, path) => this.#answer(review, path))
  }

  /** From now on these instances are asked. */
  handlers(handlers: readonly Handler[]): void {
    this.#handlers = handlers
    this.#renew()
  }

  /** From now on conversions of these kinds are answered, too. */
  kinds(kinds: readonly KindRef<unknown>[]): void {
    for (const kind of kinds) if (kind.conversion !== undefined) this.#kinds.add(kind)
    this.#renew()
  }

  #renew(): void {
    this.#answer = webhookService(this.#handlers, this.#tools, [...this.#kinds])
  }

  /** Has the API server ask. */
  async register(client: ContextClient, namespaces: readonly string[] | undefined): Promise<void> {
    const specs = this.#handlers.map(({ spec }) => spec)
    for (const configuration of webhookConfigurations(specs, { name: 'operator', endpoint: ENDPOINT, namespaces })) {
      const { apiVersion, kind } = configuration
      const ref: KindRef = { apiVersion, kind, plural: `${kind.toLowerCase()}s`, scope: 'Cluster' }
      await client.apply(ref, configuration as never, { force: true })
    }
  }
}
