/**
 * The syntax of names: each function gives what is wrong, in the words of `k8s.io/apimachinery/pkg/util/validation`, or
 * nothing. Lengths count bytes, as there.
 */

const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const DNS_SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`
const DNS_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const LABEL_KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${LABEL_KEY})?`
const CONFIG_KEY = '[-._a-zA-Z0-9]+'
const C_IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*'
const HTTP_HEADER = '[-A-Za-z0-9]+'
const PERCENT = '[0-9]+%'
const WILDCARD = `\\*\\.${DNS_SUBDOMAIN}`
const DOMAIN_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

const whole = (pattern: string) => new RegExp(`^${pattern}$`)
const dnsLabelPattern = whole(DNS_LABEL)
const dnsSubdomainPattern = whole(DNS_SUBDOMAIN)
const dns1035Pattern = whole(DNS_1035)
const labelKeyPattern = whole(LABEL_KEY)
const labelValuePattern = whole(LABEL_VALUE)
const configKeyPattern = whole(CONFIG_KEY)
const identifierPattern = whole(C_IDENTIFIER)
const headerPattern = whole(HTTP_HEADER)
const percentPattern = whole(PERCENT)
const wildcardPattern = whole(WILDCARD)
const domainPathPattern = whole(DOMAIN_PATH)

const OK = Object.freeze([]) as unknown as string[]
const EMPTY = 'must be non-empty'

/** Bytes of UTF-8: what Go's `len` counts. */
export const byteLength = (text: string) => Buffer.byteLength(text)
/** Newer checks of the server speak of bytes, older ones of characters; both count bytes. */
const tooLongBytes = (limit: number) => `must be no more than ${limit} bytes`
export const tooLongCharacters = (limit: number) => `must be no more than ${limit} characters`
export const between = (low: number, high: number) => `must be between ${low} and ${high}, inclusive`

/** `says (e.g. 'a',  or 'b', regex used for validation is '…')`, with Go's comma before each `or`. */
export function patternText(says: string, pattern: string, ...examples: string[]): string {
  const eg = examples.map((example) => `'${example}', `).join(' or ')
  return `${says} (${examples.length === 0 ? '' : `e.g. ${eg}`}regex used for validation is '${pattern}')`
}

const SUBDOMAIN_SAYS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"

export function dnsSubdomain(value: string): string[] {
  if (value.length <= 253 && dnsSubdomainPattern.test(value)) return OK
  const errors: string[] = []
  if (byteLength(value) > 253) errors.push(tooLongCharacters(253))
  if (!dnsSubdomainPattern.test(value)) errors.push(patternText(SUBDOMAIN_SAYS, DNS_SUBDOMAIN, 'example.com'))
  return errors
}

export function dnsLabel(value: string): string[] {
  if (value.length <= 63 && dnsLabelPattern.test(value)) return OK
  const errors: string[] = []
  if (byteLength(value) > 63) errors.push(tooLongCharacters(63))
  if (!dnsLabelPattern.test(value)) {
    errors.push(
      dnsSubdomainPattern.test(value)
        ? 'must not contain dots'
        : patternText(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            DNS_LABEL,
            'my-name',
            '123-abc',
          ),
    )
  }
  return errors
}

export function dns1035Label(value: string): string[] {
  if (value.length <= 63 && dns1035Pattern.test(value)) return OK
  const errors: string[] = []
  if (byteLength(value) > 63) errors.push(tooLongCharacters(63))
  if (!dns1035Pattern.test(value)) {
    errors.push(
      patternText(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        DNS_1035,
        'my-name',
        'abc-123',
      ),
    )
  }
  return errors
}

/** `*.example.com` */
export function wildcardSubdomain(value: string): string[] {
  const errors: string[] = []
  if (byteLength(value) > 253) errors.push(tooLongCharacters(253))
  if (!wildcardPattern.test(value)) {
    errors.push(
      patternText(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        WILDCARD,
        '*.example.com',
      ),
    )
  }
  return errors
}

const LABEL_SAYS = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

/** Label and annotation keys, finalizers, resource names: `name` or `example.com/name`. */
export function qualifiedName(value: string): string[] {
  if (value.length <= 63 && labelKeyPattern.test(value)) return OK
  const parts = value.split('/')
  const pattern = patternText(LABEL_SAYS, LABEL_KEY, 'MyName', 'my.name', '123-abc')
  if (parts.length > 2) {
    return [`a valid label key ${pattern} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const errors: string[] = []
  const name = parts[parts.length - 1] ?? ''
  if (parts.length === 2) errors.push(...prefixErrors(parts[0] ?? ''))
  if (name === '') errors.push(`name part ${EMPTY}`)
  else if (byteLength(name) > 63) errors.push(`name part ${tooLongBytes(63)}`)
  if (!labelKeyPattern.test(name)) errors.push(`name part ${pattern}`)
  return errors
}

function prefixErrors(prefix: string): string[] {
  if (prefix === '') return [`prefix part ${EMPTY}`]
  const errors: string[] = []
  if (byteLength(prefix) > 253) errors.push(`prefix part ${tooLongBytes(253)}`)
  if (!dnsSubdomainPattern.test(prefix)) errors.push(`prefix part ${patternText(SUBDOMAIN_SAYS, DNS_SUBDOMAIN, 'example.com')}`)
  return errors
}

export function labelValue(value: string): string[] {
  if (value.length <= 63 && labelValuePattern.test(value)) return OK
  const errors: string[] = []
  if (byteLength(value) > 63) errors.push(tooLongBytes(63))
  if (!labelValuePattern.test(value)) {
    errors.push(
      patternText(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        LABEL_VALUE,
        'MyValue',
        'my_value',
        '12345',
      ),
    )
  }
  return errors
}

/** Keys of ConfigMaps and Secrets. */
export function configMapKey(value: string): string[] {
  const errors: string[] = []
  if (byteLength(value) > 253) errors.push(tooLongCharacters(253))
  if (!configKeyPattern.test(value)) {
    errors.push(
      patternText(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        CONFIG_KEY,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    )
  }
  if (value === '.') errors.push("must not be '.'")
  else if (value === '..') errors.push("must not be '..'")
  else if (value.startsWith('..')) errors.push("must not start with '..'")
  return errors
}

export function environmentVariable(value: string): string[] {
  const errors: string[] = []
  if (value === '') errors.push(`environment variable name ${EMPTY}`)
  if (!/^[\x20-\x3c\x3e-\x7e]*$/.test(value)) {
    errors.push("a valid environment variable name must consist only of printable ASCII characters other than '='")
  }
  return errors
}

export function cIdentifier(value: string): string[] {
  if (identifierPattern.test(value)) return OK
  return [
    patternText(
      "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
      C_IDENTIFIER,
      'my_name',
      'MY_NAME',
      'MyName',
    ),
  ]
}

export function httpHeaderName(value: string): string[] {
  if (headerPattern.test(value)) return OK
  return [patternText("a valid HTTP header must consist of alphanumeric characters or '-'", HTTP_HEADER, 'X-Header-Name')]
}

export function percent(value: string): string[] {
  if (percentPattern.test(value)) return OK
  return [patternText("a valid percent string must be a numeric string followed by an ending '%'", PERCENT, '1%', '93%')]
}

export function portNumber(value: number | bigint): string[] {
  return value >= 1 && value <= 65535 ? OK : [between(1, 65535)]
}

export function portName(value: string): string[] {
  const errors: string[] = []
  if (byteLength(value) > 15) errors.push(tooLongCharacters(15))
  if (!/^[-a-z0-9]+$/.test(value)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)')
  if (value.includes('--')) errors.push('must not contain consecutive hyphens')
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

/** Names that only have to fit into a URL: RBAC and PriorityClass-like kinds. `prefix`: something will be appended. */
export function pathSegment(value: string, prefix = false): string[] {
  if (!prefix && (value === '.' || value === '..')) return [`may not be '${value}'`]
  return ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`)
}

/** What a path after a domain may be made of (`acme.io/foo`). */
export function domainPath(value: string): string[] {
  return domainPathPattern.test(value) ? OK : [patternText('Invalid path', DOMAIN_PATH)]
}

/** How a kind names its objects. `prefix`: it is a generateName, so a dash may end it. */
export type NameRule = (name: string, prefix: boolean) => string[]

const maskTrailingDash = (name: string) => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)
const rule =
  (check: (value: string) => string[]): NameRule =>
  (name, prefix) =>
    check(prefix ? maskTrailingDash(name) : name)

export const subdomainName: NameRule = rule(dnsSubdomain)
export const labelName: NameRule = rule(dnsLabel)
export const dns1035Name: NameRule = rule(dns1035Label)
export const pathSegmentName: NameRule = pathSegment
