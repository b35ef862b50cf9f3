/**
 * The OpenAPI v2 document in protobuf (`gnostic-models/openapiv2`), for kubectl: it accepts no other form of it, and asks for it
 * where the v3 documents do not have what it looks for, as with a kind that nobody serves.
 */
import { DELIMITED, FIXED64, tag, VARINT, Writer } from '../protobuf-writer.ts'

type Value = unknown
type Members = Readonly<Record<string, Value>>
/** Appends what stands for a value. */
type Write = (to: Writer, field: number, value: Value) => void
type Fields = Readonly<Record<string, readonly [field: number, write: Write]>>

export function openapiV2Protobuf(document: Members): Buffer {
  const writer = new Writer()
  members(writer, DOCUMENT, document)
  return writer.done()
}

const string: Write = (to, field, value) => {
  if (value === '') return
  tag(to, field, DELIMITED)
  to.text(String(value))
}
const strings: Write = (to, field, value) => {
  for (const each of value as string[]) {
    tag(to, field, DELIMITED)
    to.text(each)
  }
}
const bool: Write = (to, field, value) => {
  if (value !== true) return
  tag(to, field, VARINT)
  to.varint(1)
}
const integer: Write = (to, field, value) => {
  tag(to, field, VARINT)
  to.varint(Number(value))
}
const double: Write = (to, field, value) => {
  tag(to, field, FIXED64)
  to.double(Number(value))
}
/** Any value: as the text of YAML, of which JSON is a part. */
const any: Write = (to, field, value) => nested(to, field, (inner) => string(inner, 2, JSON.stringify(value)))
const anyOfEach: Write = (to, field, value) => {
  for (const each of value as Value[]) any(to, field, each)
}

function nested(to: Writer, field: number, write: (to: Writer) => void): void {
  tag(to, field, DELIMITED)
  to.delimited(write)
}

/** A message; its table is looked up late, for tables refer to each other. */
const message =
  (fields: () => Fields): Write =>
  (to, field, value) =>
    nested(to, field, (inner) => members(inner, fields(), value as Members))

const listOf =
  (write: Write): Write =>
  (to, field, value) => {
    for (const each of value as Value[]) write(to, field, each)
  }

/** A message around it, whose only field this is. */
const within =
  (inner: number, write: Write): Write =>
  (to, field, value) =>
    nested(to, field, (wrapper) => write(wrapper, inner, value))

/** Each member as a message of its name and its value. */
const namedMembers =
  (write: Write): Write =>
  (to, field, value) => {
    for (const [name, each] of Object.entries(value as Members)) {
      nested(to, field, (entry) => {
        string(entry, 1, name)
        write(entry, 2, each)
      })
    }
  }

/** Members that start with `x-` go into the field that every table has for them. */
const EXTENSIONS = 'x-'
const extension = namedMembers(any)

function members(to: Writer, fields: Fields, value: Members): void {
  for (const [name, each] of Object.entries(value)) {
    const known = Object.hasOwn(fields, name) ? fields[name] : name.startsWith(EXTENSIONS) ? fields[EXTENSIONS] : undefined
    if (known === undefined || each === undefined) continue
    const [field, write] = known
    write(to, field, name.startsWith(EXTENSIONS) ? { [name]: each } : each)
  }
}

const schema: Write = message(() => SCHEMA)
const response: Write = message(() => RESPONSE)

const SCHEMA: Fields = {
  $ref: [1, string],
  format: [2, string],
  title: [3, string],
  description: [4, string],
  default: [5, any],
  multipleOf: [6, double],
  maximum: [7, double],
  exclusiveMaximum: [8, bool],
  minimum: [9, double],
  exclusiveMinimum: [10, bool],
  maxLength: [11, integer],
  minLength: [12, integer],
  pattern: [13, string],
  maxItems: [14, integer],
  minItems: [15, integer],
  uniqueItems: [16, bool],
  maxProperties: [17, integer],
  minProperties: [18, integer],
  required: [19, strings],
  enum: [20, anyOfEach],
  additionalProperties: [
    21,
    (to, field, value) => (typeof value === 'boolean' ? within(2, bool)(to, field, value) : within(1, schema)(to, field, value)),
  ],
  type: [22, within(1, string)],
  items: [23, within(1, schema)],
  allOf: [24, listOf(schema)],
  properties: [25, within(1, namedMembers(schema))],
  [EXTENSIONS]: [31, extension],
}

const RESPONSE: Fields = { description: [1, string], schema: [2, within(1, schema)], [EXTENSIONS]: [5, extension] }

const BODY_PARAMETER: Fields = {
  description: [1, string],
  name: [2, string],
  in: [3, string],
  required: [4, bool],
  schema: [5, schema],
  [EXTENSIONS]: [6, extension],
}

const PATH_PARAMETER: Fields = {
  required: [1, bool],
  in: [2, string],
  description: [3, string],
  name: [4, string],
  type: [5, string],
  format: [6, string],
  uniqueItems: [19, bool],
}

const QUERY_PARAMETER: Fields = {
  required: [1, bool],
  in: [2, string],
  description: [3, string],
  name: [4, string],
  type: [6, string],
  format: [7, string],
  uniqueItems: [20, bool],
}

const parameter: Write = (to, field, value) => {
  const place = (value as Members)['in']
  if (place === 'body')
    within(
      1,
      message(() => BODY_PARAMETER),
    )(to, field, value)
  else if (place === 'path')
    within(
      2,
      within(
        4,
        message(() => PATH_PARAMETER),
      ),
    )(to, field, value)
  else
    within(
      2,
      within(
        3,
        message(() => QUERY_PARAMETER),
      ),
    )(to, field, value)
}

const parameterOrReference: Write = (to, field, value) => {
  if ((value as Members)['$ref'] === undefined) within(1, parameter)(to, field, value)
  else
    within(
      2,
      message(() => ({ $ref: [1, string] })),
    )(to, field, value)
}

const OPERATION: Fields = {
  tags: [1, strings],
  summary: [2, string],
  description: [3, string],
  operationId: [5, string],
  produces: [6, strings],
  consumes: [7, strings],
  parameters: [8, listOf(parameterOrReference)],
  responses: [9, within(1, namedMembers(within(1, response)))],
  schemes: [10, strings],
  deprecated: [11, bool],
  [EXTENSIONS]: [13, extension],
}

const operation: Write = message(() => OPERATION)

const PATH: Fields = {
  $ref: [1, string],
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  options: [6, operation],
  head: [7, operation],
  patch: [8, operation],
  parameters: [9, listOf(parameterOrReference)],
  [EXTENSIONS]: [10, extension],
}

const API_KEY: Fields = { type: [1, string], name: [2, string], in: [3, string], description: [4, string] }

const DOCUMENT: Fields = {
  swagger: [1, string],
  info: [2, message(() => ({ title: [1, string], version: [2, string] }))],
  paths: [8, within(2, namedMembers(message(() => PATH)))],
  definitions: [9, within(1, namedMembers(schema))],
  parameters: [10, within(1, namedMembers(parameter))],
  security: [12, listOf(within(1, namedMembers(within(1, strings))))],
  securityDefinitions: [
    13,
    within(
      1,
      namedMembers(
        within(
          2,
          message(() => API_KEY),
        ),
      ),
    ),
  ],
}
