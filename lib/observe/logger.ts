/**
 * The process's log: pino, written synchronously, so that the last line before a crash is there. JSON lines for machines, one
 * short line a message for people. What is written into a line is redacted (redact.ts): of a Kubernetes object, for one, remains a reference
 * like `Secret shop/credentials`.
 */

import { type DestinationStream, destination as fileDestination, type LoggerOptions, pino, stdTimeFunctions } from 'pino'
import type { Log } from '../resource/log.ts'
import type { ErrorFields } from './describe-error.ts'
import type { LogFormat, LogLevel } from './log-levels.ts'
import { redact, redactError, redactText, redactValue } from './redact.ts'

export interface LoggerSettings {
  /** The least important level that is written. Default `info`. */
  readonly level?: LogLevel
  /** Default `json`. */
  readonly format?: LogFormat
  /** Colours in the pretty format. Default false. */
  readonly colour?: boolean
  /** Stacks of errors. Default false: their message only. */
  readonly stacks?: boolean
  /** Takes each line, with its line feed. Default: standard output. */
  readonly destination?: { write(line: string): void }
}

/** Loads the pretty printer only where it is asked for: a container that logs JSON does not pay for it. */
export async function createLogger(settings: LoggerSettings = {}): Promise<Log> {
  const {
    level = 'info',
    format = 'json',
    colour = false,
    stacks = false,
    destination = fileDestination({ dest: 1, sync: true }),
  } = settings
  const stream = format === 'pretty' ? await prettyStream(destination, colour) : destination
  const logger = pino(options(level, stacks), stream as DestinationStream)
  // Children are made from the logger by prototype, so this holds for all of them.
  const { child } = logger
  logger.child = function (this: typeof logger, fields: Record<string, unknown>) {
    return child.call(this, redact(fields, stacks))
  } as typeof child
  return logger
}

function options(level: LogLevel, stacks: boolean): LoggerOptions {
  const safe = (fields: object) => redact(fields, stacks)
  return {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    // Errors are described by `redact`; pino's own serializer would show what hangs on them.
    serializers: { err: (value: unknown) => value, error: (value: unknown) => value },
    formatters: {
      level: (label) => ({ level: label }),
      bindings: safe,
      log: safe,
    },
    hooks: {
      // The message, and what is put into it.
      logMethod(args, method) {
        const [first, message, ...rest] = args as unknown[]
        const fields = first instanceof Error ? { err: redactError(first, stacks) } : typeof first === 'string' ? redactText(first) : first
        const text = message === undefined && first instanceof Error ? textOf(first.message) : message
        const others = rest.map((value) => (typeof value === 'string' ? redactText(value) : redactValue(value, stacks)))
        const said = typeof text === 'string' ? redactText(text) : text === undefined ? undefined : redactValue(text, stacks)
        method.apply(this, [fields, ...(said === undefined && others.length === 0 ? [] : [said]), ...others] as Parameters<typeof method>)
      },
    },
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** pino-pretty as a plain function from line to text, not as the stream it also is: a stream would write later, or never in a crash. */
async function prettyStream(destination: { write(line: string): void }, colour: boolean): Promise<{ write(line: string): void }> {
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({
    colorize: colour,
    colorizeObjects: false,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    // Which object a line is about and what went wrong stand in the message; the rest of a run's fields is for machines.
    ignore: 'controller,namespace,name,uid,reconcileID,err,error',
    messageFormat: (log) => `${subject(log)}${sentence(log)}`,
  })
  return {
    write(line) {
      const text: unknown = pretty(line)
      if (typeof text === 'string') destination.write(text)
    },
  }
}

/** `Database.db.example.com shop/orders: ` */
function subject({ controller, namespace, name }: Record<string, unknown>): string {
  const key = typeof name !== 'string' ? undefined : typeof namespace === 'string' ? `${namespace}/${name}` : name
  const parts = [controller, key].filter((part) => typeof part === 'string')
  return parts.length === 0 ? '' : `${parts.join(' ')}: `
}

/** The message, then the error and its causes, then the stacks where they are logged. */
function sentence(log: Record<string, unknown>): string {
  const message = typeof log['msg'] === 'string' ? [log['msg']] : []
  const stacks: string[] = []
  for (let error = (log['err'] ?? log['error']) as ErrorFields | undefined; error !== undefined; error = error.cause) {
    // Of `log.error(error)` pino makes the error's text the message as well, and a message may quote the error it is about.
    const { message: text } = error
    if (typeof text === 'string' && !message.some((said) => said.includes(text))) message.push(text)
    if (error.stack !== undefined) stacks.push(error.stack)
  }
  return [message.join(': '), ...stacks].join('\n')
}
