import { expect } from 'chai'
import { compileJsonPath } from '../../../../lib/embedded/crd/json-path.ts'

const object = {
  metadata: { labels: { 'a.b/c': 'x' } },
  spec: { n: 1, l: ['a', 'b', 'c'], o: { 'x y': true }, none: null },
  status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Synced' }] },
}

const CASES: [string, unknown[] | undefined][] = [
  ['.spec.n', [1]],
  ['.spec.l[0]', ['a']],
  ['.spec.l[-1]', ['c']],
  ['.spec.l[1:]', ['b', 'c']],
  ['.spec.l[0:3:2]', ['a', 'c']],
  ['.spec.l[0,2]', ['a', 'c']],
  ['.spec.l[*]', ['a', 'b', 'c']],
  ['.spec.l[7]', undefined],
  ['.spec.n[0]', undefined],
  ['.spec.missing.deep', []],
  ['.spec.none', [null]],
  ['.spec.none.x', []],
  [".spec.o['x y']", undefined],
  ['.metadata.labels.a\\.b/c', ['x']],
  ["['metadata'].labels", [{ 'a.b/c': 'x' }]],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Synced')].status", []],
  ['.status.conditions[?(@.status)].type', ['Ready']],
  ['.status.conditions[?(@.type!="Ready")].type', ['Synced']],
  ['.spec[?(@.x==1)]', undefined],
  ['..type', ['Ready', 'Synced']],
  ['.__proto__', []],
  ['.constructor', []],
]

describe('JSONPath of columns and selectable fields', () => {
  for (const [path, expected] of CASES) {
    it(`finds what ${path} means`, () => expect(compileJsonPath(path)(object)).to.deep.equal(expected))
  }

  for (const path of ['.a[', '.a[x]', '.a[?(@.b', '#', '.a[?(@.b=!1)]']) {
    it(`refuses ${path}`, () => expect(() => compileJsonPath(path)).to.throw())
  }
})
