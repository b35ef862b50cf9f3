/** `find` and `findAll` of regular expressions. */
import { type Library, member } from '../environment.ts'
import { INT, listOf, STRING } from '../types.ts'
import { CelError, PlainList, type Value } from '../values.ts'
import { regexes } from './core.ts'

function find(text: string, pattern: string): Value {
  const regex = regexes.compile(pattern)
  return typeof regex === 'string' ? new CelError(`Illegal regex: ${regex}`) : regex.find(text)
}

function findAll(text: string, pattern: string, limit = -1n): Value {
  const regex = regexes.compile(pattern)
  return typeof regex === 'string' ? new CelError(`Illegal regex: ${regex}`) : new PlainList(regex.findAll(text, Number(limit)))
}

export const findLibrary: Library = {
  find: [member('string_find_string', [STRING, STRING], STRING, find)],
  findAll: [
    member('string_find_all_string', [STRING, STRING], listOf(STRING), findAll),
    member('string_find_all_string_int', [STRING, STRING, INT], listOf(STRING), findAll),
  ],
}
