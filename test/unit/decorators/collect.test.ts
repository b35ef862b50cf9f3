import { expect } from 'chai'
import { z } from 'zod'
import { checkHandlers, collect, type HandlerClass, isHandlerClass } from '../../../lib/decorators/collect.ts'
import { defaults } from '../../../lib/decorators/defaults.ts'
import { HandlerError, isHandlerError } from '../../../lib/decorators/handler-error.ts'
import { HANDLER } from '../../../lib/decorators/metadata.ts'
import { onDelete } from '../../../lib/decorators/on-delete.ts'
import { onReconcile } from '../../../lib/decorators/on-reconcile.ts'
import { owns } from '../../../lib/decorators/owns.ts'
import { validates } from '../../../lib/decorators/validates.ts'
import { watches } from '../../../lib/decorators/watches.ts'
import { type KindRef, kind } from '../../../lib/resource/kind.ts'
import { ConfigMap, Secret, Service } from '../../../lib/resource/kinds.ts'
import { resource } from '../../../lib/resource/resource.ts'
import { resourceFrom } from '../../../lib/resource/resource-from.ts'

const Thing = kind('example.com/v1', 'Thing', { plural: 'things', scope: 'Namespaced' })
const Other = kind('example.com/v1', 'Other')

/** For what the type checker refuses. */
type Anything = (...args: unknown[]) => never
const looseReconcile = onReconcile as unknown as (...args: unknown[]) => Anything

/** What `collect` complains of, one text a line. */
function complaints(cls: HandlerClass, options: { factory?: boolean } = {}): string[] {
  try {
    collect(cls, { file: 'things.ts', ...options })
    return []
  } catch (error) {
    if (!isHandlerError(error)) throw error
    return error.message.split('\n')
  }
}

describe('collect', () => {
  it('reads all roles of a class with their options', () => {
    class ThingHandler {
      @owns(Service) service() {
        return {}
      }
      @owns(ConfigMap, { suffix: 'conf' }) config() {
        return {}
      }
      @watches(Secret, { labels: { app: 'a' } }) secret() {
        return 'default/a'
      }
      @onReconcile(Thing, { concurrency: 2, timeout: '1m' }) @owns(Secret) reconcile(_: unknown, _ctx: unknown) {}
      @onDelete(Thing) remove() {}
    }
    expect(collect(ThingHandler, { file: 'things.ts' })).to.deep.equal({
      className: 'ThingHandler',
      file: 'things.ts',
      kind: Thing,
      reconcile: { method: 'reconcile', options: { concurrency: 2, timeout: '1m' } },
      onDelete: { method: 'remove', finalizer: undefined },
      owns: [
        { kind: Service, method: 'service', builder: true },
        { kind: ConfigMap, method: 'config', builder: true, suffix: 'conf' },
        { kind: Secret, method: 'reconcile', builder: false },
      ],
      watches: [{ kind: Secret, method: 'secret', options: { labels: { app: 'a' } } }],
    })
  })

  it('refuses a builder that forgot to return what it builds', () => {
    class Forgot {
      @owns(Service) service(_: unknown, _ctx: unknown) {
        ;({ spec: {} })
      }
      @owns(ConfigMap) unfinished(): Record<string, never> {
        throw new Error('to do')
      }
      @onReconcile(Thing) @owns(Secret) reconcile(_: unknown, _ctx: unknown) {}
    }
    expect(complaints(Forgot)).to.have.length(1)
    expect(complaints(Forgot)[0]).to.contain('things.ts: Forgot.service(): @owns on a method without `return`')
  })

  it('takes the finalizer that @onDelete names', () => {
    class ThingHandler {
      @onReconcile(Thing) reconcile() {}
      @onDelete(Thing, { finalizer: 'example.com/old' }) remove() {}
    }
    expect(collect(ThingHandler).onDelete).to.deep.equal({ method: 'remove', finalizer: 'example.com/old' })
  })

  it('lets one mapping serve several watched kinds', () => {
    class ThingHandler {
      @watches(Secret) @watches(ConfigMap) changed() {
        return []
      }
      @onReconcile(Thing) reconcile() {}
    }
    expect(collect(ThingHandler).watches.map(({ method, kind: { kind } }) => `${method} ${kind}`)).to.have.members([
      'changed Secret',
      'changed ConfigMap',
    ])
  })

  it('understands a registration that another copy of the package wrote', () => {
    class ThingHandler {
      reconcile() {}
    }
    Reflect.defineMetadata(
      HANDLER,
      [{ decorator: 'onReconcile', kind: { ...Thing }, options: undefined }],
      ThingHandler.prototype.reconcile,
    )
    expect(HANDLER).to.equal(Symbol.for('tsop.handler'))
    expect(collect(ThingHandler).kind.kind).to.equal('Thing')
  })

  it('finds a method that another decorator has wrapped', () => {
    const traced = (_target: object, _name: string, descriptor: PropertyDescriptor) => {
      const inner = descriptor.value
      descriptor.value = function (this: unknown, ...args: unknown[]) {
        return inner.apply(this, args)
      }
    }
    class ThingHandler {
      @traced @onReconcile(Thing) reconcile() {}
      @traced @onDelete(Thing) remove() {}
    }
    expect(collect(ThingHandler).onDelete?.method).to.equal('remove')
  })

  describe('with inheritance', () => {
    class Base {
      @owns(Service) service() {
        return {}
      }
      @onReconcile(Thing, { concurrency: 2 }) reconcile() {}
    }

    it('inherits what the base class declares', () => {
      class Derived extends Base {
        @onDelete(Thing) remove() {}
      }
      const spec = collect(Derived)
      expect([spec.className, spec.reconcile.method, spec.owns[0]?.method, spec.onDelete?.method]).to.deep.equal([
        'Derived',
        'reconcile',
        'service',
        'remove',
      ])
    })

    it('keeps the decoration of a method that is overridden', () => {
      class Derived extends Base {
        override reconcile() {}
      }
      expect(collect(Derived).reconcile).to.deep.equal({ method: 'reconcile', options: { concurrency: 2 } })
    })

    it('replaces the decoration where the overriding method has its own', () => {
      class Derived extends Base {
        @onReconcile(Other, { concurrency: 7 }) override reconcile() {}
      }
      expect(collect(Derived).kind).to.equal(Other)
      expect(collect(Derived).reconcile.options).to.deep.equal({ concurrency: 7 })
      expect(collect(Base).kind).to.equal(Thing)
    })

    it('does not show a base class what a derived one declares', () => {
      class Derived extends Base {
        @onDelete(Thing) remove() {}
      }
      expect(collect(Derived).onDelete).to.not.equal(undefined)
      expect(collect(Base).onDelete).to.equal(undefined)
    })

    it('refuses a second reconcile method under another name', () => {
      class Derived extends Base {
        @onReconcile(Thing) again() {}
      }
      expect(complaints(Derived)).to.deep.equal([
        'things.ts: Derived: 2 times @onReconcile (reconcile(), again()): a class reconciles one kind in one method; make one class of each',
      ])
    })
  })

  describe('refuses, with file, class and method,', () => {
    it('a static method', () => {
      class Wrong {
        @looseReconcile(Thing) static reconcile() {}
        other() {}
      }
      expect(complaints(Wrong)).to.deep.equal([
        'things.ts: Wrong.reconcile(): @onReconcile on a static method: the engine calls methods of an instance; remove `static`',
      ])
    })

    it('a getter, a setter and a field', () => {
      class Wrong {
        @looseReconcile(Thing) get a() {
          return 5
        }
        @looseReconcile(Thing) set b(_value: number) {}
        @looseReconcile(Thing) c = () => {}
      }
      expect(complaints(Wrong).map((text) => text.split(': put')[0])).to.have.members([
        'things.ts: Wrong.a: @onReconcile on a getter',
        'things.ts: Wrong.b: @onReconcile on a setter',
        'things.ts: Wrong.c: @onReconcile on a field',
      ])
    })

    it('a class', () => {
      @looseReconcile(Thing)
      class Wrong {}
      expect(isHandlerClass(Wrong)).to.equal(true)
      expect(complaints(Wrong)).to.deep.equal(['things.ts: Wrong: @onReconcile on a class: put it on the method that does the work'])
    })

    it('two reconcile methods, of one kind or of two', () => {
      class Same {
        @onReconcile(Thing) a() {}
        @onReconcile(Thing) b() {}
      }
      class Different {
        @onReconcile(Thing) @onReconcile(Other) a() {}
      }
      expect(complaints(Same)[0]).to.contain('2 times @onReconcile (a(), b())')
      expect(complaints(Different)[0]).to.contain('2 times @onReconcile (a())')
    })

    it('two @onDelete', () => {
      class Wrong {
        @onReconcile(Thing) reconcile() {}
        @onDelete(Thing) a() {}
        @onDelete(Thing) b() {}
      }
      expect(complaints(Wrong)).to.deep.equal(['things.ts: Wrong: 2 times @onDelete (a(), b()): keep one'])
    })

    for (const [name, decorated] of Object.entries({ onDelete: onDelete(Thing), owns: owns(Service), watches: watches(Service) })) {
      it(`@${name} without @onReconcile`, () => {
        class Wrong {
          @(decorated as Anything) method() {}
        }
        expect(complaints(Wrong)).to.deep.equal([
          `things.ts: Wrong.method(): @${name} in a class without @onReconcile: add the method that reconciles, decorated with @onReconcile(Kind)`,
        ])
      })
    }

    it('@onDelete of another kind than the primary', () => {
      class Wrong {
        @onReconcile(Thing) reconcile() {}
        @onDelete(Other) remove() {}
      }
      expect(complaints(Wrong)[0]).to.match(
        /^things\.ts: Wrong\.remove\(\): @onDelete\(Other\.example\.com\) in the class of Thing\.example\.com/,
      )
    })

    it('a kind that is not there yet, as when two files import each other', () => {
      class Wrong {
        @looseReconcile(undefined) reconcile() {}
      }
      expect(complaints(Wrong)[0]).to.contain('Wrong.reconcile(): @onReconcile(undefined)').and.to.contain('two files import each other')
    })

    it('something that is no kind', () => {
      class Wrong {
        @looseReconcile('Thing') reconcile() {}
      }
      expect(complaints(Wrong)[0]).to.contain('Wrong.reconcile(): @onReconcile: expected a kind').and.to.contain('not "Thing"')
    })

    it('two builders of one kind without different suffixes', () => {
      class Wrong {
        @onReconcile(Thing) reconcile() {}
        @owns(Service) a() {
          return {}
        }
        @owns(Service) b() {
          return {}
        }
        @owns(Service, { suffix: 'x' }) c() {
          return {}
        }
      }
      expect(complaints(Wrong)).to.deep.equal([
        "things.ts: Wrong.b(): @owns(Service) is built by a() already: give one of the two a suffix, such as @owns(Service, { suffix: 'replica' })",
      ])
    })

    it('a builder of two kinds', () => {
      class Wrong {
        @onReconcile(Thing) reconcile() {}
        @owns(Service) @owns(ConfigMap) a() {
          return undefined
        }
      }
      expect(complaints(Wrong)[0]).to.contain('Wrong.a(): 2 times @owns on one method')
    })

    it('two roles on one method', () => {
      class Wrong {
        @onReconcile(Thing) @onDelete(Thing) reconcile() {}
      }
      expect(complaints(Wrong)[0]).to.match(/Wrong\.reconcile\(\): @on(Delete|Reconcile) and @on(Delete|Reconcile) on one method/)
    })

    it('a suffix where the reconcile method makes the child itself', () => {
      class Wrong {
        @onReconcile(Thing) @owns(Service, { suffix: 'a' }) reconcile(_: unknown, _ctx: unknown) {}
      }
      expect(complaints(Wrong)[0]).to.contain('Wrong.reconcile(): @owns(Service): suffix is for a builder')
    })

    it('a constructor that needs arguments, unless there is a factory', () => {
      class Wrong {
        readonly text: string
        constructor(text: string) {
          this.text = text
        }
        @onReconcile(Thing) reconcile() {}
      }
      expect(complaints(Wrong)[0]).to.contain('Wrong.constructor(): takes arguments')
      expect(complaints(Wrong, { factory: true })).to.deep.equal([])
    })

    it('a class without any decorated method', () => {
      class Wrong {}
      expect(complaints(Wrong)[0]).to.contain('things.ts: Wrong: no method is decorated with @onReconcile')
    })

    it('everything that is wrong at once', () => {
      class Wrong {
        @onReconcile(Thing, { concurrency: 0 }) reconcile() {}
        @onDelete(Other) remove() {}
      }
      expect(complaints(Wrong)).to.have.length(2)
    })
  })

  describe('options', () => {
    const bad: [string, object, RegExp][] = [
      ['concurrency 0', { concurrency: 0 }, /concurrency: expected a whole number from 1 on, not 0/],
      ['concurrency NaN', { concurrency: Number.NaN }, /concurrency: .* not NaN/],
      ['concurrency 1.5', { concurrency: 1.5 }, /concurrency: .* not 1.5/],
      ['concurrency as text', { concurrency: '4' }, /concurrency: .* not "4"/],
      ['an unreadable timeout', { timeout: 'soon' }, /timeout: expected a duration such as '30s', or milliseconds, not "soon"/],
      ['timeout 0', { timeout: 0 }, /timeout: expected more than 0, not 0/],
      ['a negative timeout', { timeout: -5 }, /timeout: .* not -5/],
      ['an endless timeout', { timeout: Number.POSITIVE_INFINITY }, /timeout: .* not Infinity/],
      ['an unknown name', { concurency: 4 }, /unknown option concurency; it takes concurrency, timeout, labels, fields, namespaces, when/],
      ['a name that every object has', { toString: 4 }, /unknown option toString/],
      ['no namespaces', { namespaces: [] }, /namespaces: expected a list of at least one/],
      ['a namespace that cannot be', { namespaces: ['A_b'] }, /namespaces: .* not \["A_b"\]/],
      ['labels as a list', { labels: ['a'] }, /labels: expected a selector/],
      ['an empty selector', { fields: '' }, /fields: expected a selector/],
      ['when without a function', { when: true }, /when: expected a function/],
    ]
    for (const [name, options, expected] of bad) {
      it(`refuses ${name}`, () => {
        class Wrong {
          @looseReconcile(Thing, options) reconcile() {}
        }
        expect(complaints(Wrong)).to.have.length(1)
        expect(complaints(Wrong)[0])
          .to.match(/^things\.ts: Wrong\.reconcile\(\): @onReconcile: /)
          .and.to.match(expected)
      })
    }

    it('takes all that is right', () => {
      class Right {
        @onReconcile(Thing, {
          concurrency: 1,
          timeout: 250,
          labels: 'a=b',
          fields: { 'metadata.name': 'x' },
          namespaces: ['a', 'b-1'],
          when: () => true,
        })
        reconcile() {}
      }
      expect(complaints(Right)).to.deep.equal([])
    })

    it('refuses a finalizer without a domain and a suffix that makes no name', () => {
      class Wrong {
        @onReconcile(Thing) reconcile() {}
        @onDelete(Thing, { finalizer: 'cleanup' }) remove() {}
        @owns(Service, { suffix: 'A_' }) service() {
          return {}
        }
      }
      expect(complaints(Wrong).join('\n'))
        .to.contain('finalizer: expected a name with a domain')
        .and.to.contain('suffix: expected lower-case')
    })
  })
})

describe('decorators', () => {
  it('say how to write them when they are used without a kind', () => {
    const bare = onReconcile as unknown as MethodDecorator
    expect(() => {
      class Wrong {
        @bare reconcile() {}
      }
      return Wrong
    }).to.throw(HandlerError, 'write @onReconcile(Kind) instead of @onReconcile')
  })
})

describe('isHandlerClass', () => {
  it('tells classes with decorated methods from everything else a file may export', () => {
    class Base {
      @onReconcile(Thing) reconcile() {}
    }
    class Derived extends Base {}
    class Plain {}
    expect([Base, Derived].every(isHandlerClass)).to.equal(true)
    const others = [Plain, () => {}, function f() {}, async () => {}, {}, null, undefined, 'a', 5, Thing, Proxy, new Base()]
    expect(others.filter(isHandlerClass)).to.deep.equal([])
  })
})

describe('checkHandlers', () => {
  const spec = (className: string, file: string, apiVersion = 'example.com/v1') => {
    class Handler {
      @onReconcile(kind(apiVersion, 'Thing')) reconcile() {}
    }
    return { ...collect(Handler, { file }), className }
  }

  it('refuses two classes of one primary kind, naming both', () => {
    expect(() => checkHandlers([spec('A', 'a.ts'), spec('B', 'b.ts')])).to.throw(
      HandlerError,
      'b.ts: B.reconcile(): Thing.example.com is reconciled by A (a.ts) already',
    )
  })

  it('counts two versions of a kind as one kind', () => {
    expect(() => checkHandlers([spec('A', 'a.ts'), spec('B', 'a.ts', 'example.com/v2')])).to.throw(HandlerError)
  })

  it('takes kinds of the same name in different groups', () => {
    checkHandlers([spec('A', 'a.ts'), spec('B', 'a.ts', 'other.example.com/v1')])
  })

  it('refuses two kinds whose definitions would have one name', () => {
    const made = (name: string) => resource({ group: 'example.com', version: 'v1', kind: name, spec: z.object({}) })
    class A {
      @onReconcile(made('Webshop')) reconcile() {}
    }
    class B {
      @onReconcile(made('WebShop')) reconcile() {}
    }
    expect(() => checkHandlers([collect(A, { file: 'a.ts' }), collect(B, { file: 'b.ts' })])).to.throw(
      HandlerError,
      'b.ts: B: WebShop and the Webshop of A would both be webshops.example.com: give one of them another `plural` in resource()',
    )
  })

  describe('of a kind that is defined twice', () => {
    const shop = (fields: z.ZodRawShape = {}, more = {}) =>
      resource({ group: 'example.com', version: 'v1', kind: 'Shop', spec: z.object({ size: z.int(), ...fields }), ...more })
    /** Class A of a.ts reconciles the one, class B of b.ts owns and watches the others. */
    const specs = (one: KindRef, ...others: KindRef[]) => {
      class A {
        @onReconcile(one) reconcile() {}
      }
      class B {
        @onReconcile(Thing) reconcile() {}
      }
      const b = collect(B, { file: 'b.ts' })
      const watches = others.map((each) => ({ kind: each, method: 'map', options: {} }))
      return [collect(A, { file: 'a.ts' }), { ...b, watches }]
    }
    const advice = 'call resource() once for the kind, and import it where it is used'

    it('refuse two definitions that differ, naming both classes', () => {
      expect(() => checkHandlers(specs(shop(), shop({ name: z.string() }))))
        .to.throw(HandlerError)
        .with.property('message', `b.ts: B: a cluster has one definition of Shop.example.com, and A (a.ts) names another one: ${advice}`)
    })

    it('refuse them under two plurals, of which an API server takes one', () => {
      expect(() => checkHandlers(specs(shop(), shop({}, { plural: 'stores' })))).to.throw(HandlerError, 'A (a.ts) names another one')
    })

    it('refuse them in one class, once', () => {
      const [, b] = specs(Thing, shop(), shop({}, { shortNames: ['s'] }), shop())
      expect(() => checkHandlers([b!]))
        .to.throw(HandlerError)
        .with.property(
          'message',
          `b.ts: B: a cluster has one definition of Shop.example.com, and this class names two that differ: ${advice}`,
        )
    })

    it('refuse one that converts beside one that does not', () => {
      const converting = { ...shop(), conversion: {} } as unknown as KindRef
      expect(() => checkHandlers(specs(shop(), converting))).to.throw(HandlerError, 'A (a.ts) names another one')
    })

    it('take the same definition twice, and what others define', () => {
      checkHandlers(specs(shop(), shop(), shop()))
      checkHandlers(specs(shop(), resourceFrom(shop({ name: z.string() }).crd)))
    })
  })
})

describe('collect, of what is asked before objects are stored', () => {
  it('reads the methods with their options', () => {
    class ThingHandler {
      @onReconcile(Thing) reconcile() {}
      @validates(Thing, { on: ['delete'], failurePolicy: 'Ignore', timeout: '3s' }) keep() {}
      @validates(Thing) check() {}
      @defaults(Thing) fill() {}
    }
    const { validates: validators, defaults: defaulter } = collect(ThingHandler)
    expect(validators).to.deep.equal([
      { method: 'keep', options: { on: ['delete'], failurePolicy: 'Ignore', timeout: '3s' } },
      { method: 'check', options: {} },
    ])
    expect(defaulter).to.deep.equal({ method: 'fill', options: {} })
  })

  it('wants the kind that the class reconciles, in its version', () => {
    class Strange {
      @onReconcile(Thing) reconcile() {}
      @validates(Secret) validate() {}
      @defaults(kind('example.com/v2', 'Thing', { plural: 'things', scope: 'Namespaced' })) fill() {}
    }
    expect(complaints(Strange)).to.deep.equal([
      'things.ts: Strange.validate(): @validates(Secret) in the class of Thing.example.com: a class answers for the kind it reconciles; make another class',
      'things.ts: Strange.fill(): @defaults(example.com/v2) in the class of example.com/v1: a class answers for the kind it reconciles; it gets every object in the version that the class reconciles; name that one',
    ])
  })

  it('wants a kind whose plural is known, and a class that reconciles', () => {
    class Vague {
      @onReconcile(Other) reconcile() {}
      @validates(Other) validate() {}
    }
    expect(complaints(Vague).join()).to.contain(
      "Vague.validate(): @validates(Other.example.com): the API server is told by the plural, which this reference does not say: kind('example.com/v1', 'Other', { plural:",
    )
    class Idle {
      @validates(Thing) validate() {}
    }
    expect(complaints(Idle).join()).to.contain('Idle.validate(): @validates in a class without @onReconcile')
  })

  it('refuses two @defaults, mixed roles and wrong options', () => {
    const loose = {
      validates: validates as never as (...args: unknown[]) => Anything,
      defaults: defaults as never as (...args: unknown[]) => Anything,
    }
    class Wrong {
      @onReconcile(Thing) reconcile() {}
      @defaults(Thing) one() {}
      @defaults(Thing) two() {}
      @validates(Thing) @defaults(Thing) both() {}
      @loose.validates(Thing, { on: ['patch'], timeout: '31s', failurePolicy: 'fail', tiemout: 1 }) options() {}
      @loose.defaults(Thing, { on: ['delete'], timeout: '1.5s' }) more() {}
      @loose.validates(Thing) get getter() {
        return 5
      }
    }
    const lines = complaints(Wrong).join('\n')
    for (const text of [
      '4 times @defaults (one(), two(), both(), more()): which of them is first?',
      'Wrong.both(): @defaults and @validates on one method: make a method of each',
      "Wrong.options(): @validates: on: expected a list of 'create', 'update', 'delete', 'status', not [\"patch\"]",
      'Wrong.options(): @validates: timeout: the API server waits for whole seconds, from 1 to 30, not "31s"',
      "Wrong.options(): @validates: failurePolicy: expected 'Fail' or 'Ignore', not \"fail\"",
      'Wrong.options(): @validates: unknown option tiemout; it takes on, failurePolicy, timeout',
      "Wrong.more(): @defaults: on: expected a list of 'create', 'update', not [\"delete\"]",
      'Wrong.more(): @defaults: timeout: the API server waits for whole seconds, from 1 to 30, not "1.5s"',
      'Wrong.getter: @validates on a getter: put it on a method, such as `validate(db, old, ctx) { … }`',
    ])
      expect(lines).to.contain(text)
  })
})
