import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { findBinaries, PROGRAMS } from '../control-plane/binaries.ts'
import { until } from './until.ts'

describe('the control plane of the tests', () => {
  describe('with its programs', () => {
    // It is the real one whatever the other tests use; its programs are built before the tests of the real one begin, which may take minutes.
    before(function () {
      if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    })

    it('ends with the process that started it, even by SIGKILL', async () => {
      const { child, kubeconfig, dir } = await startInChild()
      try {
        const port = portOf(kubeconfig)
        expect(await listens(port)).to.equal(true)
        child.kill('SIGKILL')
        await until(async () => !(await listens(port)), 'the API server to end')
      } finally {
        rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
      }
    })

    it('takes its files with it when the process ends by itself', async () => {
      const { child, dir } = await startInChild()
      expect(existsSync(dir)).to.equal(true)
      child.kill('SIGTERM')
      await once(child, 'exit')
      expect(existsSync(dir)).to.equal(false)
    })
  })

  describe('without its programs', () => {
    const empty = mkdtempSync(join(tmpdir(), 'nothing-'))
    after(() => rmSync(empty, { recursive: true }))
    const environment = { XDG_CACHE_HOME: empty, PATH: join(empty, 'tools') }

    // What the build script needs before it needs Go, wherever this machine keeps Go.
    before(() => {
      mkdirSync(environment.PATH)
      for (const tool of ['env', 'bash', 'dirname', 'cat', 'cut', 'sha256sum', 'shasum']) {
        const path = (process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, tool))
        const found = path.find((each) => existsSync(each))
        if (found !== undefined) symlinkSync(found, join(environment.PATH, tool))
      }
    })

    it('asks for KUBEBUILDER_ASSETS or Go where neither is there', () => {
      expect(() => findBinaries(environment)).to.throw(/no Go to build it.*KUBEBUILDER_ASSETS.*install Go 1\.26/)
    })

    it('names what is missing in KUBEBUILDER_ASSETS', () => {
      const assets = { ...environment, KUBEBUILDER_ASSETS: empty }
      expect(() => findBinaries(assets)).to.throw(`KUBEBUILDER_ASSETS=${empty} has no etcd, kube-apiserver`)
    })

    it('asks only for the controller manager where the rest is there', () => {
      const some = PROGRAMS.filter((program) => program !== 'kube-controller-manager')
      for (const program of some) writeFileSync(join(empty, program), '', { mode: 0o755 })
      const assets = { ...environment, KUBEBUILDER_ASSETS: empty }
      expect(findBinaries(assets, some).etcd).to.equal(join(empty, 'etcd'))
      expect(() => findBinaries(assets)).to.throw(`KUBEBUILDER_ASSETS=${empty} has no kube-controller-manager, and no Go`)
    })
  })
})

async function startInChild(): Promise<{ child: ChildProcess; kubeconfig: string; dir: string }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('fixtures/start-control-plane.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout!, 'data')
  return { child, ...JSON.parse(String(line)) }
}

function portOf(kubeconfig: string): number {
  return Number(readFileSync(kubeconfig, 'utf8').match(/127\.0\.0\.1:(\d+)/)?.[1])
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
