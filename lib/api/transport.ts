/**
 * How bytes get to an API server and back. The engine knows the server only through this; the embedded API server and
 * the simulation bring their own.
 */

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, starting with `/`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Milliseconds until the request is given up with a `TimeoutError`. For a stream: until its headers are there. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /**
   * Called synchronously right before the request is handed to a connection, each time it is: a request may wait for a
   * connection, or be repeated after a 401 or a refusal, and what was allowed when it was made may be forbidden by then.
   * What it throws, the request rejects with, and nothing is sent. For the write gate.
   */
  readonly beforeSend?: (() => void) | undefined
  /**
   * Asked once more right before bytes go to the operating system; false ends the connection. Requests that have it share connections of their own.
   * The same function for all of them.
   */
  readonly mayWrite?: (() => boolean) | undefined
}

export interface TransportResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface TransportStream {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /**
   * Hands over each chunk as it comes, in order, then calls `end` exactly once: without an error where the server ended the
   * stream, with one where it broke. Must be called in the turn the stream was handed out.
   */
  read(data: (chunk: Buffer) => void, end: (error?: Error) => void): void
  /** Ends the stream from this side; `end` is called, without an error. */
  close(): void
}

export interface Transport {
  /** Resolves with whatever status the server answers; rejects only when there was no answer. */
  request(request: TransportRequest): Promise<TransportResponse>
  /** The same for an answer that is read as it comes (a watch). */
  stream(request: TransportRequest): Promise<TransportStream>
  close(): Promise<void>
}
