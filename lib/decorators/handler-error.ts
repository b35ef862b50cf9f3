/** A handler class that cannot be run as it is written. Found at start-up, before anything is watched. */

const HANDLER_ERROR = Symbol.for('tsop.HandlerError')

export interface Problem {
  readonly file?: string | undefined
  readonly className?: string | undefined
  /** As written, such as `reconcile()` or `#reconcile()`. */
  readonly method?: string | undefined
  /** What is wrong and what to do. */
  readonly text: string
}

/** Names file, class and method of every problem, one a line. */
export class HandlerError extends Error {
  readonly [HANDLER_ERROR] = true
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(line).join('\n'))
    this.name = 'HandlerError'
    this.problems = problems
  }
}

/** Also true for one of another copy of the package. */
export function isHandlerError(error: unknown): error is HandlerError {
  return typeof error === 'object' && error !== null && HANDLER_ERROR in error
}

function line({ file, className, method, text }: Problem): string {
  const where = className === undefined ? method : method === undefined ? className : `${className}.${method}`
  return [file, where, text].filter((part) => part !== undefined).join(': ')
}
