import { expect } from 'chai'
import { kind } from '../../lib/resource/kind.ts'
import { inNamespace, type World } from './cluster.ts'
import { Gate } from './fixtures/gate.ts'
import { Project } from './fixtures/project.ts'

describe('tsop-run --watch', () => {
  it(
    'runs the new code after a handler file has changed',
    inNamespace(async (t) => {
      const { project, says } = await world(t)
      await says('a', 'one')
      project.write('handlers/note.ts', noteHandler('two'))
      await says('a', 'two')
      project.replace('handlers/note.ts', noteHandler('three'))
      await says('a', 'three')
    }),
  )

  it(
    'runs the new code after a file has changed that a handler imports',
    inNamespace(async (t) => {
      const { project, says } = await world(t, { 'handlers/note.ts': importing, 'texts/text.ts': "export const text: string = 'one'\n" })
      await says('a', 'one')
      project.write('texts/text.ts', "export const text: string = 'two'\n")
      await says('a', 'two')
    }),
  )

  it(
    'keeps the old code running while the new has a syntax error, shows file and line, and takes the repaired one',
    inNamespace(async (t) => {
      const { project, operator, says } = await world(t)
      await says('a', 'one')
      const lines = noteHandler('two').split('\n')
      const broken = lines.findIndex((line) => line.includes('reconcile(')) + 1
      project.write('handlers/note.ts', lines.map((line, i) => (i === broken - 1 ? `${line} {{ ]` : line)).join('\n'))
      await operator.logged(/the old keeps running/)
      expect(operator.log).to.match(new RegExp(`handlers/note\\.ts:${broken}:\\d+: syntax error`))
      await says('b', 'one')

      project.write('handlers/note.ts', noteHandler('three'))
      await says('b', 'three')
    }),
  )

  it(
    'lets a run of the old code end before the new one starts',
    inNamespace(async (t) => {
      const gate = await Gate.start(t, 'one')
      const { project, operator, says } = await world(t, {}, gate.env)
      const visit = await gate.arrival('one')
      project.write('handlers/note.ts', noteHandler('two'))
      await operator.logged(/"msg":"stopping/)
      expect(visit.waits).to.equal(true)
      expect(gate.visits).to.have.length(1)
      visit.open()
      await says('a', 'two')
    }),
  )

  it(
    'ends with the operator that it has started, with exit code 0',
    inNamespace(async (t) => {
      const { operator, says } = await world(t)
      await says('a', 'one')
      expect(await operator.stop()).to.equal(0)
      expect(operator.log).to.match(/"msg":"stopping/)
    }),
  )

  it(
    'leaves no operator behind when it is killed',
    inNamespace(async (t) => {
      const { operator, says } = await world(t)
      await says('a', 'one')
      // Resolves once nobody holds its output any more.
      expect(await operator.stop('SIGKILL')).to.equal(-1)
      expect(operator.log).to.match(/"msg":"stopping/)
    }),
  )
})

/** Writes what it says into the status of each Note. */
const noteHandler = (text: string) => `
import { type Context, onReconcile, type Resource, resource, z } from 'tsop'
${NOTE}
export class NoteHandler {
  @onReconcile(Note)
  async reconcile(note: Note, ctx: Context<Note>) {
    ctx.status.text = '${text}'
    if (process.env.GATE_URL) await (await fetch(process.env.GATE_URL + '/${text}')).text()
  }
}
`

const NOTE = `
const Note = resource({ group: 'test.tsop.dev', version: 'v1', kind: 'Note', spec: z.object({}), status: z.object({ text: z.string() }) })
type Note = Resource<typeof Note>`

const importing = noteHandler('').replace("'tsop'", "'tsop'\nimport { text } from '../texts/text.ts'").replace("= ''", '= text')

async function world(t: World, files: Record<string, string> = {}, env: Record<string, string> = {}) {
  const project = new Project(t, { 'handlers/note.ts': noteHandler('one'), ...files })
  const operator = await t.startOperator({
    handlers: project.path('handlers'),
    args: ['--watch', '--install-crds'],
    cwd: project.dir,
    env,
  })
  const Note = kind('test.tsop.dev/v1', 'Note')
  await t.apply({ apiVersion: 'test.tsop.dev/v1', kind: 'Note', metadata: { name: 'a' }, spec: {} })
  const says = async (name: string, text: string) => {
    if (name !== 'a') await t.apply({ apiVersion: 'test.tsop.dev/v1', kind: 'Note', metadata: { name }, spec: {} })
    const said = async () => ((await t.client.get(Note, t.ref(name))) as { status?: { text?: string } }).status?.text
    await t.until(async () => (await said()) === text, `Note ${name} to say ${text}`)
  }
  return { project, operator, says }
}
