import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Credentials } from '../../../lib/api/cluster.ts'
import { ConfigError } from '../../../lib/api/config-error.ts'
import { loadCluster } from '../../../lib/api/kubeconfig.ts'
import { ManualClock } from '../manual-clock.ts'
import { cert, key } from './servers.ts'

describe('credentials by a plugin', function () {
  // client-node takes a second or two to load.
  this.timeout(20_000)
  let folder: string
  let clock: ManualClock

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsop-plugin-'))
    clock = new ManualClock()
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n')

  /** A plugin that notes each run and prints `status`, in which @@ is the number of the run. */
  function plugin(status: object): string {
    const file = join(folder, 'plugin')
    const output = JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })
    writeFileSync(
      file,
      `#!${process.execPath}
const fs = require('node:fs'), runs = __dirname + '/runs'
fs.appendFileSync(runs, (process.env.KUBERNETES_EXEC_INFO ?? 'no info') + '\\n')
const n = fs.readFileSync(runs, 'utf8').trim().split('\\n').length
console.log(${JSON.stringify(output)}.replaceAll('@@', n))
`,
    )
    chmodSync(file, 0o755)
    return file
  }

  function cluster(user: object) {
    const file = join(folder, 'config')
    writeFileSync(
      file,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: 'https://api.test' } }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    )
    return loadCluster({ kubeconfig: file, env: {}, clock })
  }

  const exec = (command: string) => ({
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command, provideClusterInfo: true, interactiveMode: 'Never' },
  })

  it('are asked for once by many at the same time, and kept', async () => {
    plugin({ token: 'token-@@' })
    const made = await cluster(exec('./plugin'))
    const all = await Promise.all(Array.from({ length: 20 }, () => made.credentials()))
    expect(all[0]?.headers).to.deep.equal({ authorization: 'Bearer token-1' })
    expect(new Set(all).size).to.equal(1)
    await clock.advance(60_000)
    expect(await made.credentials()).to.equal(all[0])
    expect(runs()).to.have.length(1)
  })

  it('are told about the cluster as kubectl tells them', async () => {
    plugin({ token: 't' })
    await (await cluster(exec('./plugin'))).credentials()
    expect(JSON.parse(runs()[0] ?? '')).to.deep.include({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://api.test' } },
    })
  })

  it('are asked for again once they have expired', async () => {
    plugin({ token: 'token-@@', expirationTimestamp: '2020-01-01T00:00:00Z' })
    const made = await cluster(exec('./plugin'))
    await made.credentials()
    await clock.advance(10_000)
    expect((await made.credentials()).headers).to.deep.equal({ authorization: 'Bearer token-2' })
  })

  it('are asked for again after a 401, though not more than every 5 s', async () => {
    plugin({ token: 'token-@@' })
    const made = await cluster(exec('./plugin'))
    const first = (await made.credentials()) as Credentials
    const second = await Promise.all(Array.from({ length: 20 }, () => made.renew(first)))
    expect(second.map(({ headers }) => headers['authorization'])).to.deep.equal(Array(20).fill('Bearer token-2'))
    expect(await made.renew(second[0] as Credentials)).to.equal(second[0])
    await clock.advance(5000)
    expect((await made.renew(second[0] as Credentials)).headers).to.deep.equal({ authorization: 'Bearer token-3' })
    expect(runs()).to.have.length(3)
  })

  it('may be a client certificate', async () => {
    plugin({ clientCertificateData: cert, clientKeyData: key })
    const { tls } = await (await cluster(exec('./plugin'))).credentials()
    expect(tls).to.deep.equal({ cert, key, rejectUnauthorized: true })
  })

  it('that cannot be had are an error of one line that names the plugin', async () => {
    const error = await Promise.resolve((await cluster(exec('./missing'))).credentials()).catch((error) => error)
    expect(error).to.be.instanceOf(ConfigError)
    expect(error.message).to.match(
      /^the credential plugin "\.\/missing" of the user "u" of .*\/config gave no credentials: .*ENOENT[^\n]*$/,
    )
  })

  it('may come from an identity provider', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const token = `${part({ alg: 'none' })}.${part({ exp: 32503680000 })}.x`
    const made = await cluster({ 'auth-provider': { name: 'oidc', config: { 'id-token': token } } })
    expect((await made.credentials()).headers).to.deep.equal({ authorization: `Bearer ${token}` })
  })
})
