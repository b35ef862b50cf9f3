import { expect } from 'chai'
import { list } from '../../../../lib/embedded/list.ts'
import type { ApiError } from '../../../../lib/embedded/status.ts'
import type { ResourceType } from '../../../../lib/embedded/types.ts'
import { configMaps, World, widgets } from '../watch/world.ts'

describe('a list', () => {
  let world: World
  beforeEach(() => {
    world = new World()
    for (const name of ['c', 'a', 'b', 'd']) world.put('n', name, { labels: { x: name === 'a' ? '1' : '2' } })
    world.put('m', 'z')
  })

  const ask = async (query = '', namespace: string | undefined = 'n', type = configMaps) => {
    const { items, metadata } = await list(world.core, type, namespace, new URLSearchParams(query))
    return { names: items.map((item) => item.metadata.name).join(''), ...metadata }
  }
  const refused = async (query: string, namespace?: string): Promise<string> => {
    const error = await ask(query, namespace).catch((reason: ApiError) => reason)
    return error instanceof Error ? `${error.code} ${error.reason} ${error.message}` : `accepted ${error.names}`
  }
  const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

  it('is ordered by keys and has the revision it was made at', async () => {
    expect(await ask()).to.deep.equal({ names: 'abcd', resourceVersion: '6' })
    expect(
      (await list(world.core, configMaps, undefined, new URLSearchParams())).items.map((item) => item.metadata.name).join(''),
    ).to.equal('zabcd')
    expect(await ask('', 'nowhere')).to.deep.equal({ names: '', resourceVersion: '6' })
  })

  it('comes in pages of the state at the first page, and tells how many remain', async () => {
    const first = await ask('limit=2')
    expect(first).to.deep.include({ names: 'ab', resourceVersion: '6', remainingItemCount: 2 })
    expect(JSON.parse(Buffer.from(first.continue!, 'base64url').toString())).to.deep.equal({ v: 'meta.k8s.io/v1', rv: 6, start: '/b\0' })
    world.delete('n', 'c')
    world.put('n', 'bb')
    expect(await ask(`limit=2&continue=${first.continue}`)).to.deep.equal({ names: 'cd', resourceVersion: '6' })
    expect(await ask()).to.deep.equal({ names: 'abbbd', resourceVersion: '8' })
  })

  it('has no token where the page holds all of it, and ignores a limit where any state will do', async () => {
    expect(await ask('limit=4')).to.deep.equal({ names: 'abcd', resourceVersion: '6' })
    expect(await ask('limit=0')).to.deep.include({ names: 'abcd' })
    expect(await ask('limit=-1')).to.deep.include({ names: 'abcd' })
    expect(await ask('limit=2&resourceVersion=0')).to.deep.equal({ names: 'abcd', resourceVersion: '6' })
  })

  it('does not count what remains where a selector decides', async () => {
    expect(await ask('limit=1&labelSelector=x')).to.have.keys('names', 'resourceVersion', 'continue')
    expect(await ask('limit=1&labelSelector=x%3D2&fieldSelector=metadata.name%3Dd')).to.deep.equal({ names: 'd', resourceVersion: '6' })
    expect(await ask('fieldSelector=metadata.name%3Db')).to.deep.equal({ names: 'b', resourceVersion: '6' })
    expect(await ask('fieldSelector=metadata.name%3Db,metadata.name%3Da')).to.deep.include({ names: '' })
    expect(await ask('fieldSelector=metadata.name!%3Db&labelSelector=x%3D2')).to.deep.include({ names: 'cd' })
  })

  it('of all namespaces continues across them', async () => {
    const all = async (query: string) => {
      const { items, metadata } = await list(world.core, configMaps, undefined, new URLSearchParams(query))
      return { names: items.map((item) => item.metadata.name).join(''), token: metadata.continue }
    }
    const first = await all('limit=2')
    expect(first.names).to.equal('za')
    expect(JSON.parse(Buffer.from(first.token!, 'base64url').toString()).start).to.equal('/n/a\0')
    expect(await all(`continue=${first.token}`)).to.deep.equal({ names: 'bcd', token: undefined })
  })

  describe('by resourceVersion', () => {
    const matrix: Record<string, string> = {
      'resourceVersion=': 'abcd 6',
      'resourceVersion=0': 'abcd 6',
      'resourceVersion=3': 'abcd 6',
      'resourceVersion=3&resourceVersionMatch=NotOlderThan': 'abcd 6',
      'resourceVersion=0&resourceVersionMatch=NotOlderThan': 'abcd 6',
      'resourceVersion=3&resourceVersionMatch=Exact': 'ac 3',
      'resourceVersion=4&limit=10': 'abc 4',
      'resourceVersion=4&limit=2&resourceVersionMatch=NotOlderThan': 'ab 6',
      'resourceVersion=1&resourceVersionMatch=Exact': ' 1',
    }
    for (const [query, expected] of Object.entries(matrix)) {
      it(`${query} shows ${expected}`, async () => {
        const { names, resourceVersion } = await ask(query)
        expect(`${names} ${resourceVersion}`).to.equal(expected)
      })
    }

    for (const query of ['', '&resourceVersionMatch=Exact', '&resourceVersionMatch=NotOlderThan', '&limit=1']) {
      it(`resourceVersion=99${query} is still to come`, async () => {
        const error = await ask(`resourceVersion=99${query}`).catch((reason: ApiError) => reason)
        expect((error as ApiError).toStatus()).to.deep.include({
          code: 504,
          reason: 'Timeout',
          message: 'Timeout: Too large resource version: 99, current: 6',
          details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
        })
      })
    }
  })

  it('of a forgotten revision is 410, but "not older" than it is not', async () => {
    world.core.store.compact()
    const expired = '410 Expired The resourceVersion for the provided list is too old.'
    expect(await refused('resourceVersion=3&resourceVersionMatch=Exact')).to.equal(expired)
    expect(await refused('resourceVersion=3&limit=1')).to.equal(expired)
    expect(await refused('resourceVersion=3')).to.equal('accepted abcd')
  })

  it('whose pages are forgotten offers a token for the rest as it is now', async () => {
    const { continue: first } = await ask('limit=2')
    world.put('n', 'bb')
    world.core.store.compact()
    const error = (await ask(`continue=${first}`).catch((reason: ApiError) => reason)) as ApiError
    expect(error.message).to.match(
      /^The provided continue parameter is too old to display a consistent list result\. You can start a new list/,
    )
    expect(error).to.include({ code: 410, reason: 'Expired' })
    expect(JSON.parse(Buffer.from(error.continue!, 'base64url').toString())).to.deep.equal({ v: 'meta.k8s.io/v1', rv: -1, start: '/b\0' })
    expect(await ask(`limit=1&continue=${error.continue}`)).to.deep.include({ names: 'bb', resourceVersion: '7', remainingItemCount: 2 })
  })

  // Asked of kube-apiserver 1.36.3.
  const bad = 'invalid continue token: continue key is not valid:'
  const invalid = '422 Invalid ListOptions.meta.k8s.io "" is invalid:'
  const errors: Record<string, string> = {
    'limit=abc': '400 BadRequest strconv.ParseInt: parsing "abc": invalid syntax',
    'limit=9223372036854775808': '400 BadRequest strconv.ParseInt: parsing "9223372036854775808": value out of range',
    'resourceVersion=abc':
      '400 BadRequest invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    'resourceVersion=-1':
      '400 BadRequest invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    'continue=abc': `400 BadRequest ${bad} invalid character 'i' looking for beginning of value`,
    'continue=!!': `400 BadRequest ${bad} illegal base64 data at input byte 0`,
    [`continue=${token({ v: 'foo' })}`]: `400 BadRequest ${bad} server does not recognize this encoded version foo`,
    [`continue=${token({ v: 'meta.k8s.io/v1' })}`]: `400 BadRequest ${bad} incorrect encoded start resourceVersion (version meta.k8s.io/v1)`,
    [`continue=${token({ v: 'meta.k8s.io/v1', rv: 1 })}`]: `400 BadRequest ${bad} encoded start key empty (version meta.k8s.io/v1)`,
    [`continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: '/../x' })}`]: `400 BadRequest ${bad} /../x`,
    [`continue=${token({ v: 'meta.k8s.io/v1', rv: -1, start: 'a' })}&resourceVersion=5`]:
      '400 BadRequest specifying resource version is not allowed when using continue',
    [`continue=${token({ v: 'meta.k8s.io/v1', rv: -1, start: 'a' })}&resourceVersion=5&resourceVersionMatch=Exact`]: `${invalid} resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided`,
    'resourceVersionMatch=Exact': `${invalid} resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
    'resourceVersionMatch=Exact&resourceVersion=0': `${invalid} resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    'resourceVersionMatch=Foo&resourceVersion=1': `${invalid} resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""`,
    'sendInitialEvents=false': `${invalid} sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
  }
  for (const [query, message] of Object.entries(errors)) {
    it(`refuses ${query}`, async () => {
      expect(await refused(query)).to.equal(message)
    })
  }

  it('does not let a token lead out of its namespace', async () => {
    expect(await refused(`continue=${token({ v: 'meta.k8s.io/v1', rv: -1, start: '/..' })}`)).to.match(/^400 /)
    expect((await ask(`continue=${token({ v: 'meta.k8s.io/v1', rv: -1, start: '' })}`).catch(() => undefined))?.names).to.equal(undefined)
    expect(await ask(`continue=${token({ v: 'meta.k8s.io/v1', rv: -1, start: 'a' })}`, 'm')).to.deep.include({ names: 'z' })
  })

  it('shows objects in the version that is asked for, and selects by its fields', async () => {
    const v2: ResourceType = {
      ...widgets,
      version: 'v2',
      convert: async (object, apiVersion) => ({ ...object, apiVersion, spec: { color: object['spec'].colour } }),
    }
    world.put('', 'a', { spec: { colour: 'red' } }, widgets)
    world.put('', 'b', { spec: { colour: 'blue' } }, widgets)
    const { items } = await list(world.core, v2, undefined, new URLSearchParams('fieldSelector=spec.color%3Dblue'))
    expect(items.map(({ apiVersion, metadata, spec }) => [apiVersion, metadata.name, spec])).to.deep.equal([
      ['x.io/v2', 'b', { color: 'blue' }],
    ])
  })
})
