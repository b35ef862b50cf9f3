/** In which order a merged list comes out: the patch's for what the patch names, the server's for the rest. */
import { isObject, type Json } from '../json.ts'
import { plainError } from '../status.ts'
import { goFormat } from './go-format.ts'

/** The elements that `order` names, and the others. `mergeKey` is `''` for lists of primitives. */
export function partition(list: Json[], order: Json[], mergeKey: string): { listed: Json[]; others: Json[] } {
  const listed: Json[] = []
  const others: Json[] = []
  for (const item of list) {
    if (mergeKey !== '') checkKey(item, mergeKey)
    const isListed = order.some((other) => sameElement(identity(item, mergeKey), identity(other, mergeKey)))
    ;(isListed ? listed : others).push(item)
  }
  return { listed, others }
}

/** Both parts in one list: each in its own order, woven together by the places that their elements had on the server. */
export function orderElements(
  listed: Json[],
  others: Json[],
  patchOrder: Json[],
  serverOrder: Json[],
  mergeKey: string,
  maps: boolean,
): Json[] {
  const right = sortBy(listed, patchOrder, mergeKey, maps)
  const left = sortBy(others, serverOrder, mergeKey, maps)
  const result: Json[] = []
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    if (i >= left.length) result.push(right[j++] as Json)
    else if (j >= right.length) result.push(left[i++] as Json)
    else {
      const a = place(serverOrder, left[i] as Json, mergeKey)
      const b = place(serverOrder, right[j] as Json, mergeKey)
      result.push((a >= 0 && b >= 0 && a < b ? left[i++] : right[j++]) as Json)
    }
  }
  return result
}

/** Equal as Go's `==` on decoded JSON has it. */
export function sameElement(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (typeof a === 'bigint' && typeof b === 'number' && a === BigInt(b))
}

function sortBy(list: Json[], order: Json[], mergeKey: string, maps: boolean): Json[] {
  if (maps) for (const item of [...list, ...order]) checkKey(item, mergeKey)
  const known = list.map((item) => ({ item, at: place(order, item, mergeKey) }))
  return known.some(({ at }) => at < 0) ? list : known.sort((a, b) => a.at - b.at).map(({ item }) => item)
}

function place(order: Json[], item: Json, mergeKey: string): number {
  const own = identity(item, mergeKey)
  return order.findIndex((other) => sameElement(identity(other, mergeKey), own))
}

function identity(item: Json | undefined, mergeKey: string): Json | undefined {
  if (mergeKey === '' || !isObject(item)) return item
  return Object.hasOwn(item, mergeKey) ? item[mergeKey] : undefined
}

function checkKey(item: Json, mergeKey: string): void {
  if (isObject(item) && Object.hasOwn(item, mergeKey)) return
  throw plainError(`map: ${goFormat(item)} does not contain declared merge key: ${mergeKey}`)
}
