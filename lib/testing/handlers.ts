/** From what a test names as handlers to what an operator runs. */
import { checkHandlers, collect, type HandlerClass, isHandlerClass } from '../decorators/collect.ts'
import { HandlerError } from '../decorators/handler-error.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'

/** Classes are made anew for each start of the operator, as in a new process; an instance is used again. */
export type Handlers = readonly (HandlerClass | object)[] | (() => readonly object[] | Promise<readonly object[]>)

export interface Handler {
  readonly spec: HandlerSpec
  readonly instance: object
}

/** @throws HandlerError for a class that cannot be run; TypeError for what is no class */
export async function handlersOf(handlers: Handlers): Promise<Handler[]> {
  if (isHandlerClass(handlers))
    throw new TypeError(
      `handlers: expected a list of handler classes and instances, not the class ${handlers.name}; write [${handlers.name}]`,
    )
  const given: readonly unknown[] = typeof handlers === 'function' ? await handlers() : handlers
  if (!Array.isArray(given)) throw new TypeError('handlers: expected a list of handler classes and instances, or a function that makes one')
  const made = given.map(handlerOf)
  checkHandlers(made.map(({ spec }) => spec))
  return made
}

function handlerOf(given: unknown, index: number): Handler {
  if (typeof given === 'function') {
    const cls = given as HandlerClass
    if (cls.prototype === undefined)
      throw new TypeError(`handlers[${index}]: expected a handler class or an instance of one, not a function`)
    if (isHandlerClass(cls) && cls.length > 0) {
      const text = `takes arguments: hand over an instance, handlers: [new ${cls.name}(…)], or a function that makes it`
      throw new HandlerError([{ className: cls.name, method: 'constructor()', text }])
    }
    return { spec: collect(cls), instance: construct(cls) }
  }
  if (typeof given !== 'object' || given === null || Object.getPrototypeOf(given) === Object.prototype)
    throw new TypeError(`handlers[${index}]: expected a handler class or an instance of one, not ${shown(given)}`)
  return { spec: collect(given.constructor as HandlerClass, { factory: true }), instance: given }
}

function construct(cls: HandlerClass): object {
  try {
    return new (cls as unknown as new () => object)()
  } catch (cause) {
    throw new Error(`new ${cls.name}() threw: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return 'a plain object'
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
