import { expect } from 'chai'
import fc from 'fast-check'
import { matchesLabelSelector, parseFieldSelector, parseLabelSelector } from '../../../../lib/embedded/selectors.ts'
import type { ApiError } from '../../../../lib/embedded/status.ts'
import type { ApiObject } from '../../../../lib/embedded/types.ts'
import { configMaps, widgets } from '../watch/world.ts'

const refused = (f: () => unknown): string => {
  try {
    f()
    return 'accepted'
  } catch (error) {
    expect(error).to.include({ code: 400, reason: 'BadRequest' })
    return (error as ApiError).message
  }
}

describe('label selectors', () => {
  const objects: Record<string, Record<string, string> | undefined> = {
    one: { x: '1', y: 'q' },
    two: { x: '2' },
    big: { x: '10' },
    empty: { z: '' },
    none: undefined,
    odd: { in: 'notin', constructor: 'c' },
  }
  const cases: Record<string, string[]> = {
    '': ['one', 'two', 'big', 'empty', 'none', 'odd'],
    'x=1': ['one'],
    ' x == 1 ': ['one'],
    'x!=1': ['two', 'big', 'empty', 'none', 'odd'],
    'x in (1, 2)': ['one', 'two'],
    'x in (1,2),y': ['one'],
    'x notin (1,2)': ['big', 'empty', 'none', 'odd'],
    x: ['one', 'two', 'big'],
    '!x': ['empty', 'none', 'odd'],
    '! x': ['empty', 'none', 'odd'],
    '!x,!z': ['none', 'odd'],
    'z=': ['empty'],
    'z in ()': ['empty'],
    'z in (,)': ['empty'],
    'x in (1,,2)': ['one', 'two'],
    'x>1': ['two', 'big'],
    'x<10': ['one', 'two'],
    'x>0': ['one', 'two', 'big'],
    'x<00': [],
    'in=notin': ['odd'],
    'in in (notin, in)': ['odd'],
    constructor: ['odd'],
    toString: [],
    'example.com/x': [],
    'x=1,x=2': [],
  }
  for (const [text, expected] of Object.entries(cases)) {
    it(`${JSON.stringify(text)} selects ${expected.join(', ') || 'nothing'}`, () => {
      const matches = parseLabelSelector(text)
      expect(Object.keys(objects).filter((name) => matches(objects[name]))).to.deep.equal(expected)
    })
  }

  const KEY =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
  const VALUE =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
  // Asked of kube-apiserver 1.36.3.
  const errors: Record<string, string> = {
    '!': "unable to parse requirement: found '', expected: identifier",
    'a!': "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt",
    'x=b,': "found '', expected: identifier after ','",
    ',x': "found ',', expected: !, identifier, or 'end of string'",
    'x in': "unable to parse requirement: found '' expected: '('",
    'x in a': "unable to parse requirement: found 'a' expected: '('",
    'x in (a,b': "unable to parse requirement: found '', expected: ',' or ')'",
    'x in (a b)': "unable to parse requirement: found 'b', expected: ',' or ')'",
    'x in (a))': "found ')', expected: ',' or 'end of string'",
    'x===a': "unable to parse requirement: found '=', expected: identifier",
    'x>=1': "unable to parse requirement: found '=', expected: identifier",
    'n>a': "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
    'x=a=b': "found '=', expected: ',' or 'end of string'",
    '!x=1': "found '=', expected: ',' or 'end of string'",
    'x foo': "unable to parse requirement: found 'foo', expected: in, notin, =, ==, !=, gt, lt",
    ')': "found ')', expected: !, identifier, or 'end of string'",
    '/x': 'unable to parse requirement: <nil>: Invalid value: "/x": prefix part must be non-empty',
    'x&': `unable to parse requirement: <nil>: Invalid value: "x&": name part ${KEY}`,
    'x=-a': `unable to parse requirement: values[0][x]: Invalid value: "-a": ${VALUE}`,
    'x=€': `unable to parse requirement: values[0][x]: Invalid value: "€": ${VALUE}`,
  }
  for (const [text, message] of Object.entries(errors)) {
    it(`${JSON.stringify(text)} is refused`, () => {
      expect(refused(() => parseLabelSelector(text))).to.equal(message)
    })
  }

  it('whatever is written, either parses or is refused with 400', () => {
    const piece = fc.oneof(
      fc.constantFrom('x', 'in', 'notin', '(', ')', ',', '!', '=', '==', '!=', '<', '>', ' ', '1', 'a/b', '\0'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        refused(() => parseLabelSelector(pieces.join(''))({ x: '1' }))
      }),
      { numRuns: 1000 },
    )
  })

  it('what is built from requirements selects as the requirements say', () => {
    const key = fc.constantFrom('a', 'b', 'x.io/c')
    const value = fc.constantFrom('', '1', '22', 'v-w')
    const requirement = fc.record({
      key,
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
      values: fc.uniqueArray(value, { minLength: 1 }),
    })
    const labels = fc.option(fc.dictionary(key, value), { nil: undefined })
    fc.assert(
      fc.property(fc.array(requirement), labels, (matchExpressions, given) => {
        const text = matchExpressions.map(({ key, operator, values }) =>
          operator === 'Exists' ? key : operator === 'DoesNotExist' ? `!${key}` : `${key} ${operator.toLowerCase()} (${values.join(',')})`,
        )
        const expected = matchExpressions.every(({ key, operator, values }) => {
          const label = given?.[key]
          if (operator === 'Exists') return label !== undefined
          if (operator === 'DoesNotExist') return label === undefined
          return (label !== undefined && values.includes(label)) === (operator === 'In')
        })
        expect(parseLabelSelector(text.join(','))(given)).to.equal(expected)
        expect(matchesLabelSelector({ matchExpressions }, given)).to.equal(expected)
      }),
    )
  })

  it('of objects: none matches nothing, an empty one everything, an unknown operator nothing', () => {
    expect(matchesLabelSelector(undefined, { a: '1' })).to.equal(false)
    expect(matchesLabelSelector({}, undefined)).to.equal(true)
    expect(matchesLabelSelector({ matchLabels: { a: '1' } }, { a: '1', b: '2' })).to.equal(true)
    expect(matchesLabelSelector({ matchLabels: { a: '1', b: '1' } }, { a: '1', b: '2' })).to.equal(false)
    expect(matchesLabelSelector({ matchExpressions: [{ key: 'a', operator: 'constructor' }] }, { a: '1' })).to.equal(false)
  })
})

describe('field selectors', () => {
  const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a,b=c\\', namespace: 'n' } }
  const cases: Record<string, boolean> = {
    '': true,
    'metadata.name=a\\,b\\=c\\\\': true,
    'metadata.name==a\\,b\\=c\\\\,metadata.namespace=n': true,
    'metadata.name!=a': true,
    'metadata.namespace!=n': false,
    'metadata.name=': false,
    ',': true,
    'metadata.namespace=n,metadata.namespace=m': false,
  }
  for (const [text, expected] of Object.entries(cases)) {
    it(`${JSON.stringify(text)} ${expected ? 'matches' : 'does not match'}`, () => {
      expect(parseFieldSelector(text, configMaps)(object)).to.equal(expected)
    })
  }

  // Asked of kube-apiserver 1.36.3.
  const errors: Record<string, string> = {
    'metadata.name': "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    'metadata.name=a\\b': 'invalid field selector: invalid escape sequence: \\b',
    'metadata.name=a\\': 'invalid field selector: invalid escape sequence: \\',
    'metadata.name=a=b': 'invalid field selector: unescaped character in value: 61',
    '=a': '"" is not a known field selector: only "metadata.name", "metadata.namespace"',
    'spec.foo=1': '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
  }
  for (const [text, message] of Object.entries(errors)) {
    it(`${JSON.stringify(text)} is refused`, () => {
      expect(refused(() => parseFieldSelector(text, configMaps))).to.equal(message)
    })
  }

  it('of a custom kind are those of its definition', () => {
    expect(parseFieldSelector('spec.color=red', widgets)({ ...object, spec: { color: 'red' } })).to.equal(true)
    expect(refused(() => parseFieldSelector('spec.x=1', widgets))).to.equal('field label not supported: spec.x')
    expect(
      refused(() => parseFieldSelector('metadata.namespace=n', widgets)),
      'cluster-scoped',
    ).to.equal('field label not supported: metadata.namespace')
    expect(refused(() => parseFieldSelector('constructor=1', widgets))).to.equal('field label not supported: constructor')
  })

  it('whatever is written, either parses or is refused with 400', () => {
    const piece = fc.oneof(fc.constantFrom('metadata.name', '=', '==', '!=', '!', ',', '\\', 'a'), fc.string())
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        refused(() => parseFieldSelector(pieces.join(''), configMaps)(object))
      }),
      { numRuns: 1000 },
    )
  })
})
