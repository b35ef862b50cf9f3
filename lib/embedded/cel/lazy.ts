/** Loads the engine with the first rule: a server without rules does not pay for it. */
import type { validateRules } from './definition.ts'
import type { createValidator } from './validator.ts'

interface Modules {
  readonly definition: { readonly validateRules: typeof validateRules }
  readonly validator: { readonly createValidator: typeof createValidator }
}

/** The module of that name in this folder. */
export function loadCel<Name extends keyof Modules>(name: Name): Modules[Name] {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
  return process.getBuiltinModule('node:module').createRequire(import.meta.url)(`./${name}${extension}`) as Modules[Name]
}
