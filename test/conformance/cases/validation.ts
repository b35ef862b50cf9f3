/** Schemas, defaults and CEL rules of custom kinds in combination. */
import type { Case } from '../case.ts'
import { S } from '../objects.ts'
import { DEFINITIONS, version, type World } from '../world.ts'

async function kind(t: World, spec: object, more: object = {}) {
  await t.define({
    plural: 'things',
    kind: 'Thing',
    versions: [version('v1', { spec, status: S.any }, { subresources: { status: {} }, ...more })],
  })
  const things = `${t.group}/v1/things`
  const thing = (name: string, spec: unknown, metadata: object = {}) => ({
    apiVersion: `${t.group}/v1`,
    kind: 'Thing',
    metadata: { name, ...metadata },
    spec,
  })
  return { path: `${things}/a`, things, thing, make: (spec: unknown) => t.post(things, thing('a', spec)) }
}

export const cases: readonly Case[] = [
  {
    id: 'many-wrong-fields',
    title: 'All that is wrong with an object is told at once',
    async run(t) {
      const { make } = await kind(
        t,
        S.object(
          {
            text: { type: 'string', minLength: 3, maxLength: 5 },
            size: { type: 'integer', minimum: 1, maximum: 9, exclusiveMaximum: true },
            step: { type: 'number', multipleOf: 0.5 },
            choice: { type: 'string', enum: ['a', 'b'] },
            either: { 'x-kubernetes-int-or-string': true },
            list: S.list({ type: 'integer' }, { minItems: 1, maxItems: 2 }),
            map: { ...S.map({ type: 'string', pattern: '^x' }), minProperties: 1, maxProperties: 2 },
            ip: { type: 'string', format: 'ipv4' },
            one: { type: 'object', properties: { a: S.int, b: S.int }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
            not: { type: 'string', not: { enum: ['bad'] } },
          },
          { required: ['text', 'size'] },
        ),
      )
      await make({ text: 'ab', size: 9, step: 0.3, choice: 'c', either: 1.5, list: [], map: {}, ip: '1.2.3', one: {}, not: 'bad' })
      await make({ text: 'абвгде', size: 0, list: [1, 2, 3], map: { a: 'x', b: 'y', c: 'x' }, one: { a: 1, b: 2 } })
      await make({ text: 5, size: '5', choice: null, list: ['1'], map: { a: 1 }, either: true })
      await make({
        text: '🚀🚀🚀🚀🚀',
        size: 8,
        step: 1.5,
        either: '5%',
        list: [0],
        map: { k: 'x' },
        ip: '1.2.3.4',
        one: { b: 0 },
        not: 'good',
      })
      await make([])
      await make('text')
      await make(undefined)
    },
  },
  {
    id: 'defaults-nested',
    title: 'Defaults in lists, maps and objects that come from defaults themselves, on writes, patches and reads',
    async run(t) {
      const { make, path, things } = await kind(
        t,
        S.object({
          outer: S.object(
            {
              inner: S.object({ x: { type: 'integer', default: 1 } }, { default: {} }),
              plain: S.object({ y: { type: 'string', default: 'y' } }),
            },
            { default: { plain: {} } },
          ),
          items: S.list(S.object({ name: S.string, mode: { type: 'string', default: 'rw' } })),
          named: S.map(S.object({ on: { type: 'boolean', default: true } })),
          whole: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: { a: [1, null, 'x'] } },
          zero: { type: 'integer', default: 0 },
          empty: { type: 'string', default: '' },
        }),
      )
      await make({})
      await t.merge(path, { spec: { outer: null, items: [{ name: 'a' }, {}], named: { a: {}, b: { on: false } } } })
      await t.json(path, [
        { op: 'remove', path: '/spec/items/0/mode' },
        { op: 'remove', path: '/spec/zero' },
      ])
      await t.apply(`${path}?fieldManager=m`, { apiVersion: `${t.group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: { outer: {} } })
      await t.apply(`${path}?fieldManager=m&force=true`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: { zero: 5 },
      })
      await t.get(things)
    },
  },
  {
    id: 'embedded-resources',
    title: 'An embedded object: its metadata is checked, its unknown fields kept or dropped',
    async run(t) {
      const template = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
      const strict = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: S.object({ a: S.int }) } }
      const { make } = await kind(t, S.object({ template, strict }))
      const head = { apiVersion: 'v1', kind: 'Pod' }
      await make({
        template: { ...head, metadata: { name: 'ok', bogus: 1, labels: { a: 'b' } }, extra: { x: 1 } },
        strict: { ...head, spec: { a: 1, b: 2 }, extra: 1 },
      })
      await make({ template: { metadata: { name: 'x' } } })
      await make({ template: { ...head, metadata: { name: 'Bad_Name', labels: { 'a b': 'c' }, finalizers: ['x'] } } })
      await make({ template: { ...head, metadata: { labels: { a: 1 } } } })
      await make({ template: { apiVersion: 'a/b/c', kind: 'not a kind' } })
    },
  },
  {
    id: 'rules-of-every-place',
    title: 'CEL rules at the root, in fields, list items, map values and status, with messages of their own',
    async run(t) {
      const rule = (rule: string, more: object = {}) => ({ 'x-kubernetes-validations': [{ rule, ...more }] })
      const spec = S.object(
        {
          min: S.int,
          max: S.int,
          items: S.list(
            S.object({
              name: { type: 'string', maxLength: 20 },
              n: { type: 'integer', ...rule('self % 2 == 0', { message: 'must be even' }) },
            }),
            { maxItems: 5, ...rule('self.all(a, self.exists_one(b, b.name == a.name))', { message: 'names are unique' }) },
          ),
          labels: { ...S.map({ type: 'string', maxLength: 20, ...rule('self.startsWith("x")') }), maxProperties: 5 },
          fixed: { type: 'string', maxLength: 20, ...rule('self == oldSelf', { message: 'is for ever', reason: 'FieldValueForbidden' }) },
          grow: {
            type: 'integer',
            ...rule('self >= oldSelf', { messageExpression: "self < 2 ? 'far too small' : 'may not shrink'" }),
          },
        },
        rule('!has(self.min) || !has(self.max) || self.min <= self.max', {
          messageExpression: "'min %d is over max %d'.format([self.min, self.max])",
          fieldPath: '.min',
        }),
      )
      const { make, path } = await kind(t, spec)
      await make({
        min: 5,
        max: 1,
        items: [
          { name: 'a', n: 1 },
          { name: 'a', n: 2 },
        ],
        labels: { a: 'y', b: 'x' },
      })
      await make({ min: 1, max: 5, items: [{ name: 'a', n: 2 }], labels: { a: 'x' }, fixed: 'f', grow: 3 })
      await t.merge(path, { spec: { fixed: 'g', grow: 2 } })
      await t.merge(path, { spec: { fixed: null, grow: null } })
      await t.merge(path, { spec: { fixed: 'h', grow: 1 } })
      await t.merge(path, { spec: { grow: 'x', min: 9 } })
    },
  },
  {
    id: 'rules-that-fail',
    title: 'CEL rules that fail while they run, and rules that are refused with their definition',
    async run(t) {
      const rule = (rule: string, more: object = {}) => ({ 'x-kubernetes-validations': [{ rule, ...more }] })
      const { make } = await kind(
        t,
        S.object(
          { a: S.int, list: S.list(S.int, { maxItems: 10 }), text: { type: 'string', maxLength: 30 } },
          { 'x-kubernetes-validations': [{ rule: '10 / self.a > 1' }, { rule: 'self.list[2] > 0' }, { rule: 'int(self.text) > 0' }] },
        ),
      )
      await make({ a: 0, list: [1], text: 'x' })
      await make({ list: [1, 2, 3], text: '5' })
      await make({ a: 1, list: [1, 2, 3], text: '5' })
      const try_ = (properties: object) =>
        t.post(
          `${DEFINITIONS}?dryRun=All`,
          {
            metadata: { name: `others.${t.group}` },
            spec: {
              group: t.group,
              scope: 'Namespaced',
              names: { plural: 'others', kind: 'Other' },
              versions: [version('v1', { spec: S.object(properties) })],
            },
          },
          { pick: ({ details, message }) => ({ details, message: details === undefined ? message : '' }) },
        )
      await try_({ a: { type: 'integer', ...rule('self.b') } })
      await try_({ a: { type: 'string', ...rule('self > 1') } })
      await try_({ a: { type: 'string', ...rule('self.size()') } })
      await try_({ a: { type: 'string', ...rule('true', { reason: 'Because', fieldPath: '.x' }) } })
      await try_({ a: { type: 'string', ...rule('true', { message: 'two\nlines', messageExpression: '1' }) } })
      await try_({ a: { type: 'string', ...rule('') } })
      await try_({ a: S.list(S.list(S.string), rule('self.all(x, x.all(y, self.exists(z, y in z)))')) })
    },
  },
  {
    id: 'rules-with-libraries',
    title: 'CEL rules with the functions of Kubernetes: quantities, durations, regular expressions, IPs, sets',
    async run(t) {
      const long = { type: 'string', maxLength: 60 }
      const spec = S.object(
        {
          cpu: long,
          limit: long,
          every: { type: 'string', format: 'duration' },
          ip: long,
          url: long,
          when: { type: 'string', format: 'date-time' },
          tags: S.list(long, { maxItems: 10 }),
          any: { 'x-kubernetes-int-or-string': true },
        },
        {
          'x-kubernetes-validations': [
            {
              rule: '!has(self.cpu) || isQuantity(self.cpu) && quantity(self.cpu).isLessThan(quantity(self.limit))',
              message: 'cpu under limit',
            },
            { rule: '!has(self.every) || self.every >= duration("1m")', message: 'once a minute at most' },
            { rule: '!has(self.ip) || isIP(self.ip) && ip(self.ip).family() == 4', message: 'ipv4' },
            { rule: '!has(self.url) || isURL(self.url) && url(self.url).getScheme() == "https"', message: 'https' },
            { rule: '!has(self.when) || self.when.getFullYear() > 2000', message: 'this millennium' },
            {
              rule: '!has(self.tags) || self.tags.isSorted() && self.tags.all(t, t.matches("^[a-z]+$")) && sets.contains(["a","b","c"], self.tags)',
              message: 'sorted tags',
            },
            { rule: '!has(self.any) || (type(self.any) == int ? self.any < 10 : self.any.endsWith("%"))', message: 'number or percentage' },
          ],
        },
      )
      const { make, things, thing } = await kind(t, spec)
      await make({
        cpu: '2',
        limit: '1500m',
        every: '30s',
        ip: '::1',
        url: 'http://x',
        when: '1999-12-31T23:59:59Z',
        tags: ['b', 'a'],
        any: 10,
      })
      await make({ cpu: 'x', limit: '1', every: 'soon', any: '10' })
      await t.post(
        things,
        thing('b', {
          cpu: '500m',
          limit: '1',
          every: '1m30s',
          ip: '10.1.2.3',
          url: 'https://x/y',
          when: '2026-01-01T00:00:00Z',
          tags: ['a', 'c'],
          any: '10%',
        }),
      )
    },
  },
  {
    id: 'list-types-updated',
    title: 'Doubles in sets and keyed lists: refused when new, kept when they were there before',
    async run(t) {
      const { make, path } = await kind(
        t,
        S.object({
          set: S.list(S.string, { 'x-kubernetes-list-type': 'set' }),
          keyed: S.list(S.object({ a: S.string, b: { type: 'integer', default: 0 }, c: S.int }, { required: ['a'] }), {
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['a', 'b'],
          }),
        }),
      )
      await make({ set: ['x', 'y', 'x', 'x'], keyed: [{ a: 'k' }, { a: 'k', b: 0 }, { a: 'k', b: 1 }] })
      await make({ set: ['x'], keyed: [{ a: 'k' }, { a: 'k', b: 1 }, { a: 'l', c: 5 }] })
      await t.json(path, [{ op: 'add', path: '/spec/set/-', value: 'x' }])
      await t.json(path, [{ op: 'add', path: '/spec/keyed/0', value: { a: 'l' } }])
      await t.apply(`${path}?fieldManager=m`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: {
          keyed: [
            { a: 'l', c: 6 },
            { a: 'm', b: 2 },
          ],
        },
      })
      await t.apply(`${path}?fieldManager=m&force=true`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: { keyed: [{ a: 'l', c: 6 }, { b: 2 }] },
      })
      await t.apply(`${path}?fieldManager=m&force=true`, {
        apiVersion: `${t.group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: {
          keyed: [
            { a: 'l', c: 6 },
            { a: 'm', b: 2 },
          ],
        },
      })
    },
  },
]
