/** The charts of tsop generate deploy, as helm sees them. */
import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { parseYaml } from '../../lib/resource/yaml.ts'
import { realServer, type Server } from './servers.ts'

const CHARTS = ['config', ...['disruption-budgets', 'renderings', 'secret-rollout', 'teams'].map((name) => `examples/${name}/config`)]
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

  for (const config of CHARTS) {
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
        await kubectl(
          'apply',
          '--dry-run=server',
          '--warnings-as-errors',
          '-f',
          '-',
          JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
        )
      })
  }

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
