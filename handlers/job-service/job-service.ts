/**
 * A small service that does long jobs, standing for a provider outside the cluster: backups for `handlers/database.ts`, renderings for
 * one of the examples. Start it with `npm run job-service -- [PORT] [SECONDS]`.
 *
 *   POST /jobs         starts the job that the body describes, under the key of the header Idempotency-Key. 201 with the job; 200 with
 *                      the job that is there, where the key is known already
 *   GET  /jobs/<key>   the job; 404 where the key is not known
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A job as the service answers it. */
export interface Job {
  readonly key: string
  readonly state: 'running' | 'done' | 'failed'
  /** For people: how far it is, or why it failed. */
  readonly message: string
  /** Where the result is, once it is done. */
  readonly location?: string
  /** What was asked for. */
  readonly request: unknown
}

export interface JobServiceOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** How long a job takes. Default: until `finish` or `fail` is called. */
  readonly jobMs?: number
}

export class JobService {
  readonly #jobs = new Map<string, Job>()
  readonly #jobMs: number | undefined
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  private constructor(jobMs: number | undefined) {
    this.#jobMs = jobMs
  }

  static async start({ port = 0, jobMs }: JobServiceOptions = {}): Promise<JobService> {
    const service = new JobService(jobMs)
    await new Promise<void>((resolve, reject) => {
      service.#server.once('error', reject)
      service.#server.listen(port, '127.0.0.1', resolve)
    })
    return service
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** All jobs that were ever started. */
  get jobs(): readonly Job[] {
    return [...this.#jobs.values()]
  }

  finish(key: string): void {
    this.#change(key, { state: 'done', message: '', location: `results/${key}` })
  }

  fail(key: string, message: string): void {
    this.#change(key, { state: 'failed', message })
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #change(key: string, change: Partial<Job>): void {
    const job = this.#jobs.get(key)
    if (job?.state === 'running') this.#jobs.set(key, { ...job, ...change })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, collection, key] = (request.url ?? '').split('/')
    const idempotencyKey = request.headers['idempotency-key']
    if (collection !== 'jobs') return reply(response, 404, { error: 'there are only /jobs' })
    if (request.method === 'GET' && key !== undefined) {
      const job = this.#jobs.get(decodeURIComponent(key))
      return job === undefined ? reply(response, 404, { error: 'no such job' }) : reply(response, 200, job)
    }
    if (request.method !== 'POST') return reply(response, 405, { error: 'GET and POST only' })
    if (typeof idempotencyKey !== 'string' || idempotencyKey === '') return reply(response, 400, { error: 'Idempotency-Key is missing' })
    const body = await read(request)
    // Looked up only now: between this and the next line nobody else gets a turn.
    const known = this.#jobs.get(idempotencyKey)
    reply(response, known === undefined ? 201 : 200, known ?? this.#start(idempotencyKey, body))
  }

  #start(key: string, request: unknown): Job {
    const job: Job = { key, state: 'running', message: 'in progress', request }
    this.#jobs.set(key, job)
    if (this.#jobMs !== undefined) setTimeout(() => this.finish(key), this.#jobMs).unref()
    return job
  }
}

async function read(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return undefined
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

if (import.meta.main) {
  const [port = '8088', seconds = '20'] = process.argv.slice(2)
  const service = await JobService.start({ port: Number(port), jobMs: Number(seconds) * 1000 })
  process.stdout.write(`jobs of ${seconds} s at ${service.url}\n`)
}
