/** The logger a handler gets. pino's shape, so that a pino logger is one. */

export interface Log {
  trace(fields: object | string, message?: string): void
  debug(fields: object | string, message?: string): void
  info(fields: object | string, message?: string): void
  warn(fields: object | string, message?: string): void
  error(fields: object | string, message?: string): void
  /** Whether lines of this level are written at all, so that nobody makes them for nothing. Absent: they are. */
  isLevelEnabled?(level: string): boolean
  /** A logger that adds `fields` to every line. */
  child(fields: object): Log
}
