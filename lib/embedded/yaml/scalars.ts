/** What a plain scalar of YAML means to Kubernetes: YAML 1.1 as `sigs.k8s.io/yaml` reads it (`yes` and `on` are booleans). */

const TRUE = /^(y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/
const FALSE = /^(n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/
const NULL = /^(|~|null|Null|NULL)$/
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)$/
const INFINITE = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/

/** A string stays one; infinities and not-a-number have no JSON, and stay what they are as numbers. */
export function resolveScalar(text: string): string | number | bigint | boolean | null {
  if (NULL.test(text)) return null
  if (TRUE.test(text)) return true
  if (FALSE.test(text)) return false
  const plain = text.includes('_') && /^[-+.\d]/.test(text) ? text.replaceAll('_', '') : text
  const integer = INTEGER.exec(plain)
  if (integer !== null) return integerOf(integer[1] === '-', integer[2] ?? '')
  if (FLOAT.test(plain)) return Number(plain)
  if (INFINITE.test(plain)) return plain.toLowerCase().endsWith('nan') ? Number.NaN : plain.startsWith('-') ? -Infinity : Infinity
  return text
}

function integerOf(negative: boolean, digits: string): number | bigint {
  // A leading zero alone means octal.
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits
  const value = negative ? -BigInt(octal) : BigInt(octal)
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  return BigInt.asIntN(64, value) === value ? value : number
}
