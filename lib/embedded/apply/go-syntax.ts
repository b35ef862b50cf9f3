/** Values as Go source (`%#v`): one message quotes them so. */
import { isObject, type Json } from '../json.ts'
import { goNumber } from '../patch/go-format.ts'

export function asGoSyntax(value: Json | undefined): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(asGoSyntax).join(', ')}}`
  if (isObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${asGoSyntax(value[key])}`)
    return `map[string]interface {}{${members.join(', ')}}`
  }
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'number' ? goNumber(value) : String(value)
}
