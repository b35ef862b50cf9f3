/**
 * The heart of server-side apply: how sets of owned fields follow from two states of an object, and an object from a
 * configuration and what was owned before. Nothing here knows of managers' names or of time.
 */
import { equalJson, type Json } from '../json.ts'
import type { ApiObject, SchemaSource } from '../types.ts'
import { type Comparison, compare } from './compare.ts'
import { difference, EMPTY, type FieldSet, intersection, recursiveDifference, union } from './field-set.ts'
import { type FieldType, objectType } from './field-type.ts'
import type { ManagerId, Owner } from './managed-fields.ts'
import { merge } from './merge.ts'
import { ownedFields } from './owned.ts'
import { reconcile } from './reconcile.ts'
import { removeFields, withDeclaredParents } from './remove.ts'
import { TypedError } from './typed.ts'
import { requireType } from './validate-type.ts'

export type Owners = Map<ManagerId, Owner>

/**
 * The object in another apiVersion with that version's schema. `undefined`: the version is not served any more, and who owned
 * fields in it owns nothing. `unchecked`: only the apiVersion was changed, and what the other version does not have is an error.
 */
export type ConvertForApply = (
  object: ApiObject,
  apiVersion: string,
) => { object: ApiObject; schemas: SchemaSource; unchecked?: boolean } | undefined

export interface Typed {
  readonly value: ApiObject
  readonly type: FieldType
}

/** Fields that somebody else owns, by owner. */
export type Conflicts = Map<ManagerId, FieldSet>

export class Updater {
  readonly #convert: ConvertForApply | undefined
  /** Fields that this request cannot set. */
  readonly #reset: FieldSet

  constructor(convert: ConvertForApply | undefined, reset: FieldSet) {
    this.#convert = convert
    this.#reset = reset
  }

  /** What is changed or added belongs to `self` alone. Gives the new owners, and `self`'s part as one of them. */
  update(live: Typed, next: Typed, version: string, before: Owners, self: ManagerId): Owners {
    const owners = this.#reconciled(live, before)
    const changes = this.#changes(live, next)
    this.#follow(live, next, version, owners, self, changes)
    const own = this.#settable(union(difference(owners.get(self)?.set ?? EMPTY, changes.removed), union(changes.modified, changes.added)))
    if (own.size === 0) owners.delete(self)
    else owners.set(self, { set: own, apiVersion: version, applied: false })
    return owners
  }

  /**
   * Lays the configuration over the object, takes away what `self` had applied before and no longer does, and finds out whose
   * fields changed. `object` is undefined where nothing changed. @throws ConflictsFound
   */
  apply(
    live: Typed,
    config: Typed,
    version: string,
    before: Owners,
    self: ManagerId,
    force: boolean,
  ): { object?: ApiObject; owners: Owners } {
    const owners = this.#reconciled(live, before)
    const merged: Typed = { value: merge(live.value as Json, config.value as Json, live.type) as ApiObject, type: live.type }
    const last = owners.get(self)
    owners.set(self, { set: this.#settable(ownedFields(config.value as Json, config.type)), apiVersion: version, applied: true })
    const next = this.#pruned(merged, version, owners, last)
    const conflicts = this.#follow(live, next, version, owners, self, this.#changes(live, next), !force)
    if (conflicts.size > 0) throw new ConflictsFound(conflicts)
    return equalJson(live.value, next.value) ? { owners } : { object: next.value, owners }
  }

  #settable(set: FieldSet): FieldSet {
    return recursiveDifference(set, this.#reset)
  }

  #changes(live: Typed, next: Typed): Comparison {
    const found = compare(live.value as Json, next.value as Json, next.type)
    if (this.#reset.size === 0) return found
    return { removed: this.#settable(found.removed), modified: this.#settable(found.modified), added: this.#settable(found.added) }
  }

  /**
   * Takes from all but `self` what changed or is gone. With `dry`, where that would be a conflict, only tells so: removing
   * is none.
   */
  #follow(live: Typed, next: Typed, version: string, owners: Owners, self: ManagerId, changes: Comparison, dry = false): Conflicts {
    const byVersion = new Map<string, { touched: FieldSet; removed: FieldSet }>()
    byVersion.set(version, { touched: union(changes.modified, changes.added), removed: changes.removed })
    const conflicts: Conflicts = new Map()
    for (const [id, owner] of owners) {
      if (id === self) continue
      let changed = byVersion.get(owner.apiVersion)
      if (changed === undefined) {
        const old = this.#at(live, owner.apiVersion, 'failed to convert old object: ')
        const now = this.#at(next, owner.apiVersion, 'failed to convert new object: ')
        if (old === undefined || now === undefined) {
          owners.delete(id)
          continue
        }
        const found = this.#changes(old, now)
        changed = { touched: union(found.modified, found.added), removed: found.removed }
        byVersion.set(owner.apiVersion, changed)
      }
      if (changed.touched.size > 0) {
        const conflict = intersection(owner.set, changed.touched)
        if (conflict.size > 0) conflicts.set(id, conflict)
      }
      const { touched, removed } = changed
      const set = difference(touched.size > 0 ? difference(owner.set, touched) : owner.set, removed)
      if (set.size === 0) owners.delete(id)
      else if (set !== owner.set) owners.set(id, { ...owner, set })
    }
    if (owners.get(self)?.set.size === 0) owners.delete(self)
    return dry ? conflicts : new Map()
  }

  #reconciled(live: Typed, before: Owners): Owners {
    const owners: Owners = new Map()
    for (const [id, owner] of before) {
      const typed = this.#at(live, owner.apiVersion, '')
      if (typed === undefined) continue
      const set = reconcile(owner.set, typed.type)
      owners.set(id, set === owner.set ? owner : { ...owner, set })
    }
    return owners
  }

  /** Without what `last` named and nobody names now. */
  #pruned(merged: Typed, version: string, owners: Owners, last: Owner | undefined): Typed {
    if (last === undefined || last.set.size === 0) return merged
    const old = this.#at(merged, last.apiVersion, `${PRUNING}failed to convert merged object to last applied version: `)
    if (old === undefined) return merged
    const { type } = old
    const without = removeFields(old.value as Json, withDeclaredParents(last.set, type), type) as ApiObject
    const owned = this.#withOwned(old, { value: without, type }, last.apiVersion, owners)
    const kept = this.#withDangling(old, owned, last)
    return this.#at(kept, version, PRUNING) ?? kept
  }

  /** Gives back what is still owned, in each version that owners speak. */
  #withOwned(merged: Typed, pruned: Typed, prunedVersion: string, owners: Owners): Typed {
    const byVersion = new Map<string, FieldSet>([[prunedVersion, EMPTY]])
    for (const owner of owners.values()) byVersion.set(owner.apiVersion, union(byVersion.get(owner.apiVersion) ?? EMPTY, owner.set))
    let [whole, result] = [merged, pruned]
    for (const [version, owned] of byVersion) {
      if (owned.size === 0) continue
      const doing = `${PRUNING}failed add back owned items: failed to convert`
      const all = this.#at(whole, version, `${doing} merged object at version ${version}: `)
      const some = this.#at(result, version, `${doing} pruned object at version ${version}: `)
      if (all === undefined || some === undefined) continue
      const { type } = all
      const kept = union(withDeclaredParents(ownedFields(some.value as Json, type), type), withDeclaredParents(owned, type))
      const gone = difference(withDeclaredParents(ownedFields(all.value as Json, type), type), kept)
      whole = all
      result = { value: removeFields(all.value as Json, gone, type) as ApiObject, type }
    }
    return result
  }

  /** Only what `last` named goes: fields that lost their parents in the way, and nobody owned, stay. */
  #withDangling(merged: Typed, pruned: Typed, last: Owner): Typed {
    const doing = `${PRUNING}failed add back dangling items: failed to convert pruned object to last applied version: `
    const some = this.#at(pruned, last.apiVersion, doing)
    if (some === undefined) return merged
    const { type } = merged
    const before = withDeclaredParents(ownedFields(merged.value as Json, type), type)
    const after = withDeclaredParents(ownedFields(some.value as Json, type), type)
    const gone = intersection(difference(before, after), withDeclaredParents(last.set, type))
    return { value: removeFields(merged.value as Json, gone, type) as ApiObject, type }
  }

  /** @throws TypedError, its text after `doing` */
  #at(typed: Typed, apiVersion: string, doing: string): Typed | undefined {
    if (typed.value.apiVersion === apiVersion) return typed
    if (this.#convert === undefined) return { value: { ...typed.value, apiVersion }, type: typed.type }
    const converted = this.#convert(typed.value, apiVersion)
    if (converted === undefined) return undefined
    const type = objectType(converted.schemas)
    if (converted.unchecked === true) requireConverted(converted.object, type, doing)
    return { value: converted.object, type }
  }
}

const PRUNING = 'failed to prune fields: '

function requireConverted(object: ApiObject, type: FieldType, doing: string): void {
  try {
    requireType(object as Json, type, false)
  } catch (error) {
    throw new TypedError(doing + (error as TypedError).message)
  }
}

/** An apply would change what others own. */
export class ConflictsFound extends Error {
  override readonly name = 'ConflictsFound'
  readonly conflicts: Conflicts

  constructor(conflicts: Conflicts) {
    super('conflicts')
    this.conflicts = conflicts
  }
}
