import { expect } from 'chai'
import { type Context, onReconcile, owns } from 'tsop'
import { Service } from 'tsop/kinds'
import { condition, embedded } from 'tsop/testing'
import { StatusError } from '../../../lib/api/status-error.ts'
import { foreignFields } from '../../../lib/engine/foreign-fields.ts'
import { at, Database, database } from '../testing/fixtures.ts'

const item = (port: number) => `k:${JSON.stringify({ port, protocol: 'TCP' })}`
const ports = (...numbers: number[]) => ({ 'f:ports': Object.fromEntries(numbers.map((n) => [item(n), { '.': {}, 'f:port': {} }])) })
const managed = (manager: string, spec: object, more: object = {}) => ({ manager, fieldsV1: { 'f:spec': spec }, ...more })

function told(fields: (string | undefined)[], ...managedFields: object[]): string | undefined {
  const causes = fields.map((field) => (field === undefined ? {} : { field }))
  const error = new StatusError({ status: 422, reason: 'Invalid', message: 'x', request: 'PATCH /', details: { causes } })
  return foreignFields(error, { metadata: { name: 'a', managedFields } } as never, 'shop', 'Service default/a')
}

describe('what other managers own of a child that is refused', () => {
  const ADVICE = ', which an apply leaves there: remove it from Service default/a, or have the builder return it too'
  const edit = managed('kubectl-edit', ports(99))

  it('is named by manager and field, where the server finds fault with it', () => {
    expect(told(['spec.ports[0].name'], managed('shop', ports(80)), edit)).to.equal(
      `kubectl-edit owns spec.ports[port=99,protocol=TCP]${ADVICE}`,
    )
    const set = managed('other', { 'f:externalIPs': { 'v:"10.0.0.1"': {} }, 'f:type': {} })
    expect(told(['spec.type', 'spec.externalIPs[3]'], set, edit)).to.equal(`other owns spec.type, spec.externalIPs["10.0.0.1"]${ADVICE}`)
    expect(told(['spec'], managed('a', ports(1, 2, 3, 4)), managed('b', { 'f:type': {} }))).to.match(
      /^a owns spec\.ports\[port=1,protocol=TCP\], .*port=3,protocol=TCP\], 1 more and b owns spec\.type, which/,
    )
  })

  it('is only said to be there, where the fault is elsewhere', () => {
    for (const field of ['spec.type', '', undefined]) {
      expect(told([field], edit)).to.equal('other managers own fields of this object: kubectl-edit')
    }
  })

  it('is nothing where they own the status, labels, or what they own is ours', () => {
    expect(told(['spec.ports[0].name'], managed('shop', ports(80)))).to.equal(undefined)
    expect(told(['spec.ports'], managed('controller', ports(99), { subresource: 'status' }))).to.equal(undefined)
    expect(told(['spec.ports'], { manager: 'kubectl-label', fieldsV1: { 'f:metadata': { 'f:labels': {} } } })).to.equal(undefined)
    expect(told(['spec.ports'])).to.equal(undefined)
  })

  it('stands in the condition and the log', async () => {
    class Served {
      @owns(Service)
      service() {
        return { spec: { ports: [{ port: 80 }] } }
      }
      @onReconcile(Database)
      reconcile(_: Database, _ctx: Context<Database>) {}
    }
    await using cluster = await embedded({ handlers: [Served], objects: [database('a')] })
    await cluster.settled()
    await cluster.client.patch(Service, at('a'), { type: 'json', value: [{ op: 'replace', path: '/spec/ports/0/port', value: 99 }] })
    await cluster.settled()
    const ready = condition(await cluster.client.get(Database, at('a')), 'Ready')
    expect(ready?.message).to.match(
      /^service\(\): Service "a" is invalid: .*spec\.ports\[0\]\.name: Required value.*422 Invalid\); test owns spec\.ports\[port=99,protocol=TCP\], which an apply leaves there: remove it from Service default\/a, or have the builder return it too$/,
    )
    expect(
      cluster.logs().some(({ level, message, fields }) => level === 'error' && `${message}${JSON.stringify(fields)}`.includes('port=99')),
    ).to.equal(true)
    await cluster.client.patch(Service, at('a'), { type: 'json', value: [{ op: 'replace', path: '/spec/ports', value: [{ port: 80 }] }] })
    await cluster.clock.advance('5m')
    expect(condition(await cluster.client.get(Database, at('a')), 'Ready')?.status).to.equal('True')
  })
})
