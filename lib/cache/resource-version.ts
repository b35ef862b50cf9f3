/**
 * The order of resourceVersions: decimal numbers of any length, kept as text, so first by length, then by text. Never as
 * JavaScript numbers, which lose precision (KEP-5504 makes them comparable for clients).
 *
 * @returns negative where `a` is older than `b`, 0 where they are equal, positive where it is newer
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

export function isNewer(a: string, b: string): boolean {
  return compareResourceVersions(a, b) > 0
}
