/** Thrown by a handler instead of an answer: the client finds its connection broken. For faults. */
export class LostConnection extends Error {
  override readonly name = 'LostConnection'
}
