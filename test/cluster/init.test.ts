/** The test that `tsop init` gives a project for a real cluster, run on one. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { projectFiles } from '../../lib/generate/project.ts'
import { inNamespace } from './cluster.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

describe('a project made by tsop init', () => {
  it(
    'passes its own test in a cluster',
    inNamespace(async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'init-'))
      t.onEnd(() => rmSync(directory, { recursive: true, force: true }))
      const group = `${t.id}.test.tsop.dev`
      t.onEnd(() => t.kubectl('delete', 'crd', `shops.${group}`, '--ignore-not-found', '--wait=false'))
      const write = (path: string, content: string) => {
        mkdirSync(dirname(join(directory, path)), { recursive: true })
        writeFileSync(join(directory, path), content)
      }
      const project = { name: 'shop-operator', kind: 'Shop', group, version: 'v1', tsopVersion: '0.0.0' }
      for (const { path, content } of projectFiles(project)) write(path, content)
      // As if it were installed.
      write('node_modules/.bin/tsop-run', `#!/bin/sh\nexec node --conditions=tsop-source ${ROOT}lib/cli/tsop-run.ts "$@"\n`)
      chmodSync(join(directory, 'node_modules/.bin/tsop-run'), 0o755)
      symlinkSync(ROOT, join(directory, 'node_modules/tsop'))
      symlinkSync(join(ROOT, 'node_modules/tsx'), join(directory, 'node_modules/tsx'))
      // What looks for kubectl finds the one of these tests.
      write('bin/kubectl', `#!/bin/sh\nexec ${process.env['TSOP_TEST_KUBECTL']} "$@"\n`)
      chmodSync(join(directory, 'bin/kubectl'), 0o755)
      const { NODE_OPTIONS: _, ...outside } = process.env
      const path = [join(directory, 'bin'), dirname(process.execPath), outside['PATH']].join(delimiter)
      const args = ['--import', 'tsx', '--test', 'test/cluster/shop.test.ts']
      const env = { ...outside, PATH: path, KUBECONFIG: t.kubeconfig }
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory, env, timeout: 55_000 }).catch((error) => {
        throw new Error(`${error.stdout}${error.stderr}`)
      })
      expect(stdout).to.match(/pass 1\n.*fail 0\n/s)
    }),
  )
})
