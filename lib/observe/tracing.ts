/**
 * Spans by OpenTelemetry's API. Whoever wants them brings an SDK and has it registered before the operator starts, as with
 * `node --import ./otel.js`; without one nothing is made, and the API is not even loaded.
 */

import type { Span as ApiSpan, Context, Tracer } from '@opentelemetry/api'
import type { Attributes, Span, Tracing } from '../resource/observer.ts'
import { redactText } from './redact.ts'

/** Where the API (any 1.x of it) keeps what an SDK has registered, so that its copies in one process agree. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** Undefined where no SDK has registered itself. `version`: of tsop. */
export async function createTracing(version: string): Promise<Tracing | undefined> {
  const registered = (globalThis as { [REGISTERED]?: { trace?: unknown } })[REGISTERED]
  if (registered?.trace === undefined) return undefined
  const api = await import('@opentelemetry/api')
  const { context, propagation, SpanKind, SpanStatusCode, trace } = api
  const tracer: Tracer = trace.getTracer('tsop', version)

  const spanOf = (span: ApiSpan): Span => ({
    set: (attributes) => void span.setAttributes(defined(attributes)),
    fail(error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: redactText(messageOf(error)) })
      span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
    },
  })

  const begin = async <T>(
    name: string,
    attributes: Attributes,
    { kind = SpanKind.INTERNAL, parent = context.active() }: { kind?: number; parent?: Context },
    work: (span: Span, current: Context) => Promise<T>,
  ): Promise<T> => {
    const span = tracer.startSpan(name, { kind, attributes: defined(attributes) }, parent)
    const current = trace.setSpan(parent, span)
    try {
      return await context.with(current, () => work(spanOf(span), current))
    } catch (error) {
      spanOf(span).fail(error)
      throw error
    } finally {
      span.end()
    }
  }

  return {
    run: (name, attributes, work) => begin(name, attributes, { parent: api.ROOT_CONTEXT }, work),
    within: (name, attributes, work) => begin(name, attributes, {}, work),
    request: (name, attributes, work) =>
      begin(name, attributes, { kind: SpanKind.CLIENT }, (span, current) => {
        const headers: Record<string, string> = {}
        propagation.inject(current, headers)
        return work(span, headers)
      }),
  }
}

function defined(attributes: Attributes): Record<string, string | number | boolean> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as Record<
    string,
    string | number | boolean
  >
}

function messageOf(error: unknown): string {
  return error instanceof Error ? String(error.message) : String(error)
}
