/** The reference says what the code says: names, numbers, codes and texts are compared. */
import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import { exitCodes } from '../../../lib/cli/exit-codes.ts'
import { markdown } from '../../../lib/cli/help.ts'
import { backoff, conflictDelay } from '../../../lib/engine/backoff.ts'
import { ERRORS } from '../../../lib/engine/errors.ts'
import { LONGEST_WAIT_MS, SHORTEST_WAIT_MS } from '../../../lib/engine/outcome.ts'
import { formatDuration, parseDuration } from '../../../lib/resource/duration.ts'
import * as testing from '../../../lib/testing/testing.ts'
import { codes, exists, pagesIn, ROOT, read, readmesBelow, section, table } from './markdown.ts'

describe('the reference', () => {
  it('lists every error with its text', () => {
    const listed = table(read('docs/reference/errors.md')).map(([code = '', text]) => [codes(code)[0], text])
    expect(listed).to.deep.equal(Object.entries(ERRORS))
  })

  it('lists every option of the command line', () => {
    expect(read('docs/reference/cli.md')).to.include(markdown())
  })

  it('lists every exit code', () => {
    const listed = table(read('docs/reference/cli.md'), '## Exit codes').flatMap(([code = '']) => code.split(', ').map(Number))
    expect(listed).to.deep.equal(Object.values(exitCodes))
  })

  it('names every member of the context', () => {
    const page = read('docs/reference/context.md')
    const own = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name)
    expect(own).to.have.members(members('lib/resource/context.ts', 'Context').filter((name) => name !== '_object'))
    const ofWatches = section(page, '## The context of `@watches`')
    for (const name of members('lib/resource/context.ts', 'WatchContext')) expect(ofWatches).to.include(`\`${name}`)
  })

  const decorators: [string, string, string][] = [
    ['@onReconcile', 'lib/resource/handler-spec.ts', 'ReconcileOptions'],
    ['@onDelete', 'lib/decorators/on-delete.ts', 'DeleteOptions'],
    ['@owns', 'lib/decorators/owns.ts', 'OwnsOptions'],
    ['@watches', 'lib/resource/handler-spec.ts', 'WatchOptions'],
    ['@validates', 'lib/resource/handler-spec.ts', 'ValidatesOptions'],
    ['@defaults', 'lib/resource/handler-spec.ts', 'DefaultsOptions'],
  ]
  for (const [decorator, file, options] of decorators) {
    it(`names every option of ${decorator}, and says its contract under five headings`, () => {
      const page = section(read('docs/reference/decorators.md'), `## \`${decorator}(Kind, options)\``)
      expect(table(page).flatMap(([option = '']) => codes(option))).to.deep.equal(members(file, options))
      const headings = ['Flow', 'Guarantees', 'Assumptions', 'Caveats', 'Errors']
      expect([...page.matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, heading]) => heading)).to.deep.equal(headings)
      const source = read(`lib/decorators/${decorator.slice(1).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`)
      expect([...source.matchAll(/^ \* (\w+): /gm)].map(([, heading]) => heading)).to.deep.equal(headings)
    })
  }

  it('names what @validates and @defaults both take, and all that they get', () => {
    const page = read('docs/reference/decorators.md')
    const listed = table(section(page, '## Options of admission')).flatMap(([option = '']) => codes(option))
    expect(listed).to.deep.equal(members('lib/resource/handler-spec.ts', 'AdmissionOptions'))
    const told = section(page, '## `@validates(Kind, options)`')
    for (const name of members('lib/resource/admission-context.ts', 'AdmissionContext')) expect(told).to.include(`\`${name}`)
  })

  it('names every option and member of tsop/testing', () => {
    const page = read('docs/reference/testing.md')
    const lists: [string, string, string][] = [
      ['## `embedded(options)`', 'lib/testing/embedded.ts', 'EmbeddedOptions'],
      ['## The cluster', 'lib/testing/embedded.ts', 'TestCluster'],
      ['## Requests', 'lib/testing/requests.ts', 'LoggedRequest'],
      ['## Faults', 'lib/testing/faults.ts', 'TestFaults'],
      ['## `assertRoundTrips(kind, options)`', 'lib/testing/round-trips.ts', 'RoundTripOptions'],
    ]
    for (const [heading, file, name] of lists) {
      const listed = table(section(page, heading)).map(([member = '']) => /^`(\w+)/.exec(member)?.[1])
      const there = [...new Set(members(file, name))].filter((member) => member !== 'toString')
      expect(listed, heading).to.have.members(there)
    }
    const headings = [...page.matchAll(/^## (.*)$/gm)].flatMap(([, heading = '']) => codes(heading))
    const functions = headings.flatMap((code) => /^(\w+)\(/.exec(code)?.[1] ?? [])
    expect(functions).to.have.members(Object.keys(testing))
    expect(page).to.include(`default \`'${formatDuration(constant('lib/testing/embedded.ts', 'WITHIN_MS'))}'\``)
    expect(page).to.include(`(\`'${formatDuration(constant('lib/testing/embedded.ts', 'REAL_WITHIN_MS'))}'\` of the real clock)`)
    expect(page).to.include(`| \`patience\` | \`'${formatDuration(constant('lib/testing/embedded.ts', 'PATIENCE_MS'))}'\` |`)
  })

  it('gives the numbers of the engine', () => {
    const middle = () => 0.5
    const controller = 'lib/engine/controller.ts'
    expect(
      Object.fromEntries(
        table(read('docs/reference/outcomes.md'), '## Numbers').map(([what = '', value = '']) => [what.split(';')[0], numberOf(value)]),
      ),
    ).to.deep.equal({
      'concurrency of a class': constant(controller, 'DEFAULT_CONCURRENCY'),
      'timeout of a run': constant(controller, 'DEFAULT_TIMEOUT_MS'),
      'first back-off': backoff(1, middle),
      'longest back-off': backoff(1000, middle),
      'how far a back-off strays, either way': Math.round((backoff(1, () => 1) / backoff(1, middle) - 1) * 100),
      'shortest wait': SHORTEST_WAIT_MS,
      'longest wait': LONGEST_WAIT_MS,
      resync: constant(controller, 'RESYNC_MS'),
      'how far the resync strays, either way': Math.round(constant(controller, 'RESYNC_JITTER') * 100),
      'first pause after a conflict': conflictDelay(1, middle),
      'time that runs get after the first SIGTERM': constant('lib/engine/manager.ts', 'DEFAULT_GRACE_MS'),
      'time that aborted handlers get to notice': constant('lib/engine/manager.ts', 'ABORT_GRACE_MS'),
      'a request to the API server': Number(/timeoutMs \?\? ([\d_]+)/.exec(read('lib/api/client.ts'))?.[1]?.replaceAll('_', '')),
    })
  })

  it('gives the handicaps of the queue', () => {
    const listed = table(read('docs/reference/outcomes.md'), '## Priorities').map(
      ([name, handicap = '']) => `${name}: ${numberOf(handicap)}`,
    )
    const [, body = ''] = /HANDICAP_MS.* = \{ (.*) \}/.exec(read('lib/engine/work-queue.ts')) ?? []
    expect(listed.join(', ')).to.equal(body.replaceAll('_', ''))
  })

  it('lists every reason that the engine gives to a condition', () => {
    const listed = table(read('docs/reference/conditions.md'), '## Reasons').map(([reason = '']) => codes(reason)[0])
    const sources = readdirSync(`${ROOT}lib/engine`).map((name) => read(`lib/engine/${name}`))
    const code = sources.map((source) => source.replace(/^ *(\*|\/\/).*$/gm, '')).join('\n')
    const patterns = [
      /new TsopError\(\s*'\w+',\s*'(\w+)'/g,
      /new TerminalError\(\s*'(\w+)'/g,
      /reason: '([A-Z]\w+)'/g,
      /reason \?\? '(\w+)'/g,
      /[?:] '((?:Reconcile|Delete)Failed)'/g,
      /: '(WaitingForExternal)'/g,
    ]
    const given = new Set(patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, reason]) => reason)))
    // The end of the process is told to nobody.
    given.delete('Stopped')
    expect(listed).to.have.members([...given])
  })
})

describe('links in the documentation', () => {
  const pages = [
    ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
    ...['docs', 'docs/guide', 'docs/operations', 'docs/reference', 'docs/decisions'].flatMap(pagesIn),
    ...['bench', 'examples', 'handlers', 'test'].flatMap(readmesBelow),
  ]
  it('are looked for in every folder with a page of its own', () => {
    expect(pages).to.include.members(['bench/README.md', 'handlers/README.md', 'examples/teams/README.md', 'test/control-plane/README.md'])
  })

  for (const page of pages) {
    it(`of ${page} lead somewhere`, () => {
      for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue
        const [path = '', anchor] = target.split('#')
        const url = new URL(path, `file:///${page}`)
        const found = path === '' ? page : url.pathname.slice(1)
        expect(exists(found), `${target} in ${page}`).to.equal(true)
        if (anchor !== undefined) expect(anchorsOf(read(found)), `${target} in ${page}`).to.include(anchor)
      }
    })
  }
})

/** The names of an interface's members, as its source has them. */
function members(file: string, name: string): string[] {
  const [, body = ''] = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(read(file)) ?? []
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?(<:]/gm)].map(([, member = '']) => member)
}

/** The value of `const NAME = 5 * 60_000`. */
function constant(file: string, name: string): number {
  const [, value] = new RegExp(`^const ${name} = ([\\d_* .]+)$`, 'm').exec(read(file)) ?? []
  if (value === undefined) throw new Error(`there is no constant ${name} in ${file}`)
  return value
    .replaceAll('_', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1)
}

/** Milliseconds, per cent or a plain number. */
function numberOf(cell: string): number {
  const [text = ''] = codes(cell)
  if (/^\d+$/.test(text)) return Number(text)
  return text.endsWith('%') ? Number.parseFloat(text) : parseDuration(text, cell)
}

function anchorsOf(text: string): string[] {
  return [...headingsOf(text), ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]
}

function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/ /g, '-'),
  )
}
