/**
 * The fields of a kind as a console shows them in forms and on pages, from what its schema says
 * (https://github.com/openshift/console/blob/main/frontend/packages/operator-lifecycle-manager/src/components/descriptors/reference/reference.md).
 */

import type { Schema } from '../resource/schema.ts'

export interface Descriptor {
  /** From `spec` or `status` on: `backup.schedule`, `servers[0].name`. */
  readonly path: string
  readonly displayName: string
  readonly description: string
  readonly 'x-descriptors'?: readonly string[]
}

/** Of every field that has a description, those inside of it behind it. What has none would only repeat its name. */
export function descriptorsOf(schema: Schema | undefined, path = ''): Descriptor[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => {
    const own = path === '' ? name : `${path}.${name}`
    const inside = field.items === undefined ? descriptorsOf(field, own) : descriptorsOf(field.items, `${own}[0]`)
    // What a condition consists of is the same in every kind, and shown as a table.
    const below = isConditions(name, field) ? [] : inside
    return field.description === undefined ? below : [descriptor(own, name, field), ...below]
  })
}

function descriptor(path: string, name: string, field: Schema): Descriptor {
  const hints = hintsOf(name, field)
  return {
    path,
    displayName: displayNameOf(name),
    description: field.description ?? '',
    ...(hints.length === 0 ? {} : { 'x-descriptors': hints }),
  }
}

const UI = 'urn:alm:descriptor:com.tectonic.ui:'

/** How a console asks for a value. Where there is no plain answer, it decides by itself. */
function hintsOf(name: string, field: Schema): string[] {
  if (isConditions(name, field)) return ['urn:alm:descriptor:io.kubernetes.conditions']
  if (field['x-kubernetes-int-or-string'] === true) return []
  if (field.enum !== undefined) return field.enum.filter((value) => typeof value === 'string').map((value) => `${UI}select:${value}`)
  if (field.type === 'boolean') return [`${UI}booleanSwitch`]
  if (field.type === 'integer' && name === 'replicas') return [`${UI}podCount`]
  if (field.type === 'integer' || field.type === 'number') return [`${UI}number`]
  return field.type === 'string' ? [`${UI}text`] : []
}

function isConditions(name: string, field: Schema): boolean {
  return name === 'conditions' && field.type === 'array' && field.items?.properties?.['lastTransitionTime'] !== undefined
}

/** `finalBackup` becomes `Final Backup`, `shop-operator` becomes `Shop Operator`, `baseURL` becomes `Base URL`. */
export function displayNameOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
}
