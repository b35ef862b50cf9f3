/** What the pool and an exchange need of a connection, whichever version of HTTP it speaks. */

export interface Connection {
  /** A request (or a `stream`, which lasts) can go out on it now. */
  canTake(stream: boolean): boolean
  /** It cannot now, but will when requests under way have ended. */
  willTake(stream: boolean): boolean
  /** Throws where nothing was sent. */
  send(outgoing: Outgoing, receiver: Receiver): Sent
  /** A request got no answer in time: is anybody there? */
  check(): void
  /** No new requests; ends by itself with the last one. */
  retire(): void
  /** Ends now, and what is under way fails. */
  destroy(): void
}

export interface Outgoing {
  readonly method: string
  /** With the path of the server's URL before it. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Of the credentials. A list becomes several headers. */
  readonly authentication: Readonly<Record<string, string | readonly string[]>>
  readonly body: string | undefined
  /** Called in the turn in which the request leaves. Where it throws, nothing is sent: `send` throws it, or `failed` tells it. */
  readonly beforeSend: (() => void) | undefined
  /** Do not read the answer's body before `flow()`. */
  readonly stream: boolean
}

/** `response`, any number of `data`, then `end`; or `fail` instead of any of them, as the last. */
export interface Receiver {
  response(status: number, headers: Record<string, string>): void
  data(chunk: Buffer): void
  end(): void
  /** `untouched`: the server did nothing with the request, it may be sent again. */
  fail(error: Error, untouched: boolean): void
  /** Nothing was sent, and nothing is to be: the request ends with this error. */
  failed(error: unknown): void
}

export interface Sent {
  /** Gives it up; the receiver hears nothing more. */
  cancel(): void
  /** Lets the body come. */
  flow(): void
}

/** What the pool wants to know of its connections. */
export interface ConnectionEvents {
  /** The server answers: the way to it is good. */
  answered(): void
  /** Room for another request. */
  freed(): void
  /** No longer to be used. `error`: it broke before the server ever answered, which is as bad as no connection. */
  ended(connection: Connection, error?: Error): void
  /** After `ended`: the last request has gone too, and there is nothing left to destroy. */
  closed(connection: Connection): void
}
