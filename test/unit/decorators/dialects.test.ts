import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

const root = join(import.meta.dirname, '../../..')
const bin = (name: string) => join(root, 'node_modules/.bin', name)

async function run(command: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } })
    return stdout.trim()
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${command} ${args.join(' ')} failed\n${stdout}${stderr}`)
  }
}

const owned = [
  'job:Job:true:',
  'noIngress:Ingress:true:',
  'policy:NetworkPolicy:true:peers',
  'reconcile:ConfigMap:false:',
  'services:Service:true:',
  'statefulSet:StatefulSet:true:',
]
const rest = [
  'Database',
  'reconcile',
  4,
  { method: 'remove', finalizer: 'db.example.com/backup' },
  owned,
  ['secret:Secret'],
  ['validate', 'fill'],
]
const collected = [
  ['DatabaseHandler', ...rest],
  ['ChildOfHandler', ...rest],
  ['CertificateHandler', 'Certificate', 'reconcile', null, null, [], [], []],
]

const lines = (output: string): unknown[] => output.split('\n').map((line) => JSON.parse(line))

for (const dialect of ['legacy', 'tc39']) {
  describe(`decorators in the dialect ${dialect}`, function () {
    this.timeout(60_000)
    const config = `test/types/${dialect}/tsconfig.json`

    it('type-check, and wrong handlers do not', async () => {
      expect(await run(bin('tsc'), ['-p', config])).to.equal('')
    })

    it('are collected from TypeScript run by tsx', async () => {
      expect(lines(await run(bin('tsx'), ['--tsconfig', config, 'test/types/good.ts']))).to.deep.equal(collected)
    })

    it('are collected from JavaScript made by tsc', async () => {
      mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
      const out = mkdtempSync(join(root, `node_modules/.cache/types-${dialect}-`))
      try {
        await run(bin('tsc'), ['-p', config, '--noEmit', 'false', '--outDir', out, '--rootDir', root])
        expect(lines(await run(process.execPath, [join(out, 'test/types/good.js')]))).to.deep.equal(collected)
        if (dialect === 'tc39') expect(await run(process.execPath, [join(out, 'test/types/tc39/misplaced.js')])).to.equal(misplaced)
      } finally {
        rmSync(out, { recursive: true })
      }
    })
  })
}

const misplaced = [
  'a.ts: Static.reconcile(): @onReconcile on a static method: the engine calls methods of an instance; remove `static`',
  'a.ts: Private.#reconcile(): @onReconcile on a private method: the engine cannot call it; remove the `#`',
  'a.ts: Getter.reconcile: @onReconcile on a getter: put it on a method, such as `async reconcile(db, ctx) { … }`',
  'a.ts: Field.reconcile: @onReconcile on a field: put it on a method, such as `async reconcile(db, ctx) { … }`',
  'a.ts: Accessor.reconcile: @onReconcile on an accessor: put it on a method, such as `async reconcile(db, ctx) { … }`',
  'a.ts: Named.Symbol(reconcile)(): @onReconcile on a method named by a symbol: give it a name, for logs and errors',
  'a.ts: Whole: @onReconcile on a class: put it on the method that does the work',
  'a.ts: Beside.#reconcile(): @onReconcile on a private method: the engine cannot call it; remove the `#`',
].join('\n')

describe('decorators of the dialect tc39 where no method can be a handler', function () {
  this.timeout(60_000)

  it('are reported with file, class and member', async () => {
    const output = await run(bin('tsx'), ['--tsconfig', 'test/types/tc39/tsconfig.json', 'test/types/tc39/misplaced.ts'])
    expect(output).to.equal(misplaced)
  })
})
