/** `format.dns1123Label().validate(name)`: checks that Kubernetes makes of names and other texts. */
import { dns1035Name, labelName, labelValue, qualifiedName, subdomainName } from '../../names.ts'
import { formatCheck } from '../../schema/formats.ts'
import { type Library, member, type Overload, overload } from '../environment.ts'
import { listOf, optionalOf, STRING, struct } from '../types.ts'
import { parseRequestUrl, UrlError } from '../url.ts'
import { NONE, noSuchOverload, Opaque, OptionalValue, PlainList, type Value } from '../values.ts'

const TYPE = struct('kubernetes.NamedFormat')

export class NamedFormat extends Opaque {
  readonly typeName = TYPE.name
  readonly name: string
  readonly validate: (text: string) => readonly string[]
  /** What running it costs goes by this. */
  readonly regexSize: number

  constructor(name: string, validate: (text: string) => readonly string[], regexSize: number) {
    super()
    this.name = name
    this.validate = validate
    this.regexSize = regexSize
  }

  equals(other: Value): Value {
    return other instanceof NamedFormat ? this.name === other.name : noSuchOverload()
  }
}

function uri(text: string): string[] {
  try {
    parseRequestUrl(text)
    return []
  } catch (error) {
    if (error instanceof UrlError) return [error.message]
    throw error
  }
}

const schemaFormat = (name: string, complaint: string) => (text: string) => (formatCheck(name)?.(text) ? [] : [complaint])

const UUID_PATTERN_SIZE = 70
const TIME_PATTERN_SIZE = 71

const FORMATS: Readonly<Record<string, NamedFormat>> = {
  dns1123Label: new NamedFormat('DNS1123Label', (text) => labelName(text, false), 30),
  dns1123Subdomain: new NamedFormat('DNS1123Subdomain', (text) => subdomainName(text, false), 60),
  dns1035Label: new NamedFormat('DNS1035Label', (text) => dns1035Name(text, false), 30),
  qualifiedName: new NamedFormat('QualifiedName', qualifiedName, 60),
  dns1123LabelPrefix: new NamedFormat('DNS1123LabelPrefix', (text) => labelName(text, true), 30),
  dns1123SubdomainPrefix: new NamedFormat('DNS1123SubdomainPrefix', (text) => subdomainName(text, true), 60),
  dns1035LabelPrefix: new NamedFormat('DNS1035LabelPrefix', (text) => dns1035Name(text, true), 30),
  labelValue: new NamedFormat('LabelValue', labelValue, 40),
  uri: new NamedFormat('URI', uri, 1103),
  uuid: new NamedFormat('uuid', schemaFormat('uuid', 'does not match the UUID format'), UUID_PATTERN_SIZE),
  byte: new NamedFormat('byte', schemaFormat('byte', 'invalid base64'), 84),
  date: new NamedFormat('date', schemaFormat('date', 'invalid date'), TIME_PATTERN_SIZE),
  datetime: new NamedFormat('datetime', schemaFormat('datetime', 'invalid datetime'), TIME_PATTERN_SIZE),
}

function validate(format: NamedFormat, text: string): Value {
  const complaints = format.validate(text)
  return complaints.length === 0 ? NONE : new OptionalValue(new PlainList(complaints))
}

function named(name: string): Value {
  return Object.hasOwn(FORMATS, name) ? new OptionalValue(FORMATS[name] as NamedFormat) : NONE
}

const constants = Object.entries(FORMATS).map(([name, format]): [string, Overload[]] => [
  `format.${name}`,
  [overload(`format.${name}`, [], TYPE, () => format)],
])

export const namedFormat: Library = {
  ...Object.fromEntries(constants),
  'format.named': [overload('format-named', [STRING], optionalOf(TYPE), named)],
  validate: [member('format-validate', [TYPE, STRING], optionalOf(listOf(STRING)), validate)],
}
