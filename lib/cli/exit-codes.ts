/** How `tsop-run` ends. Scripts and Kubernetes read these numbers: they do not change their meaning. */

export const exitCodes = {
  /** It was asked to stop and has drained; or `--once` and every object is reconciled; or `--check` and the handlers load. */
  ok: 0,
  /** `--once` and an object failed or still waits; or the operator lost its lease, or broke down. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** A kubeconfig, a handler file or a manifest is wrong, or Node.js too old. Starting again does not help before it is repaired. */
  configuration: 3,
  /** The cluster cannot be reached, does not trust the credentials, or refused what was asked of it at start. */
  cluster: 4,
  /** A second Ctrl-C: ended at once, without draining (128 + the signal's number, as shells have it). */
  interrupted: 130,
  /** A second SIGTERM: ended at once, without draining. */
  terminated: 143,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** An error whose message is meant for the user as it is: what happened and what to do. Its stack is shown only with `--debug`. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
