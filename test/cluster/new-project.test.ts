/**
 * A new project, from `tsop init` of the packed package to a cluster with nothing left in it: every command of its README, in the order in which
 * they stand there. What is not a command of a shell here is what needs a machine with Docker, and the kubelet that this cluster has not.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Deployment, Namespace } from 'tsop/kinds'
import { NODE_FLAGS } from '../../lib/generate/container.ts'
import { cleanEnv, pack, run } from '../unit/package/packed.ts'
import { inNamespace, type World } from './cluster.ts'
import { Kubelet } from './fixtures/kubelet.ts'

interface Walk {
  readonly t: World
  readonly name: string
  readonly group: string
  readonly project: string
  readonly env: NodeJS.ProcessEnv
  /** As a shell runs it in the project; what it printed. */
  sh(command: string): Promise<string>
  /** Runs it until it has printed the pattern, and ends it as Ctrl-C does. */
  until(command: string, pattern: RegExp): Promise<void>
  read(path: string): string
  operator?: Kubelet
}

/** What each command is to do. A command that matches none is one that nobody has tried. */
const STEPS: readonly (readonly [RegExp, (walk: Walk, command: string) => Promise<unknown>])[] = [
  [/^npm install$/, ({ sh }, command) => sh(command)],
  [/^npm start$/, ({ until }, command) => until(command, /"name":"shop-sample".*"msg":"ready"/)],
  [/^npx tsop-run handlers --install-crds$/, ({ until }, command) => until(command, /"msg":"(ready"|started;)|(ready|started) in/)],
  [/^npm test$/, async ({ sh }, command) => expect(await sh(command)).to.match(/pass 4\n.*fail 0\n/s)],
  [/^npm run test:cluster$/, async ({ sh }, command) => expect(await sh(command)).to.match(/pass 1\n.*fail 0\n/s)],
  [/^npm run types$/, ({ sh }, command) => sh(command)],
  [
    /^npm run check$/,
    async ({ sh, group }, command) => expect(await sh(command)).to.include(`Shop.${group}: ShopHandler in handlers/shop.ts`),
  ],
  [
    /^npx tsop add kind NAME$/,
    async ({ sh, group }, command) => {
      await sh('npm run generate')
      expect(await sh(command.replace('NAME', 'WebCache'))).to.include('handlers/web-cache.ts\n')
      expect(await sh('npm test')).to.match(/pass 8\n.*fail 0\n/s)
      expect(await sh('npm run check')).to.include(`WebCache.${group}`)
      await sh('npm run types')
      const outdated = await sh('npm run generate:check').catch((error: Error) => error.message)
      expect(outdated).to.include(`webcaches.${group}.yaml: is missing`)
    },
  ],
  [/^npm run generate$/, ({ sh }, command) => sh(command)],
  [/^npm run generate:check$/, ({ sh }, command) => sh(command)],
  [/^npm run build$/, ({ sh }, command) => sh(command)],
  [
    /^docker build -t \S+ \.$/,
    async ({ read, project }, command) => {
      const [, image] = /-t (\S+)/.exec(command) ?? []
      expect(read('config/deploy/install.yaml')).to.include(`image: ${image}\n`)
      const file = read('Dockerfile')
      expect(file).to.include('COPY --from=build /src/build/ ./\n').and.to.include('RUN npm run build\n')
      expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(file)?.[1] ?? '')).to.deep.equal(['/nodejs/bin/node', ...NODE_FLAGS, '/app/operator.mjs'])
      expect(existsSync(join(project, 'build/operator.mjs'))).to.equal(true)
    },
  ],
  [
    /^npx tsop generate deploy --image REGISTRY\/\S+$/,
    async ({ sh, name }, command) => {
      const said = await sh(`${command.replace('REGISTRY', 'registry.example.com')} --dry-run`)
      expect(said).to.include(`image: registry.example.com/${name}:0.1.0`)
    },
  ],
  [
    /^kubectl apply -f config\/deploy\/install\.yaml$/,
    async (walk, command) => {
      const { t, name, sh, project } = walk
      t.onEnd(() => t.client.delete(Namespace, { name: `${name}-system` }).catch(() => {}))
      await sh(command)
      const labels = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'operator' }
      const run = { deployment: name, image: join(project, 'build') }
      walk.operator = Kubelet.start(t, { namespace: `${name}-system`, labels, run })
      Kubelet.start(t, { namespace: t.namespace, labels: { 'app.kubernetes.io/name': 'shop' } })
    },
  ],
  [
    /^kubectl -n \S+ rollout status deployment\/\S+$/,
    async ({ sh, operator }, command) => {
      const said = await sh(command)
      expect(said).to.include('successfully rolled out')
      expect(operator?.containers).to.have.length(2)
    },
  ],
  [/^kubectl apply -f samples\/shop\.yaml$/, ({ sh }, command) => sh(command)],
  [/^kubectl wait --for=condition=Ready -f samples\/shop\.yaml /, ({ sh }, command) => sh(command)],
  [
    /^kubectl get -f samples\/shop\.yaml$/,
    async ({ sh }, command) => expect(await sh(command)).to.match(/^NAME .* READY .*\nshop-sample .* True .*\n$/),
  ],
  [
    /^kubectl delete -f samples\/shop\.yaml$/,
    async ({ sh, t }, command) => {
      await sh(command)
      // A real garbage collector looks for new kinds every half minute.
      const gone = async () => (await t.client.find(Deployment, t.ref('shop-sample'))) === undefined
      await t.until(gone, 'the Deployment of the sample to go', { withinMs: 90_000 })
    },
  ],
  [
    /^npx tsop uninstall --yes$/,
    async ({ sh, t, name, group, operator }, command) => {
      expect(await sh(command)).to.match(/stopping the operator[\s\S]*deleted the definition[\s\S]*\ndone\n$/)
      for (const container of operator?.containers ?? []) expect(await container.exited, container.log).to.equal(0)
      expect(operator?.log).to.not.match(/forbidden|"status":403/i)
      await t.until(async () => (await t.client.find(Namespace, { name: `${name}-system` })) === undefined, 'the namespace to go')
      expect((await named(t)).filter((each) => each.includes(name) || each.includes(group) || each.includes('shop-sample'))).to.deep.equal(
        [],
      )
    },
  ],
]

describe('a project made by tsop init', function () {
  this.timeout(900_000)

  it('does what its README says, word by word, and leaves nothing behind', function () {
    // Minutes for what the API server has no part in.
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    return inNamespace(async (t) => {
      const walk = await newProject(t)
      const commands = commandsOf(walk.read('README.md'))
      const used = new Set<RegExp>()
      for (const command of commands) {
        const step = STEPS.find(([pattern]) => pattern.test(command))
        if (step === undefined) throw new Error(`nobody has tried this command of the README: ${command}`)
        used.add(step[0])
        await step[1](walk, command).catch((error: Error) => {
          throw new Error(`$ ${command}\n${error.message}\n${walk.operator?.log.slice(-6000) ?? ''}`, { cause: error })
        })
      }
      expect(STEPS.map(([pattern]) => pattern).filter((pattern) => !used.has(pattern))).to.deep.equal([])
    })()
  })
})

/** By whoever installed tsop from the tarball; group and name are the test's own. */
async function newProject(t: World): Promise<Walk> {
  const directory = mkdtempSync(join(tmpdir(), 'new-project-'))
  t.onEnd(() => rmSync(directory, { recursive: true, force: true }))
  const [name, group] = [`shop-${t.id}`, `${t.id}.example.com`]
  for (const plural of ['shops', 'webcaches'])
    t.onEnd(() => t.kubectl('delete', 'crd', `${plural}.${group}`, '--ignore-not-found', '--wait=false'))
  const folder = (path: string) => {
    mkdirSync(join(directory, path))
    return join(directory, path)
  }
  const [elsewhere, empty, home, bin] = [folder('elsewhere'), folder('empty'), folder('home'), folder('bin')]
  copyFileSync(t.kubeconfig, join(directory, 'kubeconfig'))
  writeFileSync(join(bin, 'kubectl'), `#!/bin/sh\nexec ${process.env['TSOP_TEST_KUBECTL']} "$@"\n`)
  chmodSync(join(bin, 'kubectl'), 0o755)
  const clean = cleanEnv()
  const env = {
    ...clean,
    PATH: [bin, clean['PATH']].join(delimiter),
    HOME: home,
    KUBECONFIG: join(directory, 'kubeconfig'),
    npm_config_cache: run('npm', ['config', 'get', 'cache'], directory).trim(),
    npm_config_userconfig: run('npm', ['config', 'get', 'userconfig'], directory).trim(),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }
  const shell = async (command: string, cwd: string) => {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd, env, timeout: 300_000, maxBuffer: 64 << 20 }).catch(
      (error) => {
        throw new Error(`${error.stdout}${error.stderr}`, { cause: error })
      },
    )
    return stdout
  }
  await shell(`kubectl config set-context --current --namespace=${t.namespace}`, empty)
  const tarball = pack(directory)
  await shell(`npm install ${tarball}`, elsewhere)
  const said = await shell(`${elsewhere}/node_modules/.bin/tsop init ${name} --kind Shop --group ${group}`, empty)
  expect(said).to.include(`cd ${name}\n  npm install\n`).and.to.include(`tsop is taken from ${tarball}`)
  const project = join(empty, name)
  return {
    t,
    name,
    group,
    project,
    env,
    sh: (command) => shell(command, project),
    until: (command, pattern) => untilSaid(command, pattern, project, env),
    read: (path) => readFileSync(join(project, path), 'utf8'),
  }
}

/** Those in blocks, without their comments, and those in the text. */
function commandsOf(readme: string): string[] {
  return [...readme.matchAll(/^ {4}(\S.*)$|`((?:npm|npx|kubectl|docker) [^`]+)`/gm)].map(([, block, inline]) =>
    (block ?? inline ?? '').replace(/\s+# .*$/, ''),
  )
}

async function untilSaid(command: string, pattern: RegExp, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  // The whole group: npm, tsop-run, and the operator that it restarts.
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), name)
    } catch {
      // All of them have ended.
    }
  }
  const kill = () => signal('SIGKILL')
  process.once('exit', kill)
  try {
    await new Promise<void>((resolve, reject) => {
      let said = ''
      const fail = (why: string) => reject(new Error(`${why} before it said ${pattern}:\n${said}`))
      const late = setTimeout(() => fail('two minutes passed'), 120_000)
      const listen = (text: Buffer) => {
        said += text
        if (!pattern.test(said)) return
        clearTimeout(late)
        resolve()
      }
      child.stdout.on('data', listen)
      child.stderr.on('data', listen)
      child.once('exit', () => {
        clearTimeout(late)
        fail('it ended')
      })
    })
    signal('SIGINT')
    await Promise.race([exited, once(AbortSignal.timeout(60_000), 'abort').then(() => Promise.reject(new Error('it does not end')))])
  } finally {
    kill()
    process.off('exit', kill)
  }
}

/** Whatever the cluster has, but Events. */
async function named(t: World): Promise<string[]> {
  const all = (await t.kubectl('api-resources', '--verbs=list', '--output=name')).trim().split('\n')
  const lists = await Promise.all(
    all
      .filter((each) => !each.startsWith('events') && !each.startsWith('componentstatuses'))
      // Of kinds that other tests take away meanwhile nothing is of interest.
      .map((each) => t.kubectl('get', each, '--all-namespaces', '--output=name', '--ignore-not-found').catch(() => '')),
  )
  return lists.flatMap((text) => text.split('\n'))
}
