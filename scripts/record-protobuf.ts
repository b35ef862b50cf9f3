/**
 * Records the field numbers of the built-in kinds, so that the embedded API server can read the bodies of clients that send
 * protobuf (kubectl create, controller-runtime). Writes lib/embedded/data/protobuf.json.br from the .proto files of the Go modules
 * k8s.io/api, apimachinery, apiextensions-apiserver and kube-aggregator; run it after record-api.ts, whose definitions tell
 * which fields JSON has and which messages it inlines:
 *
 *     node scripts/record-protobuf.ts --modules ~/go/pkg/mod/k8s.io --version v0.36.3
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants } from 'node:zlib'
import { definition, recorded } from '../lib/embedded/data/recorded.ts'

const { values } = parseArgs({ options: { modules: { type: 'string' }, version: { type: 'string' } } })
const { modules, version } = values
if (!modules || !version) throw new Error('usage: node scripts/record-protobuf.ts --modules DIRECTORY --version VERSION')

interface Field {
  readonly name: string
  readonly number: number
  /** `string`, `int32` … or the name of a message. */
  readonly type: string
  readonly many: '' | 'list' | 'map'
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 's',
  bool: 'b',
  int32: 'i',
  int64: 'i',
  uint32: 'i',
  uint64: 'i',
  bytes: 'y',
  double: 'd',
}
/** Read by the decoder itself. */
const SPECIAL = /\.(Time|MicroTime|Duration|IntOrString|Quantity|RawExtension|FieldsV1|JSON)$/
/** A list with a name: in JSON it is the list. */
const NAMED_LISTS = /\.(Verbs|ExtraValue)$/
/** JSON has one of the two members in place of the object. */
const EITHER = /\.JSONSchemaPropsOr(Array|Bool|StringArray)$/

/** Label, type of a map's values or type, name, number. */
const FIELD = /^\s*(optional|repeated|map)\s*(?:<\s*\w+,\s*([.\w]+)>|([.\w]+)) (\w+) = (\d+);/gm

const messages = readMessages()
const needed = new Map<string, Record<string, string>>()
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
for (const name of [...Object.values(recorded().kinds), `${META}DeleteOptions`]) if (messages.has(name)) add(name)
write()

function add(name: string): void {
  if (needed.has(name) || SPECIAL.test(name)) return
  const fields: Record<string, string> = {}
  needed.set(name, fields)
  const of = messages.get(name)
  if (of === undefined) throw new Error(`no message ${name}`)
  for (const { name: field, number, type, many } of of) {
    const scalar = SCALARS[type]
    if (scalar === undefined) add(type)
    const kind = many === '' ? '' : many === 'list' ? '[' : '{'
    fields[number] = `${jsonName(name, field, type)}:${kind}${scalar ?? type}`
  }
}

/** `''`: the members of the message are members of the object. */
function jsonName(message: string, field: string, type: string): string {
  if (NAMED_LISTS.test(message) || EITHER.test(message)) return field
  const { properties } = definition(message) ?? {}
  // A message that only stands inlined in others has no definition.
  if (properties === undefined) return field
  const dashed = field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const found = [field, `$${field}`, dashed].find((each) => Object.hasOwn(properties, each))
  const similar = Object.keys(properties).find((each) => each.toLowerCase() === field.toLowerCase())
  if (found !== undefined || similar !== undefined) return found ?? similar ?? field
  if (SCALARS[type] === undefined) return ''
  process.stdout.write(`${message}.${field} is not in JSON\n`)
  return field
}

function readMessages(): Map<string, readonly Field[]> {
  const all = new Map<string, Field[]>()
  for (const module of ['api', 'apimachinery', 'apiextensions-apiserver', 'kube-aggregator']) {
    for (const file of globSync(join(modules as string, `${module}@${version}`, '**/generated.proto'))) {
      const text = readFileSync(file, 'utf8')
      const scope = /^package (.*);$/m.exec(text)?.[1] ?? ''
      for (const [, name, body = ''] of text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
        all.set(
          openApiName(`${scope}.${name}`),
          [...body.matchAll(FIELD)].map((match) => fieldOf(match, scope)),
        )
      }
    }
  }
  return all
}

function fieldOf([, label, mapped, plain, name = '', number]: RegExpMatchArray, scope: string): Field {
  const written = mapped ?? plain ?? ''
  const type = SCALARS[written] !== undefined ? written : openApiName(written.includes('.') ? written : `${scope}.${written}`)
  return { name, number: Number(number), type, many: label === 'map' ? 'map' : label === 'repeated' ? 'list' : '' }
}

function openApiName(message: string): string {
  return message
    .replace(/^\.?k8s\.io\./, 'io.k8s.')
    .replace('apiextensions_apiserver', 'apiextensions-apiserver')
    .replace('kube_aggregator', 'kube-aggregator')
}

function write(): void {
  const data = Buffer.from(JSON.stringify(Object.fromEntries([...needed].sort(([a], [b]) => (a < b ? -1 : 1)))))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  const compressed = brotliCompressSync(data, { params })
  writeFileSync(new URL('../lib/embedded/data/protobuf.json.br', import.meta.url), compressed)
  process.stdout.write(`protobuf.json: ${needed.size} messages, ${data.length} bytes, ${compressed.length} compressed\n`)
}
