/** The charts of tsop generate deploy, as helm sees them. */
import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { parseYaml } from '../../lib/resource/yaml.ts'
import { realServer, type Server } from './servers.ts'

const CHARTS = ['config', ...['disruption-budgets', 'renderings', 'secret-rollout', 'teams'].map((name) => `examples/${name}/config`)]
/** Of handlers that the API server asks. */
const ASKED = 'test/unit/generate/golden/crates'
const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

/** Everything that values can switch. */
const MUCH = [
  'namespaces={first,second}',
  'metrics.secure=true',
  'args={--concurrency=Database=4}',
  'podLabels.team=sea',
  'podAnnotations.note=yes',
  'nodeSelector.disk=ssd',
  'priorityClassName=system-cluster-critical',
  'env[0].name=A',
  'env[0].value=b',
  'image.digest=sha256:0000000000000000000000000000000000000000000000000000000000000000',
  'imagePullSecrets[0].name=pull',
  'tolerations[0].operator=Exists',
  'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring',
  'serviceAccount.annotations.role=cloud',
].flatMap((value) => ['--set', value])

const LITTLE = ['metrics', 'networkPolicy', 'podDisruptionBudget', 'fence', 'userRoles'].flatMap((part) => [
  '--set',
  `${part}.enabled=false`,
])

describe('the charts of tsop generate deploy', function () {
  this.timeout(600_000)
  let server: Server
  let helm: string

  before(async () => {
    const build = fileURLToPath(new URL('programs/build', import.meta.url))
    helm = `${execFileSync(build, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()}/helm`
    server = await realServer()
    for (const namespace of ['operators', 'first', 'second']) await kubectl('create', 'namespace', namespace)
    await kubectl('label', 'namespace', 'operators', 'pod-security.kubernetes.io/enforce=restricted')
  })
  after(() => server?.stop())

  for (const config of [...CHARTS, ASKED]) {
    const chart = `${PROJECT}${config}/deploy/helm`

    it(`of ${config} have nothing that helm lint objects to`, async () => {
      expect(await run('lint', '--strict', chart)).to.include('1 chart(s) linted, 0 chart(s) failed')
    })

    for (const [name, values] of Object.entries({ 'as they are': [], 'with everything': MUCH, 'with little': LITTLE }))
      it(`of ${config} are taken by the API server ${name}`, async () => {
        const objects = parseYaml(await rendered(chart, values)).map(({ value }) => value as { kind: string })
        expect(objects.map((object) => object.kind)).to.include.members(['Deployment', 'ServiceAccount', 'Role'])
        const names = objects.map((object) => JSON.stringify([object.kind, (object as never as { metadata: object }).metadata]))
        expect(new Set(names).size).to.equal(names.length)
        await taken(objects)
      })
  }

  describe('of handlers that the API server asks', () => {
    const chart = `${PROJECT}${ASKED}/deploy/helm`
    const objects = async (...values: string[]) =>
      parseYaml(await rendered(chart, values)).map(
        ({ value }) => value as { kind: string; metadata: { name: string } } & Record<string, never>,
      )
    const names = async (...values: string[]) => (await objects(...values)).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    const name = 'x-crate-operator'

    before(async () => {
      for (const file of ['certificates', 'issuers'])
        await kubectl('apply', '-f', `${PROJECT}test/unit/generate/fixtures/cert-manager/${file}.yaml`)
      await kubectl('wait', '--for=condition=Established', 'crd/certificates.cert-manager.io', 'crd/issuers.cert-manager.io')
    })

    it('have a Service, its port in the pod and in the NetworkPolicy, and a Secret for the certificate of the operator', async () => {
      const all = await objects()
      expect(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).to.include.members([
        `Service ${name}-webhook`,
        `Secret ${name}-webhook-tls`,
        `MutatingWebhookConfiguration ${name}-webhook`,
        `ValidatingWebhookConfiguration ${name}-webhook`,
        `ClusterRole ${name}-webhook`,
      ])
      const text = JSON.stringify(all)
      expect(text).to.include('"name":"webhooks","containerPort":9443').and.to.include('{"port":"webhooks","protocol":"TCP"}')
      expect(text).to.not.include('cert-manager').and.to.not.include('webhook-cert-path').and.to.not.include('namespaceSelector')
    })

    it('have an Issuer and a Certificate instead where cert-manager is wanted, and no rights to look after one', async () => {
      const all = await names('--set', 'certManager.enabled=true')
      expect(all).to.include.members([`Issuer ${name}-webhook`, `Certificate ${name}-webhook`])
      expect(all).to.not.include(`Secret ${name}-webhook-tls`)
      expect(all.filter((each) => /Role(Binding)? .*-webhook$/.test(each))).to.deep.equal([])
      const text = JSON.stringify(await objects('--set', 'certManager.enabled=true'))
      // Both configurations and the definition.
      expect(text.split(`"cert-manager.io/inject-ca-from":"operators/${name}-webhook"`)).to.have.length(4)
      expect(text).to.include('"--webhook-cert-path=/etc/webhook-certs"').and.to.include('"mountPath":"/etc/webhook-certs"')
      expect(text).to.include(`"secret":{"secretName":"${name}-webhook-tls"}`)
    })

    it('take the issuer that they are given', async () => {
      const issuer = [
        'certManager.enabled=true',
        'certManager.issuerRef.kind=ClusterIssuer',
        'certManager.issuerRef.name=company',
        'crds.keep=false',
      ]
      const all = await objects(...issuer.flatMap((value) => ['--set', value]))
      expect(all.map(({ kind }) => kind)).to.not.include('Issuer')
      expect(JSON.stringify(all)).to.include('"issuerRef":{"kind":"ClusterIssuer","name":"company"}')
      await taken(all)
    })

    it('are taken by the API server with cert-manager, too, and ask about the namespaces of the values only', async () => {
      const all = await objects('--set', 'certManager.enabled=true', '--set', 'namespaces={first,second}')
      expect(JSON.stringify(all)).to.include('"operator":"In","values":["first","second"]')
      await taken(all)
    })

    it('leave a definition that can be read without the operator, where tsop uninstall --keep-data comes before helm uninstall', async () => {
      await run('install', 'two', chart, '-n', 'operators')
      const tsop = ['--conditions=tsop-source', `${PROJECT}lib/cli/tsop.ts`, 'uninstall', `${PROJECT}test/cluster/fixtures/crate.ts`]
      const named = ['--name', 'two-crate-operator', '--home', 'operators', '--keep-data', '--yes']
      const { stdout } = await promisify(execFile)(process.execPath, [...tsop, ...named], {
        env: { ...process.env, KUBECONFIG: server.kubeconfig },
      })
      expect(stdout).to.include('of crates.crates.example.com only version v1 is served from now on')
      await run('uninstall', 'two', '-n', 'operators')
      const definition = JSON.parse(await kubectl('get', 'crd', 'crates.crates.example.com', '-o', 'json'))
      expect(definition.spec.conversion.strategy).to.equal('None')
      const left = 'deployment,sa,role,rolebinding,svc,secret,mutatingwebhookconfigurations,validatingwebhookconfigurations'
      expect(await kubectl('get', left, '-n', 'operators', '-o', 'name')).to.not.include('two-crate-operator')
    })
  })

  it('are installed, upgraded, and taken away by helm; the definitions stay', async () => {
    const chart = `${PROJECT}config/deploy/helm`
    await run('install', 'one', chart, '-n', 'operators')
    const deployment = async () => JSON.parse(await kubectl('get', 'deployment', 'one-database-operator', '-n', 'operators', '-o', 'json'))
    expect((await deployment()).spec.replicas).to.equal(2)
    await run('upgrade', 'one', chart, '-n', 'operators', '--set', 'replicas=3', '--set', 'namespaces={first}')
    expect((await deployment()).spec.replicas).to.equal(3)
    expect(await kubectl('get', 'roles', '-n', 'first', '-o', 'name')).to.include('role.rbac.authorization.k8s.io/one-database-operator')
    expect(await kubectl('get', 'clusterroles', '-o', 'name')).to.not.match(/\/one-database-operator$/m)
    await run('uninstall', 'one', '-n', 'operators')
    const left = await kubectl('get', 'deployment,sa,role,rolebinding,svc,netpol,pdb,lease', '-n', 'operators', '-o', 'name')
    expect(left).to.not.include('one-database-operator')
    expect(await kubectl('get', 'crd', '-o', 'name')).to.include('databases.db.example.com')
  })

  it('have a schema that says what is wrong with values', async () => {
    const error = await run('template', 'x', `${PROJECT}config/deploy/helm`, '--set', 'replicas=two').catch((failed) => failed)
    expect(error.stderr).to.match(/replicas'?: got string, want integer/)
  })

  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(helm, args, { env: { ...process.env, KUBECONFIG: server.kubeconfig, HOME: server.dir } })
    return stdout
  }
  /** Against the server, so that its version is known. */
  const rendered = (chart: string, values: readonly string[]) =>
    run('install', 'x', chart, '-n', 'operators', '--dry-run=server', '--no-hooks', '-o', 'json', ...values).then(
      (text) => (JSON.parse(text) as { manifest: string }).manifest,
    )

  const taken = (items: readonly object[]) =>
    kubectl('apply', '--dry-run=server', '--warnings-as-errors', '-f', '-', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))

  function kubectl(...args: string[]): Promise<string> {
    const input = args.includes('-') ? args.pop() : undefined
    return new Promise((resolve, reject) => {
      const child = execFile(server.kubectl, ['--kubeconfig', server.kubeconfig, ...args], (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(`kubectl ${args.join(' ')}: ${stderr}`)),
      )
      child.stdin?.end(input)
    })
  }
})
