/** What people say about their operator: olm.yaml, and for what it leaves out, package.json. Nothing is made up. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { z } from 'zod'
import type { BundleFacts } from '../generate/bundle.ts'
import { displayNameOf } from '../generate/descriptors.ts'
import { isObject } from '../resource/is-object.ts'
import { parseYaml, YamlError } from '../resource/yaml.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { nearest } from './nearest.ts'

export const OLM_FILE = 'olm.yaml'

/** The oldest Kubernetes that has all that the engine uses (docs/operations/upgrading.md). */
const MIN_KUBE_VERSION = '1.30.0'

/** https://semver.org, which OLM compares versions by. */
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/
const version = z.string().regex(SEMVER, 'expected a version such as 1.2.3')
const text = z.string().trim().min(1)
const link = z.url({ protocol: /^https?$/ })
const email = z.email()
const channel = z.string().regex(/^[^\s,]+$/, 'expected a name without spaces and commas')

/** In the order of docs/guide/publishing.md, which names every field. */
export const OLM_FIELDS = z.strictObject({
  displayName: text.optional(),
  summary: text.optional(),
  description: text.optional(),
  icon: text.optional(),
  provider: z.strictObject({ name: text, url: link.optional() }).optional(),
  maintainers: z.array(z.strictObject({ name: text, email })).optional(),
  links: z.array(z.strictObject({ name: text, url: link })).optional(),
  keywords: z.array(text).optional(),
  categories: z.array(text).optional(),
  capabilities: z.enum(['Basic Install', 'Seamless Upgrades', 'Full Lifecycle', 'Deep Insights', 'Auto Pilot']).default('Basic Install'),
  maturity: text.optional(),
  repository: link.optional(),
  minKubeVersion: version.default(MIN_KUBE_VERSION),
  architectures: z.array(text).default([]),
  channels: z.array(channel).min(1).default(['stable']),
  version: version.optional(),
  replaces: version.optional(),
  skips: z.array(version).default([]),
  skipRange: text.optional(),
  kinds: z.record(z.string(), z.strictObject({ displayName: text.optional(), description: text.optional() })).default({}),
})

/**
 * `operator`: its name. `given`: the file that was named. `shared`: the package has operators of several names, and its description is of none of them.
 *
 * @throws CliError with exit code 3 that says which field is wrong or missing
 */
export function bundleFacts({
  operator,
  paths,
  cwd,
  given,
  shared,
}: {
  readonly operator: string
  readonly paths: readonly string[]
  readonly cwd: string
  readonly given: string | undefined
  readonly shared: boolean
}): BundleFacts {
  const start = resolve(cwd, paths[0] ?? '.')
  const file = given === undefined ? upwards(start, OLM_FILE) : resolve(cwd, given)
  const shown = file === undefined ? OLM_FILE : relative(cwd, file)
  const own = parsed(file, shown)
  const pack = packageFacts(start)
  const need = <T>(value: T | undefined, what: string, where: string): T => {
    if (value !== undefined) return value
    const odd = pack.odd[what]
    if (odd === undefined) throw wrong(`${shown}: ${what} is missing: say it here, or in ${where}`)
    throw wrong(`${relative(cwd, odd.file)}: ${odd.text}; repair it, or say ${what} in ${shown}`)
  }
  const summary = own.summary ?? (shared ? undefined : pack.description)
  const description = own.description ?? summary
  const repository = own.repository ?? pack.repository
  return {
    ...withoutUndefined({ maturity: own.maturity, replaces: own.replaces, skipRange: own.skipRange, repository, summary, description }),
    version: need(own.version ?? pack.version, 'version', 'package.json'),
    displayName: own.displayName ?? displayNameOf(operator),
    provider: withoutUndefined(need(own.provider ?? pack.author, 'provider', 'package.json as author')) as BundleFacts['provider'],
    maintainers: own.maintainers ?? pack.maintainers,
    links: own.links ?? pack.links,
    keywords: own.keywords ?? pack.keywords,
    categories: own.categories ?? [],
    capabilities: own.capabilities,
    ...(own.icon === undefined || file === undefined ? {} : { icon: iconOf(own.icon, file, shown) }),
    minKubeVersion: own.minKubeVersion,
    channels: own.channels,
    skips: own.skips,
    architectures: own.architectures,
    kinds: own.kinds as BundleFacts['kinds'],
  }
}

function parsed(file: string | undefined, shown: string): z.output<typeof OLM_FIELDS> {
  if (file === undefined) return OLM_FIELDS.parse({})
  const result = OLM_FIELDS.safeParse(yamlOf(file, shown) ?? {})
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = issue?.path.join('.') ?? ''
  if (path === '' && issue?.code === 'invalid_type') throw wrong(`${shown}: expected fields such as displayName, each with its value`)
  throw wrong(`${shown}: ${issue?.code === 'unrecognized_keys' ? unknownField(issue.keys[0] ?? '', path) : `${path}: ${issue?.message}`}`)
}

function unknownField(key: string, path: string): string {
  const close = path === '' ? nearest(key, Object.keys(OLM_FIELDS.shape)) : undefined
  return `there is no field ${path === '' ? key : `${path}.${key}`}${close === undefined ? '' : ` (did you mean ${close}?)`}`
}

function yamlOf(file: string, shown: string): unknown {
  try {
    return parseYaml(readFileSync(file, 'utf8'))[0]?.value
  } catch (error) {
    if (error instanceof YamlError) throw wrong(`${shown}:${error.line}:${error.column}: ${error.message}`)
    throw wrong(`cannot read ${shown}: ${(error as Error).message}`)
  }
}

/** Those that OperatorHub shows. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.gif': 'image/gif',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

function iconOf(icon: string, file: string, shown: string): NonNullable<BundleFacts['icon']> {
  const mediatype = MEDIA_TYPES[extname(icon).toLowerCase()]
  if (mediatype === undefined) throw wrong(`${shown}: icon ${icon}: expected a file that ends with ${Object.keys(MEDIA_TYPES).join(', ')}`)
  const bytes = read(resolve(dirname(file), icon), (message) => wrong(`${shown}: icon ${icon}: ${message}`))
  if (bytes.length === 0) throw wrong(`${shown}: icon ${icon}: the file is empty`)
  if (bytes.length > LARGEST_ICON)
    throw wrong(
      `${shown}: icon ${icon}: it has ${Math.ceil(bytes.length / 1024)} KiB; a cluster takes a bundle with one of at most 512 KiB`,
    )
  return { base64data: bytes.toString('base64'), mediatype }
}

/** The ClusterServiceVersion, with the icon as base64, is one object in etcd, which takes 1.5 MiB. */
const LARGEST_ICON = 512 * 1024

function read(file: string, failed: (message: string) => CliError): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw failed((error as Error).message)
  }
}

interface PackageFacts {
  readonly version?: string
  readonly description?: string
  readonly author?: { readonly name: string; readonly url?: string | undefined }
  readonly maintainers: BundleFacts['maintainers']
  readonly links: BundleFacts['links']
  readonly keywords: readonly string[]
  readonly repository?: string
  /** What is there for a field of olm.yaml that has to be, and cannot be taken. */
  readonly odd: Readonly<Record<string, { readonly file: string; readonly text: string }>>
}

/** What of the nearest package.json has the right form; the rest is npm's business (https://docs.npmjs.com/cli/configuring-npm/package-json). */
function packageFacts(start: string): PackageFacts {
  const file = upwards(start, 'package.json')
  const content = file === undefined ? {} : yamlOf(file, file)
  if (!isObject(content)) throw wrong(`${file}: expected an object, as npm init writes it`)
  const people = [...(Array.isArray(content['maintainers']) ? content['maintainers'] : []), content['author']].map(personOf)
  const reachable = people.flatMap((person) => (person?.email === undefined ? [] : [{ name: person.name, email: person.email }]))
  const author = personOf(content['author'])
  const known = version.safeParse(content['version']).data
  const odd = (what: unknown, taken: unknown, text: string) =>
    file === undefined || what === undefined || taken !== undefined ? undefined : { file, text: `${text}, not ${JSON.stringify(what)}` }
  const url = (value: unknown) => link.safeParse(value).data
  const repository = url(repositoryUrl(content['repository']))
  const links = [
    { name: 'Homepage', url: url(content['homepage']) },
    { name: 'Source', url: repository },
  ]
  return {
    ...withoutUndefined({
      version: known,
      description: text.safeParse(content['description']).data,
      author: author === undefined ? undefined : { name: author.name, url: author.url },
      repository,
    }),
    maintainers: [...new Map(reachable.map((person) => [person.email, person])).values()],
    links: links.flatMap((each) => (each.url === undefined ? [] : [{ name: each.name, url: each.url }])),
    keywords: z.array(text).safeParse(content['keywords']).data ?? [],
    odd: withoutUndefined({
      version: odd(content['version'], known, 'version is to be a semantic version such as 1.2.3'),
      provider: odd(content['author'], author, 'author is to be a name, such as "Ann <ann@example.com>"'),
    }) as PackageFacts['odd'],
  }
}

interface Person {
  readonly name: string
  readonly email?: string | undefined
  readonly url?: string | undefined
}

/** `Ann Author <ann@example.com> (https://example.com)`, or an object with these three. */
function personOf(value: unknown): Person | undefined {
  const [, name, mail, site] = typeof value === 'string' ? (/^([^<(]+?)\s*(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?$/.exec(value) ?? []) : []
  const person = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { name, email: mail, url: site }
  const known = text.safeParse(person['name']).data
  if (known === undefined) return undefined
  return { name: known, email: email.safeParse(person['email']).data, url: link.safeParse(person['url']).data }
}

function repositoryUrl(value: unknown): string | undefined {
  const given = typeof value === 'object' && value !== null ? (value as { url?: unknown }).url : value
  if (typeof given !== 'string') return undefined
  if (/^[\w.-]+\/[\w.-]+$/.test(given)) return `https://github.com/${given}`
  return given
    .replace(/^git\+/, '')
    .replace(/^github:/, 'https://github.com/')
    .replace(/\.git$/, '')
}

/** In this folder, or above it, up to that of package.json. */
function upwards(start: string, name: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    if (existsSync(join(directory, name))) return join(directory, name)
    if (existsSync(join(directory, 'package.json')) || directory === dirname(directory)) return undefined
  }
}

function withoutUndefined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never
}

function wrong(message: string): CliError {
  return new CliError(exitCodes.configuration, message)
}
