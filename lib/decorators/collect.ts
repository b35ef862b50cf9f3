/**
 * From a handler class to the data that the engine runs. Everything that is wrong with the class is found here, at start-up, and
 * reported at once, with file, class and method.
 */

import { isDeepStrictEqual } from 'node:util'
import type {
  AdmissionMethod,
  AdmissionOptions,
  DefaultsOptions,
  HandlerSpec,
  OwnedKind,
  ReconcileOptions,
  ValidatesOptions,
  WatchedKind,
  WatchOptions,
} from '../resource/handler-spec.ts'
import { groupOf, type KindRef, kindKey, kindName } from '../resource/kind.ts'
import { HandlerError, type Problem } from './handler-error.ts'
import { type Note, notesOf, type Registration, registrationsOf } from './metadata.ts'
import { misplacedText } from './method-decorator.ts'
import { optionProblems, show } from './options.ts'

export type HandlerClass = abstract new (...args: never[]) => object

interface CollectOptions {
  /** For errors and the start banner. */
  readonly file?: string
  /** True: the file exports a factory, so the constructor may take what it likes. */
  readonly factory?: boolean
}

/** One decorated method of a class, with what is said about it. */
interface Role {
  readonly method: string
  readonly registration: Registration
}

/** Whether a value is a class with at least one decorated member of its own or inherited. */
export function isHandlerClass(value: unknown): value is HandlerClass {
  if (typeof value !== 'function' || typeof value.prototype !== 'object' || value.prototype === null) return false
  return chain(value as HandlerClass).some((cls) => levelRoles(cls).length > 0 || notesOf(cls).length > 0)
}

/**
 * What the class asks for. Inherited methods count; an overriding method keeps the decoration of the one it overrides, unless
 * it has one of its own.
 *
 * @throws HandlerError with all that is wrong
 */
export function collect(cls: HandlerClass, options: CollectOptions = {}): HandlerSpec {
  const problems: Problem[] = []
  const className = cls.name === '' ? '(class without a name)' : cls.name
  const report = (method: string | undefined, text: string) => problems.push({ file: options.file, className, method, text })

  for (const note of chain(cls).flatMap(notesOf)) {
    if (note.misplaced !== undefined) report(misplacedName(note), misplacedText(note.registration, note.misplaced))
  }
  const roles = rolesOf(cls)
  for (const { method, registration } of roles) {
    for (const text of [...kindProblems(registration), ...optionProblems(registration.decorator, registration.options)])
      report(`${method}()`, text)
  }
  const of = (decorator: Registration['decorator']) => roles.filter((role) => role.registration.decorator === decorator)
  const reconciles = of('onReconcile')
  const deletes = of('onDelete')
  const owned = of('owns')
  const watched = of('watches')
  const validators = of('validates')
  const defaulters = of('defaults')
  const reconcile = reconciles[0]

  if (reconcile === undefined) {
    if (roles.length > 0) {
      const [first] = roles as [Role]
      report(
        `${first.method}()`,
        `@${first.registration.decorator} in a class without @onReconcile: add the method that reconciles, decorated with @onReconcile(Kind)`,
      )
    } else if (problems.length === 0) {
      report(undefined, 'no method is decorated with @onReconcile (a decorator that makes a new class hides them)')
    }
  }
  if (reconciles.length > 1) {
    report(
      undefined,
      `${reconciles.length} times @onReconcile (${listed(reconciles)}): a class reconciles one kind in one method; make one class of each`,
    )
  }
  if (deletes.length > 1) report(undefined, `${deletes.length} times @onDelete (${listed(deletes)}): keep one`)
  if (defaulters.length > 1)
    report(undefined, `${defaulters.length} times @defaults (${listed(defaulters)}): which of them is first? Make one method of them`)
  for (const { method, registration } of [...validators, ...defaulters]) {
    for (const text of admissionProblems(registration, reconcile?.registration.kind)) report(`${method}()`, text)
  }
  for (const { method, registration } of deletes) {
    const primary = reconcile?.registration.kind
    if (isKindRef(primary) && isKindRef(registration.kind) && kindKey(primary) !== kindKey(registration.kind)) {
      report(
        `${method}()`,
        `@onDelete(${kindName(registration.kind)}) in the class of ${kindName(primary)}: a class deletes the kind it reconciles; make another class`,
      )
    }
  }
  for (const text of mixedRoles(roles)) report(text.method, text.text)
  for (const text of ownedTwice(owned, reconcile?.method)) report(text.method, text.text)
  for (const { method } of owned) {
    if (reconcile !== undefined && method !== reconcile.method && cannotReturn(cls.prototype[method as never]))
      report(
        `${method}()`,
        '@owns on a method without `return`: nothing would be built, and the children that there are deleted; return the child',
      )
  }
  if (cls.length > 0 && options.factory !== true) {
    report(
      'constructor()',
      `takes arguments, but handler classes are made without: give them defaults, or export a factory beside the class: export const handlers = () => [new ${className}(…)]`,
    )
  }
  if (problems.length > 0 || reconcile === undefined) throw new HandlerError(problems)

  return {
    className,
    ...(options.file === undefined ? {} : { file: options.file }),
    kind: reconcile.registration.kind as KindRef,
    reconcile: { method: reconcile.method, options: (reconcile.registration.options ?? {}) as ReconcileOptions },
    ...(deletes[0] === undefined ? {} : { onDelete: { method: deletes[0].method, finalizer: option(deletes[0], 'finalizer') } }),
    owns: owned.map((role) => ownedKind(role, reconcile.method)),
    watches: watched.map(
      ({ method, registration }): WatchedKind => ({
        kind: registration.kind as KindRef,
        method,
        options: (registration.options ?? {}) as WatchOptions,
      }),
    ),
    ...(validators.length === 0 ? {} : { validates: validators.map((role) => admissionMethod<ValidatesOptions>(role)) }),
    ...(defaulters[0] === undefined ? {} : { defaults: admissionMethod<DefaultsOptions>(defaulters[0]) }),
  }
}

/**
 * Checks classes against each other: two of the same primary kind would fight.
 *
 * @throws HandlerError
 */
export function checkHandlers(specs: readonly HandlerSpec[]): void {
  const first = new Map<string, HandlerSpec>()
  const problems: Problem[] = []
  for (const spec of specs) {
    // Versions of a kind are views of the same objects.
    const key = `${groupOf(spec.kind.apiVersion)}/${spec.kind.kind}`
    const other = first.get(key)
    if (other === undefined) first.set(key, spec)
    else {
      const where = other.file === undefined || other.file === spec.file ? other.className : `${other.className} (${other.file})`
      problems.push({
        file: spec.file,
        className: spec.className,
        method: `${spec.reconcile.method}()`,
        text: `${kindName(spec.kind)} is reconciled by ${where} already: a kind has one handler class; merge the two, or run them as two operators with different selectors`,
      })
    }
  }
  problems.push(...definedTwice(specs))
  if (problems.length > 0) throw new HandlerError(problems)
}

/** A cluster has one definition of a name: of two, the other would be left out, and its kind, or what it says of it, not be there. */
function definedTwice(specs: readonly HandlerSpec[]): Problem[] {
  const first = new Map<string, { readonly kind: KindRef<unknown>; readonly spec: HandlerSpec }>()
  return specs.flatMap((spec) => {
    const kinds = [spec.kind, ...spec.owns.map((each) => each.kind), ...spec.watches.map((each) => each.kind)]
    return [...new Set(kinds)].flatMap((kind) => {
      if (kind.crd === undefined || kind.foreign === true) return []
      const name = kind.crd.metadata.name
      const other = first.get(name) ?? first.get(kindName(kind))
      // Of a kind with another plural, too, an API server takes the first only.
      if (other === undefined) for (const key of [name, kindName(kind)]) first.set(key, { kind, spec })
      const text = other === undefined ? undefined : twiceText(kind, other, spec)
      return text === undefined ? [] : [{ file: spec.file, className: spec.className, text }]
    })
  })
}

function twiceText(kind: KindRef<unknown>, other: { kind: KindRef<unknown>; spec: HandlerSpec }, spec: HandlerSpec): string | undefined {
  const { className, file } = other.spec
  if (other.kind.kind !== kind.kind)
    return `${kind.kind} and the ${other.kind.kind} of ${className} would both be ${kind.crd?.metadata.name}: give one of them another \`plural\` in resource()`
  // Whoever converts is no part of the definition yet.
  const same = isDeepStrictEqual(kind.crd, other.kind.crd) && (kind.conversion === undefined) === (other.kind.conversion === undefined)
  if (same) return undefined
  const where = file === undefined || file === spec.file ? className : `${className} (${file})`
  const others = other.spec === spec ? 'this class names two that differ' : `${where} names another one`
  return `a cluster has one definition of ${kindName(kind)}, and ${others}: call resource() once for the kind, and import it where it is used`
}

/** The class and those it extends, most derived first. */
function chain(cls: HandlerClass): HandlerClass[] {
  const classes: HandlerClass[] = []
  for (let c: unknown = cls; typeof c === 'function' && c !== Function.prototype; c = Object.getPrototypeOf(c))
    classes.push(c as HandlerClass)
  return classes
}

/** All roles, base class first, in the order they are written; of methods of the same name those of the most derived decorated one. */
function rolesOf(cls: HandlerClass): Role[] {
  const seen = new Set<string>()
  const levels: Role[][] = []
  for (const level of chain(cls)) {
    const roles = levelRoles(level).filter((role) => !seen.has(role.method))
    for (const role of roles) seen.add(role.method)
    levels.unshift(roles)
  }
  return levels.flat()
}

function levelRoles(cls: HandlerClass): Role[] {
  const notes = notesOf(cls).filter((note) => note.misplaced === undefined)
  return Object.getOwnPropertyNames(cls.prototype).flatMap((method) => {
    const value: unknown = Object.getOwnPropertyDescriptor(cls.prototype, method)?.value
    if (typeof value !== 'function') return []
    const own = registrationsOf(value)
    const noted = notes.filter((note) => note.name === method).map((note) => note.registration)
    return (own.length > 0 ? own : noted).map((registration) => ({ method, registration }))
  })
}

function isKindRef(value: unknown): value is KindRef {
  return (
    typeof value === 'object' &&
    value !== null &&
    'apiVersion' in value &&
    typeof value.apiVersion === 'string' &&
    'kind' in value &&
    typeof value.kind === 'string'
  )
}

function kindProblems({ decorator, kind }: Registration): string[] {
  if (isKindRef(kind)) return []
  if (kind === undefined || kind === null) {
    return [
      `@${decorator}(${String(kind)}): the kind is not there when the class is made; most often two files import each other: move the kind to a file of its own`,
    ]
  }
  return [`@${decorator}: expected a kind, made by resource(), kind() or from tsop/kinds, not ${show(kind)}`]
}

/** JavaScript, and TypeScript run unchecked, forget a `return` without a sound. One that only throws is not finished yet. */
function cannotReturn(method: unknown): boolean {
  const source = Function.prototype.toString.call(method)
  return !/\b(return|throw)\b|\[native code\]/.test(source)
}

/** A method has one role; only `@owns` may be stacked on the reconcile method, and `@watches` on itself. */
function mixedRoles(roles: readonly Role[]): { method: string; text: string }[] {
  return [...Map.groupBy(roles, (role) => role.method)].flatMap(([method, all]) => {
    const names = new Set(all.map((role) => role.registration.decorator))
    const stacked = names.size === 2 && names.has('onReconcile') && names.has('owns')
    if (names.size > 1 && !stacked) {
      const list = [...names].map((name) => `@${name}`).join(' and ')
      return [{ method: `${method}()`, text: `${list} on one method: make a method of each` }]
    }
    if (names.size === 1 && names.has('owns') && all.length > 1) {
      return [{ method: `${method}()`, text: `${all.length} times @owns on one method: a builder makes one kind; make a method of each` }]
    }
    return []
  })
}

/** Two builders of one kind would give their children the same name. */
function ownedTwice(owned: readonly Role[], reconcile: string | undefined): { method: string; text: string }[] {
  const first = new Map<string, Role>()
  return owned.flatMap((role) => {
    const { kind } = role.registration
    if (!isKindRef(kind)) return []
    const stacked = role.method === reconcile
    if (stacked && option(role, 'suffix') !== undefined) {
      return [
        {
          method: `${role.method}()`,
          text: `@owns(${kindName(kind)}): suffix is for a builder; here the method itself names what it applies`,
        },
      ]
    }
    const key = stacked ? `${kindKey(kind)} stacked` : `${kindKey(kind)} ${option(role, 'suffix') ?? ''}`
    const other = first.get(key)
    if (other === undefined) {
      first.set(key, role)
      return []
    }
    const text = stacked
      ? `@owns(${kindName(kind)}) twice: keep one`
      : `@owns(${kindName(kind)}) is built by ${other.method}() already: give one of the two a suffix, such as @owns(${kind.kind}, { suffix: 'replica' })`
    return [{ method: `${role.method}()`, text }]
  })
}

function admissionMethod<O extends AdmissionOptions>({ method, registration }: Role): AdmissionMethod<O> {
  return { method, options: (registration.options ?? {}) as O }
}

/** The API server is told what to ask about by group, version and plural. */
function admissionProblems({ decorator, kind }: Registration, primary: unknown): string[] {
  if (!isKindRef(kind)) return []
  if (isKindRef(primary) && kindKey(primary) !== kindKey(kind)) {
    const same = primary.kind === kind.kind && groupOf(primary.apiVersion) === groupOf(kind.apiVersion)
    const [mine, other] = same ? [primary.apiVersion, kind.apiVersion] : [kindName(primary), kindName(kind)]
    const fix = same ? 'it gets every object in the version that the class reconciles; name that one' : 'make another class'
    return [`@${decorator}(${other}) in the class of ${mine}: a class answers for the kind it reconciles; ${fix}`]
  }
  if (kind.plural === undefined || kind.scope === undefined) {
    const example = `kind('${kind.apiVersion}', '${kind.kind}', { plural: '…', scope: 'Namespaced' })`
    return [`@${decorator}(${kindName(kind)}): the API server is told by the plural, which this reference does not say: ${example}`]
  }
  return []
}

function ownedKind(role: Role, reconcile: string): OwnedKind {
  const suffix = option(role, 'suffix')
  return {
    kind: role.registration.kind as KindRef,
    method: role.method,
    builder: role.method !== reconcile,
    ...(suffix === undefined ? {} : { suffix }),
  }
}

function option(role: Role, name: string): string | undefined {
  const value = (role.registration.options as Record<string, unknown> | undefined)?.[name]
  return typeof value === 'string' ? value : undefined
}

function misplacedName({ name, misplaced }: Note): string | undefined {
  if (misplaced === 'class') return undefined
  return misplaced === 'field' || misplaced === 'accessor' || misplaced === 'getter' || misplaced === 'setter' ? name : `${name}()`
}

function listed(roles: readonly Role[]): string {
  return [...new Set(roles.map((role) => `${role.method}()`))].join(', ')
}
