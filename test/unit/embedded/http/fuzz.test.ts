import { expect } from 'chai'
import fc from 'fast-check'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import type { ApiResponse } from '../../../../lib/embedded/types.ts'

/** JSON, and what is nearly JSON: deep, with members that objects have anyway, with numbers no number holds, cut off. */
const keys = fc.constantFrom(
  'metadata',
  'name',
  'spec',
  'data',
  '__proto__',
  'constructor',
  'toString',
  'apiVersion',
  'kind',
  'labels',
  'managedFields',
  'ownerReferences',
  'finalizers',
)
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'null',
      'true',
      '1',
      '-0',
      '1e400',
      '9223372036854775808',
      '1.5',
      '""',
      '"a"',
      '"\\u0000"',
      '"\\ud800"',
      '[]',
      '{}',
      '"2026-01-01T00:00:00Z"',
    ),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(keys, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([key, text]) => `"${key}":${text}`).join(',')}}`),
  ),
}))
const object = fc
  .tuple(fc.constantFrom('ConfigMap', 'Pod', 'Lease', 'Event'), value, value, value)
  .map(([kind, metadata, data, spec]) => `{"apiVersion":"v1","kind":"${kind}","metadata":${metadata},"data":${data},"spec":${spec}}`)
/** By names, so that a failure can be printed. */
const DEEP = new Map([
  ['deep array', '['.repeat(100_000)],
  ['deep object', '{"a":'.repeat(20_000)],
  ['deep data', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"data":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ['deep member', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`],
  ['deep patch', `[{"op":"add","path":"/data","value":${'['.repeat(9_000)}${']'.repeat(9_000)}}]`],
])
const LAUGHS = Array.from(
  { length: 12 },
  (_, i) => `${'abcdefghijklm'[i + 1]}: &${'abcdefghijklm'[i + 1]} [${Array(9).fill(`*${'abcdefghijklm'[i]}`)}]`,
)
DEEP.set('laughs', `a: &a [x]\n${LAUGHS.join('\n')}\n`)
DEEP.set('deep yaml', '- '.repeat(50_000))
DEEP.set('deep flow', '['.repeat(5_000) + ']'.repeat(5_000))
const body = fc.oneof(
  fc.constant(undefined),
  value,
  object,
  fc.tuple(object, fc.nat(60)).map(([text, at]) => text.slice(0, at)),
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom('a: &a [*a, *a]', '- - - -', ...DEEP.keys()),
)
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'FOO')
const part = fc.constantFrom(
  'api',
  'apis',
  'v1',
  'apps',
  'namespaces',
  'default',
  'configmaps',
  'pods',
  'a',
  'status',
  'scale',
  '__proto__',
  'constructor',
  '%00',
  '%ff',
  '..',
  '',
  'ü',
  'watch',
  'openapi',
  'v3',
  'v2',
  'leases',
  'coordination.k8s.io',
)
const path = fc.oneof(
  fc.constantFrom(
    '/api/v1/namespaces/default/configmaps',
    '/api/v1/namespaces/default/configmaps/a',
    '/api/v1/namespaces/default/pods',
    '/api/v1/namespaces/default/pods/a/status',
    '/apis/coordination.k8s.io/v1/namespaces/default/leases/a',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/apps/v1/namespaces/default/deployments/a/scale',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  ),
  fc.array(part, { maxLength: 7 }).map((parts) => `/${parts.join('/')}`),
)
const parameter = fc.tuple(
  fc.constantFrom(
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'watch',
    'labelSelector',
    'fieldSelector',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'force',
    'timeoutSeconds',
    'pretty',
    'propagationPolicy',
    'gracePeriodSeconds',
    'orphanDependents',
    'sendInitialEvents',
    'includeObject',
  ),
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    'true',
    'All',
    'Strict',
    'Exact',
    'x',
    'a=b',
    '!',
    '%00',
    '%',
    '99999999999999999999',
    'Foreground',
    'Orphan',
    'é',
  ),
)
const query = fc.array(parameter, { maxLength: 3 }).map((pairs) => pairs.map(([name, text]) => `${name}=${text}`).join('&'))
const headers = fc.record({
  'content-type': fc.constantFrom(
    'application/json',
    'application/yaml',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
    'application/vnd.kubernetes.protobuf',
    'text/plain',
    'garbage',
    '',
  ),
  accept: fc.constantFrom(
    'application/json',
    '*/*',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/yaml',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    ';;;',
    'text/html',
    '',
  ),
  'user-agent': fc.constantFrom('kubectl/v1.36', 'Mozilla/5.0', '', '/', 'ü'),
})

describe('whatever is sent', () => {
  let server: EmbeddedServer
  const faults: unknown[] = []
  const errors: string[] = []

  before(async () => {
    server = await createServer({ report: (error) => faults.push(error), random: () => 0.5 })
  })
  after(() => server.close())

  it('is answered, faults nothing, and touches no object but those it names', async function () {
    this.timeout(60_000)
    const sentinel = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sentinel', namespace: 'kube-public' }, data: { x: '1' } }
    await send('POST', '/api/v1/namespaces/kube-public/configmaps', { 'content-type': 'application/json' }, JSON.stringify(sentinel))
    await fc.assert(
      fc.asyncProperty(method, path, query, headers, body, async (method, path, query, headers, body) => {
        const { status, body: answer } = await send(method, `${path}?${query}`, headers, DEEP.get(String(body)) ?? body)
        expect(status).to.be.within(200, 599)
        if (typeof answer !== 'string' && !Buffer.isBuffer(answer)) {
          answer.start({ write: () => true, pending: 0, drained: () => {}, end: () => {}, destroy: () => errors.push('broken') }).stop()
        }
        expect(faults.splice(0).map((fault) => (fault as Error).stack)).to.deep.equal([])
        expect(errors).to.deep.equal([])
        expect(Object.prototype).to.not.have.any.keys('name', 'a', 'metadata', 'spec')
      }),
      { numRuns: 1500 },
    )
    const { body: found } = await send('GET', '/api/v1/namespaces/kube-public/configmaps/sentinel', {}, undefined)
    expect(JSON.parse(String(found)).data).to.deep.equal({ x: '1' })
  })

  function send(method: string, url: string, headers: Record<string, string>, body: string | Buffer | undefined): Promise<ApiResponse> {
    return server.handle({ method, url, headers, body, signal: new AbortController().signal })
  }
})
