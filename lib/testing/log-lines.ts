/** What an operator logs, kept for whoever wants to read it. */
import type { Log } from '../resource/log.ts'

export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error'

export interface LogLine {
  readonly level: Level
  readonly message: string
  /** With those that the line's logger adds: `controller`, `namespace`, `name`, … */
  readonly fields: Readonly<Record<string, unknown>>
}

/** `take` gets each line. */
export function logTo(take: (line: LogLine) => void, bound: Readonly<Record<string, unknown>> = {}): Log {
  const at =
    (level: Level) =>
    (fields: object | string, message?: string): void => {
      if (typeof fields === 'string') take({ level, message: fields, fields: bound })
      else take({ level, message: message ?? (fields instanceof Error ? fields.message : ''), fields: { ...bound, ...asFields(fields) } })
    }
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => logTo(take, { ...bound, ...fields }),
  }
}

/** As `tsop-run` writes it for people. */
export function lineText({ level, message, fields }: LogLine): string {
  const { controller, namespace, name, err } = fields
  const key = [namespace, name].filter((part) => typeof part === 'string').join('/')
  const subject = [controller, key].filter((part) => typeof part === 'string' && part !== '').join(' ')
  const text = err instanceof Error && !message.includes(err.message) ? [message, err.message].filter(Boolean).join(': ') : message
  return `${level.padEnd(5)} ${subject === '' ? '' : `${subject}: `}${text}`
}

const asFields = (fields: object): object => (fields instanceof Error ? { err: fields } : fields)
