/** Between an operator and the supervisor of `--watch` that started it. */

interface UsedMessage {
  readonly type: 'used'
  readonly file: string
}

/** Set in the operator's environment. */
export const SUPERVISED = 'TSOP_SUPERVISED'

/** In the operator's environment: the kubeconfig of the API server that the supervisor runs for it. */
export const EMBEDDED_KUBECONFIG = 'TSOP_EMBEDDED_KUBECONFIG'

export function isSupervised(): boolean {
  return process.env[SUPERVISED] !== undefined && process.send !== undefined
}

/** Tells the supervisor of a file that the operator is made of; does nothing where there is none. */
export function reportUsed(file: URL): void {
  if (isSupervised() && process.connected) process.send?.({ type: 'used', file: file.href } satisfies UsedMessage)
}

export function isUsedMessage(message: unknown): message is UsedMessage {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'used'
}
