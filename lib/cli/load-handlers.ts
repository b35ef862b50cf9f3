/**
 * From the arguments of `tsop-run` to handlers that the manager can run: finds the files, imports them, and makes one instance of
 * each handler class they export.
 *
 * A file that wants to pass something to its handlers exports a factory by the name `handlers`:
 *
 * @example
 * export const handlers = () => [new DatabaseHandler(new Backups(process.env.BACKUP_URL))]
 */

import { relative } from 'node:path'
import { checkHandlers, collect, type HandlerClass, isHandlerClass } from '../decorators/collect.ts'
import { isHandlerError } from '../decorators/handler-error.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import { bundled } from './bundled.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { findHandlerFiles } from './find-handler-files.ts'
import { createImport } from './import-module.ts'
import { loadError } from './load-error.ts'
import { unexported } from './unexported.ts'

export interface LoadedHandler {
  readonly spec: HandlerSpec
  readonly instance: object
}

export interface LoadOptions {
  readonly cwd: string
  /** Called with each file of the user's own that is imported, handler or not. */
  readonly used?: (file: URL) => void
}

/**
 * A class that two files export counts once. A class that another handler class extends is only its base. What the factory makes is
 * not made again.
 *
 * @throws CliError with exit code 3: nothing there, a file that does not load, a class that is no proper handler
 */
export async function loadHandlers(paths: readonly string[], { cwd, used }: LoadOptions): Promise<LoadedHandler[]> {
  const bundle = bundled()
  if (bundle !== undefined) {
    if (paths.join() !== DEFAULT_PATHS.join())
      throw new CliError(exitCodes.usage, `this is a bundle with its handlers built in; it loads no others: ${paths.join(' ')}`)
    return await handlersIn(bundle.modules, paths, [], cwd)
  }
  const files = findHandlerFiles(paths, cwd)
  const load = await createImport(files, used)
  const modules: ImportedModule[] = []
  for (const file of files) {
    try {
      modules.push({ file, module: await load(file) })
    } catch (error) {
      throw loadError(error, file, cwd)
    }
  }
  return await handlersIn(modules, paths, files, cwd)
}

/** What the command line gives where nothing was named (options.ts). */
const DEFAULT_PATHS = ['handlers']

interface ImportedModule {
  readonly file: string
  readonly module: Readonly<Record<string, unknown>>
}

async function handlersIn(modules: readonly ImportedModule[], paths: readonly string[], files: readonly string[], cwd: string) {
  const made = new Map<object, string>()
  const exported = new Map<HandlerClass, string>()
  for (const { file, module } of modules) {
    const name = shown(file, cwd)
    for (const value of Object.values(module)) if (isHandlerClass(value) && !exported.has(value)) exported.set(value, name)
    if ('handlers' in module) for (const instance of await instances(module['handlers'], file, cwd)) made.set(instance, name)
  }
  return specified(made, exported, paths, files, cwd)
}

function specified(
  made: ReadonlyMap<object, string>,
  exported: ReadonlyMap<HandlerClass, string>,
  paths: readonly string[],
  files: readonly string[],
  cwd: string,
) {
  const byFactory = [...made.keys()].map((instance) => instance.constructor)
  const all = [...exported.keys(), ...byFactory]
  const classes = [...exported].filter(([cls]) => !byFactory.includes(cls) && !all.some((other) => other.prototype instanceof cls))
  const hidden = hiddenClasses(all, files, cwd)
  if (hidden.length > 0) throw new CliError(exitCodes.configuration, hidden.join('\n'))
  if (classes.length + made.size === 0) throw new CliError(exitCodes.configuration, nothingFound(paths, files, cwd))
  const specs = handlerErrors([
    ...classes.map(([cls, file]) => () => ({ spec: collect(cls, { file }), make: () => construct(cls, file) })),
    ...[...made].map(([instance, file]) => () => ({
      spec: collect(instance.constructor as HandlerClass, { file, factory: true }),
      make: () => instance,
    })),
  ])
  handlerErrors([() => checkHandlers(specs.map(({ spec }) => spec))])
  return specs.map(({ spec, make }) => ({ spec, instance: make() }))
}

async function instances(factory: unknown, file: string, cwd: string): Promise<object[]> {
  const name = shown(file, cwd)
  if (typeof factory !== 'function' || isHandlerClass(factory)) {
    const example = 'export const handlers = () => [new …Handler(…)]'
    throw new CliError(exitCodes.configuration, `${name}: the export "handlers" must be a function that makes handlers: ${example}`)
  }
  let result: unknown
  try {
    result = await (factory as () => unknown)()
  } catch (error) {
    throw loadError(error, file, cwd)
  }
  const list: unknown[] = Array.isArray(result) ? result : [result]
  return list.map((instance) => {
    if (typeof instance === 'object' && instance !== null && isHandlerClass(instance.constructor)) return instance
    const what = typeof instance === 'function' ? `the class ${instance.name} instead of an instance` : describe(instance)
    throw new CliError(
      exitCodes.configuration,
      `${name}: handlers() returned ${what}; it must return instances of classes with @onReconcile`,
    )
  })
}

function construct(cls: HandlerClass, file: string): object {
  try {
    return new (cls as unknown as new () => object)()
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error))
    throw new CliError(exitCodes.configuration, `${file}: new ${cls.name}() threw: ${message}`, { cause: error })
  }
}

/** Runs all of them, so that one start shows all that is wrong. */
function handlerErrors<T>(steps: readonly (() => T)[]): T[] {
  const lines: string[] = []
  const results = steps.flatMap((step) => {
    try {
      return [step()]
    } catch (error) {
      if (!isHandlerError(error)) throw error
      lines.push(error.message)
      return []
    }
  })
  if (lines.length > 0) throw new CliError(exitCodes.configuration, lines.join('\n'))
  return results
}

/** A line for each decorated class that is not exported, nor the base of one that is. */
function hiddenClasses(all: readonly unknown[], files: readonly string[], cwd: string): string[] {
  const known = new Set<string>()
  for (const one of all)
    for (let cls = one; typeof cls === 'function' && cls.name !== ''; cls = Object.getPrototypeOf(cls)) known.add(cls.name)
  return files.flatMap((file) =>
    unexported(file, known).map((name) => `${shown(file, cwd)}: ${name} is decorated but not exported: write export class ${name}`),
  )
}

function nothingFound(paths: readonly string[], files: readonly string[], cwd: string): string {
  const what = 'a handler is an exported class with a method decorated with @onReconcile'
  if (files.length === 0) return `no handler found: no .ts, .mts, .js or .mjs file is in ${paths.join(', ')}; ${what}`
  const names = files.slice(0, 10).map((file) => shown(file, cwd))
  const more = files.length > names.length ? ` and ${files.length - names.length} more` : ''
  return `no handler found in ${names.join(', ')}${more}; ${what}`
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return `an instance of ${value.constructor?.name ?? 'no class'}`
}

function shown(file: string, cwd: string): string {
  const path = relative(cwd, file)
  return path.startsWith('..') ? file : path
}
