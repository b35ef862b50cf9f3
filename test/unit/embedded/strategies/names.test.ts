import { expect } from 'chai'
import {
  configMapKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  pathSegment,
  portName,
  qualifiedName,
  subdomainName,
} from '../../../../lib/embedded/names.ts'

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

describe('the syntax of names', () => {
  const table: [string, (value: string) => string[], string, string[]][] = [
    ['a subdomain', dnsSubdomain, 'a.b-c', []],
    ['a subdomain', dnsSubdomain, 'A_b', [SUBDOMAIN]],
    ['a subdomain', dnsSubdomain, '', [SUBDOMAIN]],
    ['a subdomain', dnsSubdomain, 'a'.repeat(254), ['must be no more than 253 characters']],
    ['a label', dnsLabel, 'a-1', []],
    ['a label', dnsLabel, 'a.b', ['must not contain dots']],
    ['a label', dnsLabel, 'a_b', [LABEL]],
    ['a label', dnsLabel, 'a'.repeat(64), ['must be no more than 63 characters']],
    ['a service name', dns1035Label, 'a1', []],
    [
      'a service name',
      dns1035Label,
      '1a',
      [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    ['a label key', qualifiedName, 'example.com/My_Name', []],
    ['a label key', qualifiedName, '', ['name part must be non-empty', NAME_PART]],
    ['a label key', qualifiedName, '/x', ['prefix part must be non-empty']],
    ['a label key', qualifiedName, `x.io/${'a'.repeat(64)}`, ['name part must be no more than 63 bytes']],
    ['a label key', qualifiedName, 'X/a', [`prefix part ${SUBDOMAIN}`]],
    [
      'a label key',
      qualifiedName,
      'a/b/c',
      [
        `a valid label key ${NAME_PART.slice('name part '.length)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
      ],
    ],
    ['a label value', labelValue, '', []],
    ['a label value', labelValue, 'a'.repeat(64), ['must be no more than 63 bytes']],
    ['a config key', configMapKey, '..x', ["must not start with '..'"]],
    ['a config key', configMapKey, '..', ["must not be '..'"]],
    ['a port name', portName, 'http', []],
    [
      'a port name',
      portName,
      '-1--',
      ['must contain at least one letter (a-z)', 'must not contain consecutive hyphens', 'must not begin or end with a hyphen'],
    ],
    ['a path segment', pathSegment, 'a:b', []],
    ['a path segment', pathSegment, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
    ['a path segment', pathSegment, '..', ["may not be '..'"]],
  ]
  for (const [what, check, value, errors] of table) {
    it(`says of ${what} ${JSON.stringify(value.slice(0, 20))} what Go says`, () => expect(check(value)).to.deep.equal(errors))
  }

  it('lets a generateName end with a dash, but a name not', () => {
    expect(subdomainName('db-', true)).to.deep.equal([])
    expect(subdomainName('db-', false)).to.deep.equal([SUBDOMAIN])
  })
})
