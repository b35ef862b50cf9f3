import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { help, markdown } from '../../../lib/cli/help.ts'
import { nearest } from '../../../lib/cli/nearest.ts'
import { OPTIONS, parseOptions } from '../../../lib/cli/options.ts'

function problem(...args: string[]): string {
  try {
    parseOptions(args)
  } catch (error) {
    expect(error).to.be.instanceOf(CliError).with.property('exitCode', 2)
    return (error as Error).message
  }
  throw new Error(`accepted ${args.join(' ')}`)
}

describe('the command line', () => {
  it('serves all namespaces with the handlers in handlers by default', () => {
    expect(parseOptions([])).to.deep.include({
      paths: ['handlers'],
      namespaces: undefined,
      concurrency: {},
      once: false,
      installCrds: false,
    })
  })

  it('takes options in every usual spelling', () => {
    const options = parseOptions([
      'a',
      '-n',
      'one',
      '-ntwo',
      '--namespace=three',
      '--concurrency',
      'Database=4',
      '--concurrency=Pod=2',
      'b.ts',
    ])
    expect(options.paths).to.deep.equal(['a', 'b.ts'])
    expect(options.namespaces).to.deep.equal(['one', 'two', 'three'])
    expect(options.concurrency).to.deep.equal({ Database: 4, Pod: 2 })
    expect(
      parseOptions(['-A', '--install-crds', '--apply', 'x', '--apply', 'y', '--once', '--timeout=90s', '--debug', '--name', '@shop/op']),
    ).to.deep.include({
      timeoutMs: 90_000,
      installCrds: true,
      apply: ['x', 'y'],
      once: true,
      debug: true,
      name: '@shop/op',
    })
    expect(parseOptions(['--', '-dir']).paths).to.deep.equal(['-dir'])
  })

  const wrong: [string[], RegExp][] = [
    [['--kubeconfg', 'x'], /unknown option --kubeconfg \(did you mean --kubeconfig\?\); see tsop-run --help$/],
    [['--instal-crd'], /did you mean --install-crds\?/],
    [['--qqqqqq'], /^unknown option --qqqqqq; see/],
    [['-z'], /unknown option -z/],
    [['--kubeconfig'], /--kubeconfig needs a value: --kubeconfig FILE/],
    [['--kubeconfig', '--once'], /--kubeconfig needs a value/],
    [['--context='], /--context needs a value/],
    [['--context', 'a', '--context', 'b'], /--context is given twice/],
    [['--once=yes'], /--once takes no value, but got "yes"/],
    [['-n', 'Not_A_Name'], /"Not_A_Name" cannot be the name of a namespace/],
    [['-n', 'a', '-A'], /contradict/],
    [['--once', '--watch'], /contradict/],
    [['--timeout', '1m'], /--timeout is for --once/],
    [['--once', '--timeout', 'soon'], /--timeout: expected a duration such as '30s'/],
    [['--concurrency', 'Database'], /expected KIND=N/],
    [['--concurrency', 'Database=0'], /expected KIND=N/],
    [['--concurrency', 'Database=1.5'], /expected KIND=N/],
    [['--log-level', 'loud'], /--log-level loud: expected one of trace, debug, info, warn, error, silent/],
    [['--log-format', 'xml'], /expected one of pretty, json/],
    [['--name', 'two words'], /--name two words/],
    [['--version', 'handlers'], /^--version takes no arguments, but got handlers; see tsop-run --help$/],
  ]
  for (const [args, message] of wrong) {
    it(`refuses ${args.join(' ')}`, () => {
      expect(problem(...args))
        .to.match(message)
        .and.to.not.contain('\n')
    })
  }
})

describe('--help', () => {
  it('has a sentence for every option and fits on the screen', () => {
    const text = help()
    for (const { name, sentence } of OPTIONS) {
      expect(text).to.contain(`--${name}`)
      expect(sentence).to.match(/^[A-Z].*\.$/)
    }
    for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(100)
  })

  it('is what docs/reference/cli.md says', () => {
    const reference = new URL('../../../docs/reference/cli.md', import.meta.url)
    expect(existsSync(reference)).to.equal(true)
    expect(readFileSync(reference, 'utf8')).to.contain(markdown())
  })
})

describe('nearest', () => {
  const words = ['kubeconfig', 'context', 'once', 'watch']
  for (const [typed, meant] of [
    ['kubeconfg', 'kubeconfig'],
    ['kube', 'kubeconfig'],
    ['Once', 'once'],
    ['wacth', 'watch'],
    ['replicas', undefined],
    ['x', undefined],
  ] as const) {
    it(`takes ${typed} for ${meant ?? 'nothing it knows'}`, () => {
      expect(nearest(typed, words)).to.equal(meant)
    })
  }
})
