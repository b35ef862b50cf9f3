import { expect } from 'chai'
import { kind, onReconcile, resource, resourceFrom, z } from 'tsop'
import { ConfigMap } from 'tsop/kinds'
import { type EmbeddedOptions, embedded } from 'tsop/testing'
import { at, Database, DatabaseHandler, database } from './fixtures.ts'

async function failure(options: object): Promise<string> {
  try {
    const cluster = await embedded(options as EmbeddedOptions)
    await cluster.close()
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
  throw new Error('it did not fail')
}

describe('embedded() refuses', () => {
  it('options that it does not know, and values that they do not take', async () => {
    expect(await failure({ handler: [DatabaseHandler] })).to.match(
      /^TypeError: embedded: there is no option handler; there are handlers, kinds,/,
    )
    expect(await failure({ clock: 'slow' })).to.equal(`TypeError: clock: expected 'manual' or 'real', not "slow"`)
    expect(await failure({ start: 'no' })).to.equal('TypeError: start: expected true or false, not "no"')
  })

  it('what is no handler', async () => {
    class Plain {}
    expect(await failure({ handlers: [Plain] })).to.match(/^HandlerError: Plain: no method is decorated with @onReconcile/)
    expect(await failure({ handlers: [new Plain()] })).to.match(/^HandlerError: Plain: no method is decorated with @onReconcile/)
    expect(await failure({ handlers: [{}] })).to.equal(
      'TypeError: handlers[0]: expected a handler class or an instance of one, not a plain object',
    )
    expect(await failure({ handlers: [DatabaseHandler, 'x'] })).to.equal(
      'TypeError: handlers[1]: expected a handler class or an instance of one, not "x"',
    )
    expect(await failure({ handlers: [() => new DatabaseHandler()] })).to.equal(
      'TypeError: handlers[0]: expected a handler class or an instance of one, not a function',
    )
    expect(await failure({ handlers: DatabaseHandler })).to.equal(
      'TypeError: handlers: expected a list of handler classes and instances, not the class DatabaseHandler; write [DatabaseHandler]',
    )
  })

  it('a class that it cannot make', async () => {
    class Needs {
      readonly bank: object
      constructor(bank: object) {
        this.bank = bank
      }
      @onReconcile(Database)
      reconcile() {}
    }
    expect(await failure({ handlers: [Needs] })).to.equal(
      'HandlerError: Needs.constructor(): takes arguments: hand over an instance, handlers: [new Needs(…)], or a function that makes it',
    )
    class Throws {
      readonly bank = JSON.parse('{')
      @onReconcile(Database)
      reconcile() {}
    }
    expect(await failure({ handlers: [Throws] })).to.match(/^Error: new Throws\(\) threw: /)
  })

  it('two classes of one kind', async () => {
    class Other extends DatabaseHandler {}
    expect(await failure({ handlers: [DatabaseHandler, Other] })).to.match(/^HandlerError: .*Database/)
  })

  it('a kind that nobody defines', async () => {
    const Certificate = kind('cert-manager.io/v1', 'Certificate')
    class Certificates {
      @onReconcile(Certificate)
      reconcile() {}
    }
    expect(await failure({ handlers: [Certificates] })).to.equal(
      'Error: Certificates: nothing in this cluster defines Certificate.cert-manager.io (cert-manager.io/v1): make the kind with resource() ' +
        'or resourceFrom(), or hand over one that has its definition: embedded({ kinds: [resourceFrom(…)] })',
    )
  })

  it('a definition that the server refuses, in its words', async () => {
    const Bad = resource({
      group: 'example.com',
      version: 'v1',
      kind: 'Bad',
      spec: z.object({ a: z.string().optional() }),
      validations: [{ rule: 'self.spec.nope == 1', message: 'no' }],
    })
    class Bads {
      @onReconcile(Bad)
      reconcile() {}
    }
    expect(await failure({ handlers: [Bads] })).to.match(
      /^Error: the definition bads\.example\.com cannot be installed: .*undefined field 'nope'/s,
    )
  })

  it('objects that are none', async () => {
    expect(await failure({ objects: [{ metadata: { name: 'a' } }] })).to.match(/^TypeError: apply: an object needs apiVersion, kind and/)
    expect(await failure({ objects: [database('a')] })).to.equal(
      'Error: apply: nothing in this cluster defines Database (db.example.com/v1); install its definition',
    )
    expect(await failure({ handlers: [DatabaseHandler], objects: [database('a', { size: 0 })] })).to.match(
      /spec\.size.*greater than or equal to 1/,
    )
  })

  it('options that make no sense', async () => {
    expect(await failure({ now: 'soon' })).to.match(/^TypeError: now: expected a time/)
    expect(await failure({ patience: 'long' })).to.match(/^TypeError: patience: expected a duration/)
    expect(await failure({ handlers: [DatabaseHandler], concurrency: { Nope: 2 } })).to.match(/^TypeError: concurrency of Nope/)
  })
})

describe('embedded()', () => {
  it('installs the kinds of others, and more of them when asked', async () => {
    const foreign = (name: string) =>
      resourceFrom({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${name.toLowerCase()}s.other.example.com` },
        spec: {
          group: 'other.example.com',
          names: { kind: name, plural: `${name.toLowerCase()}s` },
          scope: 'Namespaced',
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
            },
          ],
        },
      } as never)
    const [A, B, C] = [foreign('Alpha'), foreign('Beta'), foreign('Gamma')]
    class Handler {
      @onReconcile(A)
      reconcile() {}
    }
    await using cluster = await embedded({ handlers: [Handler], kinds: [B] })
    await cluster.install(C)
    for (const each of [A, B, C]) expect((await cluster.client.list(each)).items).to.deep.equal([])
  })

  it('shows the time it was told', async () => {
    await using cluster = await embedded({ now: '2030-05-06T07:08:09Z' })
    await cluster.client.create(ConfigMap, { metadata: at('a') })
    await cluster.clock.advance('1h30m')
    await cluster.client.create(ConfigMap, { metadata: at('b') })
    const created = async (name: string) => (await cluster.client.get(ConfigMap, at(name))).metadata.creationTimestamp
    expect(await created('a')).to.equal('2030-05-06T07:08:09Z')
    expect(await created('b')).to.equal('2030-05-06T08:38:09Z')
  })

  it('lets others in', async () => {
    await using cluster = await embedded()
    const answer = await fetch(`${await cluster.listen()}/api/v1/namespaces/default`)
    expect(((await answer.json()) as { kind: string }).kind).to.equal('Namespace')
  })
})
