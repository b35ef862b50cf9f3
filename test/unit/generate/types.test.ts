import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { typeFiles } from '../../../lib/generate/types.ts'
import { parseYaml } from '../../../lib/resource/yaml.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FIXTURES = fileURLToPath(new URL('./fixtures/', import.meta.url))

const text = { type: 'string' }
const Tea = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'teas.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'teas', kind: 'Tea' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'use v1',
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
      { name: 'v1alpha1', served: false, storage: false },
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Tea. */ Not a comment any more.',
            required: ['spec'],
            properties: {
              apiVersion: text,
              kind: text,
              metadata: { type: 'object' },
              spec: {
                type: 'object',
                required: ['sort'],
                properties: {
                  sort: { type: 'string', enum: ['green', 'black', "it's"], description: 'Which.', default: 'green' },
                  minutes: { type: 'integer', nullable: true },
                  'x-cups': { type: 'number' },
                  sweet: { type: 'boolean' },
                  port: { 'x-kubernetes-int-or-string': true },
                  labels: { type: 'object', additionalProperties: text },
                  anything: { 'x-kubernetes-preserve-unknown-fields': true },
                  open: { type: 'object', properties: { a: text }, 'x-kubernetes-preserve-unknown-fields': true },
                  pod: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
                  list: { type: 'array', items: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } },
                  leaves: { type: 'array', items: { type: 'object', properties: { weight: { type: 'integer' } } } },
                  water: { type: 'object', properties: { ref: { type: 'object', properties: { name: text } } } },
                  milk: {
                    type: 'object',
                    properties: {
                      ref: { type: 'object', properties: { name: text } },
                      secret: { type: 'object', properties: { name: text } },
                    },
                  },
                },
              },
              status: { type: 'object', properties: { observedGeneration: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
}

describe('generated types', function () {
  this.timeout(60_000)
  // Within the project, so that `tsop` is this very package; hidden, so that nothing else takes notice.
  const directory = join(ROOT, `test/unit/generate/.types-${process.pid}`)
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('are refused of names that no API server would take, which are names of files and words of code here', () => {
    const named = (spec: object) => typeFiles([{ ...Tea, spec: { ...Tea.spec, ...spec } }])
    expect(() => named({ names: { plural: '../../teas', kind: 'Tea' } })).to.throw(
      TypeError,
      'spec.names.plural that is none: "../../teas"',
    )
    expect(() => named({ group: '../x' })).to.throw(TypeError, 'spec.group that is none')
    expect(() => named({ names: { plural: 'teas', kind: 'Tea = 1; evil(); const x' } })).to.throw(TypeError, 'spec.names.kind that is none')
    const [v1] = Tea.spec.versions.slice(-1)
    expect(() => named({ versions: [{ ...v1, name: "v1'; evil()" }] })).to.throw(TypeError, 'spec.versions[].name that is none')
  })

  it('have names that TypeScript takes, of kinds that are none', () => {
    const of = (kind: string) => typeFiles([{ ...Tea, spec: { ...Tea.spec, names: { plural: 'teas', kind } } }])[0]?.content
    expect(of('class')).to.include('export const Class: tsop.KindRef<Class> = {').and.to.include("kind: 'class'")
    expect(of('black-tea')).to.include('export const BlackTea: tsop.KindRef<BlackTea> = {').and.to.include("kind: 'black-tea'")
  })

  it('say of each field what its schema says', () => {
    const [file] = typeFiles([Tea])
    expect(file?.path).to.equal('teas.example.com.ts')
    expect(file?.content).to.equal(readFileSync(join(FIXTURES, 'tea.txt'), 'utf8'))
  })

  it('are a file for each definition', () => {
    const paths = typeFiles(foreign()).map(({ path }) => path)
    expect(paths).to.have.members([
      'certificates.cert-manager.io.ts',
      'issuers.cert-manager.io.ts',
      'servicemonitors.monitoring.coreos.com.ts',
      'prometheusrules.monitoring.coreos.com.ts',
    ])
  })

  it('refuse what is no definition', () => {
    expect(() => typeFiles([{ kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1beta1' }])).to.throw(
      TypeError,
      'v1beta1',
    )
    const unserved = { ...Tea, spec: { ...Tea.spec, versions: [{ name: 'v1', served: false, storage: true }] } }
    expect(() => typeFiles([unserved])).to.throw(TypeError, 'Tea serves no version')
  })

  it('compile under strict, and fit the decorators and clients of tsop', () => {
    mkdirSync(directory)
    for (const { path, content } of typeFiles([Tea, ...foreign()])) writeFileSync(join(directory, path), content)
    writeFileSync(join(directory, 'use.ts'), USE)
    const config = { extends: '../../../../tsconfig.json', include: ['*.ts'], exclude: [] }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
    try {
      execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8', stdio: 'pipe' })
    } catch (error) {
      throw new Error((error as { stdout: string }).stdout)
    }
  })
})

/** Each `@ts-expect-error` fails where the types are too wide. */
const USE = `
import { type Context, onReconcile, owns, type Resource, resource, watches, z } from 'tsop'
import { Certificate } from './certificates.cert-manager.io.ts'
import { PrometheusRule } from './prometheusrules.monitoring.coreos.com.ts'
import { ServiceMonitor } from './servicemonitors.monitoring.coreos.com.ts'
import { Tea, TeaV1beta1 } from './teas.example.com.ts'

const Shop = resource({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({ host: z.string() }) })
type Shop = Resource<typeof Shop>

export class ShopHandler {
  @owns(Certificate)
  certificate(shop: Shop) {
    return { spec: { secretName: shop.metadata.name, dnsNames: [shop.spec.host], issuerRef: { name: 'ca', kind: 'Issuer' } } }
  }

  @owns(ServiceMonitor)
  monitor(shop: Shop) {
    return { spec: { selector: { matchLabels: { shop: shop.metadata.name } }, endpoints: [{ port: 'http', interval: '30s', targetPort: 80 }] } }
  }

  @watches(PrometheusRule)
  rule(rule: PrometheusRule) {
    return (rule.spec.groups ?? []).flatMap(({ rules }) => rules ?? []).map(({ expr }) => ({ name: String(expr), namespace: 'default' }))
  }

  @onReconcile(Shop)
  async reconcile(_shop: Shop, ctx: Context<Shop>) {
    const certificate = ctx.child(Certificate)
    const ready: string | undefined = certificate?.status?.conditions?.find(({ type }) => type === 'Ready')?.status
    const tea = await ctx.client.get(Tea, { name: 'a', namespace: 'b' })
    const sort: 'green' | 'black' | "it's" = tea.spec.sort
    const minutes: number | null | undefined = tea.spec.minutes
    const ref: string | undefined = tea.spec.milk?.ref?.name ?? tea.spec.water?.ref?.name
    const old: unknown = (await ctx.client.get(TeaV1beta1, { name: 'a', namespace: 'b' }))['leaves']
    // @ts-expect-error there is no such field
    tea.spec.cup
    // @ts-expect-error it may be absent
    tea.spec.milk.secret
    return void [ready, sort, minutes, ref, old]
  }
}
`

function foreign(): object[] {
  return ['cert-manager', 'prometheus-operator'].flatMap((folder) =>
    readdirSync(join(FIXTURES, folder)).flatMap((file) =>
      parseYaml(readFileSync(join(FIXTURES, folder, file), 'utf8')).map(({ value }) => value as object),
    ),
  )
}
