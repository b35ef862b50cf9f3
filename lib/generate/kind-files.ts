/** The files of a new kind in a project: its handler, a sample, and tests on the embedded API server and in a real cluster. */

import { pluralOf } from '../resource/plural.ts'
import type { GeneratedFile } from './plan.ts'

export interface NewKind {
  /** CamelCase: `Shop`. */
  readonly kind: string
  readonly group: string
  readonly version: string
}

/** `WebShop` is `web-shop` in file names. */
export function fileName(kind: string): string {
  return kind.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-').toLowerCase()
}

export function kindFiles(kind: NewKind): GeneratedFile[] {
  const file = fileName(kind.kind)
  return [
    { path: `handlers/${file}.ts`, content: handler(kind) },
    { path: `samples/${file}.yaml`, content: sample(kind) },
    { path: `test/${file}.test.ts`, content: embeddedTest(kind) },
    { path: `test/cluster/${file}.test.ts`, content: clusterTest(kind) },
  ]
}

function handler({ kind, group, version }: NewKind): string {
  const object = variable(kind)
  return `/** ${kind}: a Deployment for each. Make of the spec, the children and \`reconcile\` what yours should be. */
import { type Context, onReconcile, owns, type Resource, requeueAfter, resource, z } from 'tsop'
import { Deployment } from 'tsop/kinds'

export const ${kind} = resource({
  group: '${group}',
  version: '${version}',
  kind: '${kind}',
  description: 'A web server, as many times as it is asked for.',
  spec: z.object({
    image: z.string().default('nginx:1.29').describe('What the pods run.'),
    replicas: z.int().min(0).max(10).default(1).describe('How many pods.'),
  }),
  status: z.object({
    readyReplicas: z.int().describe('How many pods are ready.'),
  }),
  printerColumns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
  ],
})
export type ${kind} = Resource<typeof ${kind}>

export class ${kind}Handler {
  /** tsop creates it, repairs it when somebody changes it, and deletes it with its owner. */
  @owns(Deployment)
  deployment({ metadata, spec: { image, replicas } }: ${kind}) {
    const labels = { 'app.kubernetes.io/name': '${fileName(kind)}', 'app.kubernetes.io/instance': metadata.name }
    return {
      metadata: { labels },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
      },
    }
  }

  /** Runs whenever something of it changed. What is to be done outside of the children is done here. */
  @onReconcile(${kind})
  reconcile(${object}: ${kind}, ctx: Context<${kind}>) {
    const ready = ctx.child(Deployment)?.status?.readyReplicas ?? 0
    ctx.status.readyReplicas = ready
    if (ready < ${object}.spec.replicas) {
      return requeueAfter('1m', { reason: 'PodsStarting', message: \`\${ready} of \${${object}.spec.replicas} pods are ready\` })
    }
  }
}
`
}

function sample({ kind, group, version }: NewKind): string {
  return `apiVersion: ${group}/${version}
kind: ${kind}
metadata:
  name: ${sampleName(kind)}
spec:
  replicas: 2
`
}

function embeddedTest({ kind, group, version }: NewKind): string {
  return `/** On the embedded API server: nothing has to be installed, and time passes when the test says so. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Deployment } from 'tsop/kinds'
import { condition, embedded, ready, type TestCluster } from 'tsop/testing'
import { ${kind}, ${kind}Handler } from '../handlers/${fileName(kind)}.ts'

const ref = { name: 'a', namespace: 'default' }
const sample = { apiVersion: '${group}/${version}', kind: '${kind}', metadata: ref, spec: { replicas: 2 } }

describe('${kind}', () => {
  let cluster: TestCluster
  beforeEach(async () => {
    cluster = await embedded({ handlers: [${kind}Handler] })
    await cluster.apply(sample)
    await cluster.settled()
  })
  afterEach(() => cluster.close())

  it('has a Deployment with as many pods as it asks for', async () => {
    assert.equal((await cluster.client.get(Deployment, ref)).spec?.replicas, 2)
  })

  it('is ready once its pods are', async () => {
    assert.equal(condition(await cluster.client.get(${kind}, ref), 'Reconciling')?.reason, 'PodsStarting')
    // No pod runs here: the test says when they are ready.
    const status = { replicas: 2, readyReplicas: 2, availableReplicas: 2 }
    await cluster.client.status.patch(Deployment, ref, { type: 'merge', value: { status } })
    await cluster.settled()
    assert.ok(ready(await cluster.client.get(${kind}, ref)))
  })

  it('repairs its Deployment', async () => {
    await cluster.client.patch(Deployment, ref, { type: 'merge', value: { spec: { replicas: 7 } } })
    await cluster.settled()
    assert.equal((await cluster.client.get(Deployment, ref)).spec?.replicas, 2)
  })

  it('writes nothing when nothing is to be done', async () => {
    cluster.resetRequests()
    await cluster.clock.advance('1h')
    assert.deepEqual(cluster.writes().map(String), [])
  })
})
`
}

function clusterTest({ kind, group }: NewKind): string {
  const name = sampleName(kind)
  const file = fileName(kind)
  return `/** In the cluster of your kubeconfig, in a namespace of its own. Whether pods get ready is up to the cluster. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'

const namespace = \`${file}-test-\${process.pid}\`

async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('kubectl', ['--namespace', namespace, ...args], { timeout: 120_000 })
  return stdout
}

describe('${kind} in a cluster', { timeout: 240_000 }, () => {
  let operator: ChildProcess | undefined
  before(async () => {
    await kubectl('create', 'namespace', namespace)
    const args = ['handlers', '--install-crds', '--namespace', namespace, '--apply', 'samples/${file}.yaml']
    operator = spawn('node_modules/.bin/tsop-run', args, { stdio: 'inherit' })
  })
  after(async () => {
    await kubectl('delete', '${pluralOf(kind)}.${group}', '--all', '--ignore-not-found')
    operator?.kill()
    if (operator?.exitCode === null) await once(operator, 'exit')
    await kubectl('delete', 'namespace', namespace, '--wait=false')
  })

  it('gets a Deployment, which follows its spec', async () => {
    await kubectl('wait', '--for=create', 'deployment/${name}', '--timeout=60s')
    await kubectl('patch', '${pluralOf(kind)}.${group}', '${name}', '--type=merge', '--patch', '{"spec":{"replicas":3}}')
    await kubectl('wait', '--for=jsonpath={.spec.replicas}=3', 'deployment/${name}', '--timeout=60s')
    const kinds = await kubectl('get', 'deployment', '${name}', '--output', 'jsonpath={.metadata.ownerReferences[*].kind}')
    assert.equal(kinds, '${kind}')
  })
})
`
}

function sampleName(kind: string): string {
  return `${fileName(kind)}-sample`
}

/** Words that cannot be the name of a variable get another. */
function variable(kind: string): string {
  const name = kind.slice(0, 1).toLowerCase() + kind.slice(1)
  return RESERVED.has(name) ? 'object' : name
}

const RESERVED = new Set(
  'break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with implements interface let package private protected public static yield await ctx ready owns resource z eval arguments onReconcile requeueAfter'.split(
    ' ',
  ),
)
