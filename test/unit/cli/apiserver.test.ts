import fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { Project } from './project.ts'

describe('tsop apiserver', function () {
  this.timeout(30_000)
  const project = new Project()
  after(() => project.remove())

  it('prints the line that makes kubectl use it, from whatever directory, and serves until it is stopped', async () => {
    const running = project.start(['apiserver', '--kubeconfig', 'kubeconfig'], { command: 'tsop' })
    await running.hears(/API server for development on http\S+\n/)
    expect(running.said).to.contain(`export KUBECONFIG=${join(project.path, 'kubeconfig')}\n`)
    const { server } = JSON.parse(fs.readFileSync(join(project.path, 'kubeconfig'), 'utf8')).clusters[0].cluster
    expect((await fetch(`${server}/readyz`)).status).to.equal(200)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).to.equal(0)
  })
  for (const [args, code, expected] of [
    [['x'], 2, "Unexpected argument 'x'"],
    [['--kubeconfig', 'package.json/x'], 3, 'cannot write package.json/x: package.json is a file, not a directory; move it'],
    [['--persist', 'package.json/x'], 3, 'package.json is a file, not a directory; move it'],
  ] as const) {
    it(`tells in one line what is wrong with ${args.join(' ')}`, async () => {
      const ended = await project.run(['apiserver', ...args], { command: 'tsop' })
      expect(ended.stderr)
        .to.match(/^tsop apiserver: [^\n]+\n$/)
        .and.to.include(expected)
      expect(ended.code).to.equal(code)
    })
  }
})
