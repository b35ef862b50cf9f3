/** Manifests as people write them: YAML of several documents or JSON, files or directories, lists opened. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { KubeObject } from '../resource/kind.ts'
import { parseYaml, YamlError } from '../resource/yaml.ts'
import { CliError, exitCodes } from './exit-codes.ts'

export type Manifest = KubeObject & { apiVersion: string; kind: string }

/**
 * All objects in `paths`, those first that others need: namespaces, then definitions; otherwise as they are written. A directory is
 * read as kubectl does: its own .yaml, .yml and .json files by name. Throws a `CliError` with exit code 3 that names file and line.
 */
export function readManifests(paths: readonly string[], cwd: string): Manifest[] {
  const manifests = paths.flatMap((path) => files(path, cwd).flatMap((file) => read(file.path, file.shown)))
  return manifests.sort((a, b) => rank(a) - rank(b))
}

function rank({ apiVersion, kind }: Manifest): number {
  if (apiVersion === 'v1' && kind === 'Namespace') return 0
  return kind === 'CustomResourceDefinition' ? 1 : 2
}

function files(path: string, cwd: string): { path: string; shown: string }[] {
  const absolute = resolve(cwd, path)
  const stats = statSync(absolute, { throwIfNoEntry: false })
  if (stats === undefined) throw wrong(`no such file or directory: ${path} (in ${cwd})`)
  if (!stats.isDirectory()) return [{ path: absolute, shown: path }]
  const names = readdirSync(absolute).filter((name) => /\.(ya?ml|json)$/.test(name) && !name.startsWith('.'))
  if (names.length === 0) throw wrong(`${path}: no .yaml, .yml or .json file is there`)
  return names.sort().map((name) => ({ path: join(absolute, name), shown: join(path, name) }))
}

function read(file: string, shown: string): Manifest[] {
  try {
    return parseYaml(readFileSync(file, 'utf8')).flatMap(({ value, line }) => objects(value, `${shown}:${line}`))
  } catch (error) {
    if (error instanceof CliError) throw error
    if (!(error instanceof YamlError)) throw wrong(`cannot read ${shown}: ${(error as Error).message}`)
    throw wrong(`${shown}:${error.line}:${error.column}: ${error.message}`)
  }
}

function objects(value: unknown, where: string): Manifest[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${where}: expected a Kubernetes object`)
  const { apiVersion, kind, metadata, items } = value as Record<string, unknown>
  if (typeof apiVersion !== 'string') throw wrong(`${where}: apiVersion is missing`)
  if (typeof kind !== 'string') throw wrong(`${where}: kind is missing`)
  if (Array.isArray(items) && kind.endsWith('List')) return items.flatMap((item) => objects(item, where))
  const { name } = (metadata ?? {}) as { name?: unknown }
  if (name === undefined || name === null) throw wrong(`${where}: ${kind} without metadata.name`)
  if (typeof name !== 'string') throw wrong(`${where}: metadata.name must be a text, not ${JSON.stringify(name)}; quote it`)
  return [value as Manifest]
}

function wrong(message: string): CliError {
  return new CliError(exitCodes.configuration, message)
}
