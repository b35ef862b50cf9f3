/** Operators of other frameworks do their work on the embedded server: informers, leases, patches, finalizers, restarts. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import type { ApiResponse } from '../../lib/embedded/types.ts'
import { until } from '../cluster/until.ts'
import { embeddedServer } from './servers.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const build = (script: string) => execFileSync(here(script), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()

const OPERATORS: Readonly<Record<string, () => readonly string[]>> = {
  'controller-runtime': () => [join(build('programs/build'), 'operator')],
  kopf: () => [join(build('kopf/build'), 'bin/kopf'), 'run', '--standalone', '--all-namespaces', '--quiet', here('kopf/operator.py')],
}

const NAMESPACE = 'default'
const GADGETS = `/apis/foreign.example.com/v1/namespaces/${NAMESPACE}/gadgets`
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.foreign.example.com' },
  spec: {
    group: 'foreign.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { message: { type: 'string' } } },
              status: { type: 'object', properties: { observedGeneration: { type: 'integer', format: 'int64' } } },
            },
          },
        },
      },
    ],
  },
}

for (const [framework, commandOf] of Object.entries(OPERATORS)) {
  describe(`an operator on ${framework}`, function () {
    this.timeout(600_000)
    let server: Awaited<ReturnType<typeof embeddedServer>>
    let command: readonly string[]
    let operator: Program

    before(async () => {
      command = commandOf()
      server = await embeddedServer()
      await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION)
      await server.server.settled()
      operator = new Program(command, { KUBECONFIG: server.kubeconfig, NAMESPACE })
    })
    after(async () => {
      await operator?.stop()
      await server?.stop()
    })

    async function ask(method: string, url: string, body?: object, type = 'application/json') {
      const { token } = server.server
      const response: ApiResponse = await server.server.handle({
        method,
        url,
        headers: { 'content-type': type, authorization: `Bearer ${token}` },
        body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
        signal: new AbortController().signal,
      })
      return { status: response.status, body: JSON.parse(String(response.body)) }
    }
    const merge = (path: string, patch: object) => ask('PATCH', path, patch, 'application/merge-patch+json')
    const said = (what: string) => () => `${what}; the operator said:\n${operator.log.slice(-3000)}`
    const message = async (name: string) => (await ask('GET', `${MAPS}/${name}`)).body.data?.message
    const settledAt = async (name: string) => {
      const { metadata, status } = (await ask('GET', `${GADGETS}/${name}`)).body
      return status?.observedGeneration === metadata.generation
    }
    const create = (name: string, text: string) =>
      ask('POST', GADGETS, { apiVersion: 'foreign.example.com/v1', kind: 'Gadget', metadata: { name }, spec: { message: text } })

    it('makes a child and tells so in the status', async () => {
      await create('a', 'hello')
      await until(async () => (await message('a')) === 'hello' && (await settledAt('a')), said('the child of a'))
      expect((await ask('GET', `${GADGETS}/a`)).body.metadata.finalizers).to.deep.equal(['foreign.example.com/cleanup'])
    })

    it('follows changes, and puts a deleted child back', async () => {
      await merge(`${GADGETS}/a`, { spec: { message: 'bye' } })
      await until(async () => (await message('a')) === 'bye' && (await settledAt('a')), said('the change of a'))
      const { uid } = (await ask('DELETE', `${MAPS}/a`)).body.details
      await until(async () => {
        const { body } = await ask('GET', `${MAPS}/a`)
        return body.data?.message === 'bye' && body.metadata.uid !== uid
      }, said('another child of a'))
    })

    it('goes on after its watches were cut and their past has expired', async () => {
      server.server.faults.dropWatches()
      server.server.compact()
      await create('b', 'after')
      await until(async () => (await message('b')) === 'after' && (await settledAt('b')), said('the child of b'))
    })

    it('changes nothing of what is as it should be after a restart', async () => {
      const versions = () =>
        Promise.all(
          ['a', 'b'].flatMap((name) =>
            [`${GADGETS}/${name}`, `${MAPS}/${name}`].map(async (path) => (await ask('GET', path)).body.metadata.resourceVersion),
          ),
        )
      await operator.stop()
      const before = await versions()
      operator = new Program(command, { KUBECONFIG: server.kubeconfig, NAMESPACE })
      await create('c', 'new')
      await until(async () => (await message('c')) === 'new' && (await settledAt('c')), said('the child of c'))
      expect(await versions()).to.deep.equal(before)
    })

    it('cleans up before an object goes, and its child is collected', async () => {
      await ask('DELETE', `${GADGETS}/a`)
      await until(async () => (await ask('GET', `${GADGETS}/a`)).status === 404, said('the end of a'))
      await server.server.settled()
      expect((await ask('GET', `${MAPS}/a-was-here`)).status).to.equal(200)
      expect((await ask('GET', `${MAPS}/a`)).status).to.equal(404)
    })
  })
}

class Program {
  log = ''
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor([path = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(path, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve))
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.log += chunk
      })
    }
  }

  /** With SIGTERM, as in a cluster. */
  async stop(): Promise<void> {
    this.#child.kill()
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 15_000)
    await this.#ended
    clearTimeout(late)
  }
}
