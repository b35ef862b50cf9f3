/** Dashboard, alerts and the reference of metrics speak of what an operator really exports, in every metric, label and value. */
import { parser } from '@prometheus-io/lezer-promql'
import { expect } from 'chai'
import { load } from 'js-yaml'
import { METRICS } from '../../../lib/observe/metric-table.ts'
import { Metrics } from '../../../lib/observe/metrics.ts'
import { ConfigMap, Database, handler, stopAll, World } from '../engine/world.ts'
import { type Sample, samplesOf } from '../observe/exposition.ts'
import { codes, pagesIn, read, table } from './markdown.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

/** What Prometheus adds to each series for where it was scraped. */
const TARGET = ['namespace', 'pod', 'container', 'job', 'instance']

describe('what is scraped from an operator', () => {
  let samples: Sample[]
  let declared: (string | undefined)[]

  before(async () => {
    const world = new World()
    const metrics = new Metrics({ clock: world.clock, name: 'shop', version: '1', process: true })
    metrics.leadership('shop', () => true)
    metrics.request('GET', 'host', '200', 1)
    metrics.request('PATCH', 'host', '403', 1)
    metrics.watchRestarted('ConfigMap', 'ended')
    const webhooks = metrics.webhooks(['/convert'])
    webhooks.certificate(1)
    webhooks.asked('/convert')({ code: 200, answer: 'allowed' })
    world.api.create(Database, 'a')
    await world.startWith({ observer: metrics }, handler({ reconcile() {}, config: () => ({ data: {} }) }, { owns: { config: ConfigMap } }))
    const text = await metrics.text()
    samples = samplesOf(text)
    declared = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
  })
  after(stopAll)

  const rules = (load(read('docs/operations/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
  for (const { alert, expr } of rules) it(`is what the alert ${alert} asks for`, () => check(expr, samples))

  const dashboard = JSON.parse(read('docs/operations/dashboard.json')) as {
    panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[]
    templating: { list: { query: string }[] }
  }
  for (const { title, targets = [] } of dashboard.panels)
    for (const { expr, legendFormat } of targets)
      it(`is what the panel "${title}" shows as ${legendFormat}`, () => check(withValues(expr), samples))

  it('is what the variables of the dashboard are made of', () => {
    const queries = dashboard.templating.list
      .map(({ query }) => /^label_values\((.*), (\w+)\)$/.exec(query))
      .filter((match) => match !== null)
    expect(queries).to.have.lengthOf(2)
    for (const [, expr = '', label] of queries) check(`sum by (${label}) (${withValues(expr)})`, samples)
  })

  it('is what the reference lists, row by row', () => {
    const rows = table(read('docs/reference/metrics.md'), '## Of the operator').map(([name = '', type, labels = '', help]) => [
      codes(name)[0],
      { type, labels: codes(labels), help: help?.replaceAll('\\|', '|') },
    ])
    expect(rows).to.deep.equal(Object.entries(METRICS).map(([name, { type, labels, help }]) => [name, { type, labels: [...labels], help }]))
    const process = table(read('docs/reference/metrics.md'), '## Of the process').flatMap(([name = '', meaning = '']) => [
      ...codes(name),
      ...codes(meaning).filter((code) => /^(process|nodejs)_/.test(code)),
    ])
    for (const name of process) expect(declared, name).to.include(name)
  })

  it('is what the pages on operations speak of', () => {
    for (const page of pagesIn('docs/operations'))
      for (const [name] of read(page).matchAll(
        /\b(?:tsop|workqueue|controller_runtime|rest_client|leader_election|nodejs|process)_[a-z_]+\b(?!\()/g,
      ))
        expect([...declared, ...samples.map(({ metric }) => metric)], `${name} in ${page}`).to.include(name)
  })

  it('would be missed where it is not there', () => {
    const wrong = [
      'sum(tsop_objects_unfinished',
      'tsop_nothing',
      'sum by (object) (workqueue_depth)',
      'workqueue_depth{name="x"}',
      'workqueue_depth{colour="red"}',
      'rate(workqueue_queue_duration_seconds[5m])',
      'max(tsop_info) by (le)',
    ]
    for (const expr of wrong) expect(() => check(expr, samples), expr).to.throw()
  })
})

describe('the alerts', () => {
  const rules = (load(read('docs/operations/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)

  it('each have a paragraph that says what to do, and there is none without an alert', () => {
    const headings = [...read('docs/operations/alerts.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
    expect(headings).to.deep.equal(rules.map(({ alert }) => alert))
  })

  it('say how bad it is, and what it is', () => {
    for (const { alert, labels, annotations } of rules) {
      expect(labels.severity, alert).to.be.oneOf(['critical', 'warning', 'info'])
      expect(annotations.summary, alert).to.match(/\.$/)
    }
  })
})

/** Grafana's variables as Prometheus would get them. */
function withValues(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(?:namespace|controller)/g, '.*')
}

/** Throws where the expression is none, or speaks of a metric, a label or a value that is not among the samples. */
function check(expr: string, samples: readonly Sample[]): void {
  const tree = parser.parse(expr)
  const text = (node: { from: number; to: number }) => expr.slice(node.from, node.to)
  const labels = new Set(TARGET)
  const grouping: string[] = []
  tree.iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`no PromQL at ${expr.slice(node.from, node.from + 20)}: ${expr}`)
      if (node.name === 'VectorSelector') {
        const identifier = node.node.getChild('Identifier')
        const name = identifier === null ? '' : text(identifier)
        const of = samples.filter(({ metric }) => metric === name)
        if (of.length === 0) throw new Error(`there is no metric ${name}: ${expr}`)
        const own = new Set(of.flatMap((sample) => Object.keys(sample.labels)))
        for (const label of own) labels.add(label)
        for (const matcher of node.node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []) {
          const [, label = '', operator, value] = /^(\w+)\s*(=~|!=|!~|=)\s*"(.*)"$/.exec(text(matcher)) ?? []
          if (!own.has(label) && !TARGET.includes(label)) throw new Error(`${name} has no label ${label}: ${expr}`)
          if (operator === '=' && !TARGET.includes(label) && !of.some((sample) => sample.labels[label] === value))
            throw new Error(`${name} has no ${label} "${value}": ${expr}`)
        }
      }
      if (node.name === 'GroupingLabels') grouping.push(...node.node.getChildren('LabelName').map(text))
    },
  })
  for (const label of grouping) if (!labels.has(label)) throw new Error(`nothing here has the label ${label}: ${expr}`)
}
