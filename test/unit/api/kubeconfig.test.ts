import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Cluster, Credentials } from '../../../lib/api/cluster.ts'
import { ConfigError } from '../../../lib/api/config-error.ts'
import { type LoadOptions, loadCluster } from '../../../lib/api/kubeconfig.ts'
import { ManualClock } from '../manual-clock.ts'
import { cert, key, otherCert } from './servers.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('the kubeconfig', () => {
  let folder: string
  let clock: ManualClock

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsop-kubeconfig-'))
    clock = new ManualClock()
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  /** Writes a file below the folder; an object as JSON. Each one is younger than the one before. */
  let age = 0
  function write(name: string, content: string | object): string {
    const file = join(folder, name)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    age += 10
    utimesSync(file, age, age)
    return file
  }

  const load = (options: Partial<LoadOptions> = {}) => loadCluster({ env: { HOME: folder }, clock, ...options })
  const loadFile = (file: string, options: Partial<LoadOptions> = {}) => load({ kubeconfig: file, ...options })

  /** A whole kubeconfig of one cluster `c`, one user `u` and one context `x`. */
  const config = (user: object, cluster: object = {}, context: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://api.test:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
  })

  const credentialsOf = async (user: object, cluster: object = {}) =>
    await (await loadFile(write('config', config(user, cluster)))).credentials()
  const token = async (cluster: Cluster) => (await cluster.credentials()).headers['authorization']

  describe('is found', () => {
    it('where --kubeconfig says, before all else', async () => {
      const file = write('mine', config({}, { server: 'https://mine' }))
      write('.kube/config', config({}, { server: 'https://home' }))
      expect(await load({ kubeconfig: file, env: { HOME: folder, KUBECONFIG: write('env', config({})) } })).to.include({
        server: 'https://mine',
        source: 'kubeconfig',
      })
    })

    it('in ~/.kube/config', async () => {
      const file = write('.kube/config', config({}, {}, { namespace: 'ns' }))
      const cluster = await load()
      expect(cluster).to.include({ name: 'c', context: 'x', server: 'https://api.test:6443', namespace: 'ns', insecure: false })
      expect(cluster.files).to.deep.equal([file])
    })

    it('in the files of KUBECONFIG, of which the first one wins and missing ones do not matter', async () => {
      const first = write('first', { ...config({ token: 'first' }), contexts: [] })
      const second = write('second', { ...config({ token: 'second' }, { server: 'https://second' }), 'current-context': 'y' })
      const env = { HOME: folder, KUBECONFIG: [join(folder, 'missing'), first, second].join(':') }
      const cluster = await load({ env })
      expect(cluster).to.include({ server: 'https://api.test:6443', context: 'x' })
      expect(await token(cluster)).to.equal('Bearer first')
    })

    it('as YAML as well as JSON, in block and flow style', async () => {
      for (const text of [
        'apiVersion: v1\nclusters:\n- name: c\n  cluster:\n    server: "https://yaml" # comment\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\nusers:\n- name: u\n  user:\n    token: 123456\ncurrent-context: x\n',
        '{clusters: [{name: c, cluster: {server: "https://yaml"}}], contexts: [{name: x, context: {cluster: c, user: u}}], users: [{name: u, user: {token: 123456}}], current-context: x}',
      ]) {
        const cluster = await loadFile(write('config', text))
        expect(cluster.server).to.equal('https://yaml')
        expect(await token(cluster)).to.equal('Bearer 123456')
      }
    })

    it('with a token as it is written, whatever it is to YAML', async () => {
      for (const text of ['0123', '12345678901234567890', '1e5', 'yes', '2026-01-01T00:00:00Z']) {
        const users = `users:\n- name: u\n  user:\n    token: ${text}\n`
        const rest = 'clusters:\n- {name: c, cluster: {server: "https://yaml"}}\ncontexts:\n- {name: x, context: {cluster: c, user: u}}\n'
        expect(await token(await loadFile(write('config', `${users}${rest}current-context: x\n`)))).to.equal(`Bearer ${text}`)
      }
    })

    it('with the context that is asked for', async () => {
      const file = write('config', {
        ...config({ token: 'a' }),
        contexts: [
          { name: 'x', context: { cluster: 'c', user: 'u' } },
          { name: 'y', context: { cluster: 'c', namespace: 'of-y' } },
        ],
      })
      const cluster = await loadFile(file, { context: 'y' })
      expect(cluster).to.include({ context: 'y', namespace: 'of-y' })
      expect(await token(cluster)).to.equal(undefined)
    })
  })

  describe('in a pod', () => {
    const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }

    it('is the service account', async () => {
      write('sa/token', 'secret\n')
      write('sa/ca.crt', cert)
      write('sa/namespace', 'operators')
      const cluster = await load({ env: { HOME: folder, ...pod }, serviceAccount: join(folder, 'sa') })
      expect(cluster).to.include({ source: 'in-cluster', server: 'https://10.96.0.1:443', namespace: 'operators', name: 'in-cluster' })
      const credentials = (await cluster.credentials()) as Credentials
      expect(credentials).to.deep.equal({ headers: { authorization: 'Bearer secret' }, tls: { ca: [cert], rejectUnauthorized: true } })
    })

    it('puts brackets around an IPv6 address', async () => {
      write('sa/token', 'secret')
      const cluster = await load({ env: { HOME: folder, ...pod, KUBERNETES_SERVICE_HOST: 'fd00::1' }, serviceAccount: join(folder, 'sa') })
      expect(cluster.server).to.equal('https://[fd00::1]:443')
    })

    it('gives way to a kubeconfig', async () => {
      write('.kube/config', config({}))
      expect(await load({ env: { HOME: folder, ...pod } })).to.include({ source: 'kubeconfig' })
    })

    it('takes a new token when the file changes', async () => {
      write('sa/token', 'old')
      const cluster = await load({ env: { HOME: folder, ...pod }, serviceAccount: join(folder, 'sa') })
      write('sa/token', 'new')
      expect(await token(cluster)).to.equal('Bearer old')
      await clock.advance(1000)
      expect(await token(cluster)).to.equal('Bearer new')
    })

    it('says when there is no token', async () => {
      await refused(
        load({ env: { HOME: folder, ...pod }, serviceAccount: folder }),
        `this pod has no service account token at ${folder}/token; is automountServiceAccountToken false?`,
      )
    })
  })

  describe('proves who we are', () => {
    it('by a token', async () => {
      expect((await credentialsOf({ token: 't' })).headers).to.deep.equal({ authorization: 'Bearer t' })
    })

    it('by the token in a file beside it, which wins over the token', async () => {
      write('secrets/token', 'from file\n'.replace(' ', '-'))
      expect((await credentialsOf({ token: 't', tokenFile: 'secrets/token' })).headers).to.deep.equal({ authorization: 'Bearer from-file' })
    })

    it('by the token while its file cannot be read', async () => {
      expect((await credentialsOf({ token: 't', tokenFile: 'missing' })).headers).to.deep.equal({ authorization: 'Bearer t' })
    })

    it('by name and password', async () => {
      expect((await credentialsOf({ username: 'ann', password: 'pass' })).headers).to.deep.equal({
        authorization: `Basic ${base64('ann:pass')}`,
      })
    })

    it('by a client certificate, in files beside it or inline', async () => {
      write('certs/me.crt', cert)
      write('certs/me.key', key)
      const tls = { cert, key, rejectUnauthorized: true }
      expect((await credentialsOf({ 'client-certificate': 'certs/me.crt', 'client-key': 'certs/me.key' })).tls).to.deep.equal(tls)
      expect((await credentialsOf({ 'client-certificate-data': base64(cert), 'client-key-data': base64(key) })).tls).to.deep.equal(tls)
    })

    it('as somebody else', async () => {
      const user = { as: 'ann', 'as-uid': '7', 'as-groups': ['dev', 'ops'], 'as-user-extra': { 'Example.com/scope': ['a', 'b'] } }
      expect((await credentialsOf(user)).headers).to.deep.equal({
        'impersonate-user': 'ann',
        'impersonate-uid': '7',
        'impersonate-group': ['dev', 'ops'],
        'impersonate-extra-example.com%2Fscope': ['a', 'b'],
      })
    })
  })

  describe('tells what to trust', () => {
    it('a CA in a file or inline, and another name in the certificate', async () => {
      write('ca.crt', cert)
      expect((await credentialsOf({}, { 'certificate-authority': 'ca.crt', 'tls-server-name': 'api' })).tls).to.deep.equal({
        ca: [cert],
        servername: 'api',
        rejectUnauthorized: true,
      })
      expect(
        (await credentialsOf({}, { 'certificate-authority-data': base64(otherCert), 'certificate-authority': 'ca.crt' })).tls,
      ).to.deep.equal({ ca: [otherCert], rejectUnauthorized: true })
    })

    it('everything, and says so', async () => {
      const cluster = await loadFile(write('config', config({}, { 'insecure-skip-tls-verify': true })))
      expect(cluster.insecure).to.equal(true)
      expect((await cluster.credentials()).tls).to.deep.equal({ rejectUnauthorized: false })
    })
  })

  describe('names a proxy', () => {
    it('by proxy-url, before the environment', async () => {
      const file = write('config', config({}, { 'proxy-url': 'http://mine:1' }))
      expect((await loadFile(file, { env: { HTTPS_PROXY: 'http://env:1' } })).proxy).to.equal('http://mine:1')
      expect((await loadFile(write('config', config({})), { env: { HTTPS_PROXY: 'http://env:1' } })).proxy).to.equal('http://env:1')
      expect((await loadFile(write('config', config({})))).proxy).to.equal(undefined)
    })

    it('but not one that cannot be used', async () => {
      const file = write('config', config({}, { 'proxy-url': 'socks5://mine:1' }))
      await refused(
        loadFile(file),
        `the proxy "socks5://mine:1" from proxy-url of ${file} cannot be used: only http:// and https:// proxies can`,
      )
    })
  })

  describe('is read again', () => {
    it('not before a second has passed, and then only where a file changed', async () => {
      const file = write('token', 'old')
      const cluster = await loadFile(write('config', config({ tokenFile: 'token' })))
      const first = cluster.credentials()
      await clock.advance(5000)
      expect(cluster.credentials()).to.equal(first)
      writeFileSync(file, 'new')
      expect(cluster.credentials()).to.equal(first)
      await clock.advance(999)
      expect(cluster.credentials()).to.equal(first)
      await clock.advance(1)
      expect(await token(cluster)).to.equal('Bearer new')
    })

    it('at once after a 401, the kubeconfig and the token file', async () => {
      const cluster = await loadFile(write('config', config({ token: 'old', tokenFile: 'token' })))
      const old = (await cluster.credentials()) as Credentials
      write('token', 'from-file')
      write('config', config({ token: 'new' }))
      expect((await cluster.renew(old)).headers).to.deep.equal({ authorization: 'Bearer new' })
      expect(await token(cluster)).to.equal('Bearer new')
    })

    it('once for all who were refused, and not for who was refused with older credentials', async () => {
      const cluster = await loadFile(write('config', config({ token: 'old' })))
      const old = (await cluster.credentials()) as Credentials
      write('config', config({ token: 'new' }))
      const renewed = await Promise.all(Array.from({ length: 20 }, () => cluster.renew(old)))
      expect(new Set(renewed).size).to.equal(1)
      write('config', config({ token: 'newer' }))
      expect(await cluster.renew(old)).to.equal(renewed[0])
    })

    it('with the same result where nothing is new', async () => {
      const cluster = await loadFile(write('config', config({ token: 't' }, { 'certificate-authority-data': base64(cert) })))
      const credentials = (await cluster.credentials()) as Credentials
      write('config', config({ token: 't' }, { 'certificate-authority-data': base64(cert) }))
      expect(await cluster.renew(credentials)).to.equal(credentials)
    })

    it('keeping the TLS settings as one object while only the token changes, and giving others for a new CA', async () => {
      const cluster = await loadFile(write('config', config({ token: 'a' }, { 'certificate-authority-data': base64(cert) })))
      const first = (await cluster.credentials()) as Credentials
      write('config', config({ token: 'b' }, { 'certificate-authority-data': base64(cert) }))
      const second = await cluster.renew(first)
      expect(second.tls).to.equal(first.tls)
      write('config', config({ token: 'b' }, { 'certificate-authority-data': base64(otherCert) }))
      await clock.advance(1000)
      const third = await cluster.credentials()
      expect(third.tls.ca).to.deep.equal([otherCert])
    })

    it('in the context it began with, whatever the current one is by then', async () => {
      const file = write('config', config({ token: 'a' }))
      const cluster = await loadFile(file)
      const other = config({ token: 'b' })
      write('config', { ...other, contexts: [...other.contexts, { name: 'z', context: { cluster: 'c' } }], 'current-context': 'z' })
      await clock.advance(1000)
      expect(await token(cluster)).to.equal('Bearer b')
    })

    it('but keeps what it has while a file is broken, or names another server', async () => {
      const cluster = await loadFile(write('config', config({ token: 'a' })))
      const first = (await cluster.credentials()) as Credentials
      for (const content of ['{ half', '', config({ token: 'b' }, { server: 'https://elsewhere' })]) {
        write('config', content)
        expect(await cluster.renew(first)).to.equal(first)
        await clock.advance(1000)
        expect(await cluster.credentials()).to.equal(first)
      }
      write('config', config({ token: 'c' }))
      await clock.advance(1000)
      expect(await token(cluster)).to.equal('Bearer c')
    })
  })

  describe('is refused in one line', () => {
    it('where there is none, with the places looked at', async () => {
      await refused(
        load(),
        `no kubeconfig found: looked at ${folder}/.kube/config, and this is no pod (KUBERNETES_SERVICE_HOST is not set); name one with --kubeconfig or KUBECONFIG`,
      )
      await refused(
        load({ env: { KUBECONFIG: '/nowhere/a:/nowhere/b' } }),
        'no kubeconfig found: looked at /nowhere/a (from KUBECONFIG), /nowhere/b (from KUBECONFIG), and',
      )
    })

    it('where the one that was named is missing', async () => {
      await refused(loadFile('/nowhere/config'), 'the kubeconfig /nowhere/config does not exist; check --kubeconfig')
    })

    it('where the context is unknown, with those that are known', async () => {
      const file = write('config', config({}))
      await refused(loadFile(file, { context: 'prod' }), `there is no context "prod" in ${file}; there are: x`)
    })

    it('where there is no current context', async () => {
      const file = write('config', { ...config({}), 'current-context': '' })
      await refused(loadFile(file), `the kubeconfig ${file} has no current-context; choose one with --context: x`)
    })

    it('where cluster or user are missing', async () => {
      const file = write('config', config({}, {}, { cluster: 'd' }))
      await refused(loadFile(file), `the context "x" of ${file} names the cluster "d", which is missing; there are: c`)
      write('config', config({}, {}, { user: 'v' }))
      await refused(loadFile(file), `the context "x" of ${file} names the user "v", who is missing; there are: u`)
    })

    it('where the server is missing or no URL', async () => {
      const file = write('config', config({}, { server: '' }))
      await refused(loadFile(file), `the cluster "c" of ${file} has no server`)
      write('config', config({}, { server: 'api.test:6443' }))
      await refused(loadFile(file), `the server "api.test:6443" of the cluster "c" of ${file} is no URL with https:// or http://`)
    })

    it('where it is no YAML, with the line', async () => {
      const file = write('config', 'apiVersion: v1\nclusters:\n  - name: a\n - name: b\n')
      await refused(loadFile(file), new RegExp(`^the kubeconfig ${file}:4:\\d+ is not valid YAML: [^\\n]+$`))
    })

    it('where it is something else', async () => {
      await refused(
        loadFile(write('config', 'a: 1\n---\nb: 2\n')),
        `the kubeconfig ${folder}/config is no kubeconfig: it has 2 YAML documents`,
      )
      const file = write('config', 'just text')
      await refused(loadFile(file), `the kubeconfig ${file} is no kubeconfig: it must be a mapping`)
      write('config', { clusters: {} })
      await refused(loadFile(file), `the kubeconfig ${file} is no kubeconfig: clusters must be a list`)
      write('config', { users: [{ user: {} }] })
      await refused(loadFile(file), `the kubeconfig ${file} is no kubeconfig: users[0].name must be a text`)
      write('config', config({ token: ['x'] }))
      await refused(loadFile(file), `the kubeconfig ${file} is no kubeconfig: token of user "u" must be a text`)
    })

    it('where a file it names is missing', async () => {
      const file = write('config', config({ tokenFile: 'gone' }))
      await refused(loadFile(file), `cannot read ${folder}/gone, the token file of the user "u" of ${file}: no such file`)
      write('config', config({}, { 'certificate-authority': 'gone' }))
      await refused(loadFile(file), `cannot read ${folder}/gone, the certificate-authority of the cluster "c" of ${file}: no such file`)
    })

    it('where a certificate is none, or lacks its key', async () => {
      const file = write('config', config({}, { 'certificate-authority-data': base64('nonsense') }))
      await refused(loadFile(file), `certificate-authority-data of the cluster "c" of ${file} is no base64 of a PEM text`)
      write('config', config({ 'client-certificate-data': base64(cert) }))
      await refused(loadFile(file), `the user "u" of ${file} has a client-certificate but no client-key`)
    })

    it('where a token has characters that no header may have', async () => {
      const file = write('config', config({ token: 'a b' }))
      await refused(loadFile(file), `the token of the user "u" of ${file} has a character that no token can have`)
    })
  })
})

async function refused(promise: Promise<unknown>, message: string | RegExp): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  )
  expect(error).to.be.instanceOf(ConfigError)
  expect(error.message).to.not.contain('\n')
  if (typeof message === 'string') expect(error.message).to.contain(message)
  else expect(error.message).to.match(message)
}
