/** Text to something that runs, or to what is wrong with it. */

import type { Node } from './ast.ts'
import { check } from './checker.ts'
import type { Environment } from './environment.ts'
import { compileProgram } from './evaluate.ts'
import { type Program, ProgramError } from './frame.ts'
import { kubernetesFunctions } from './functions.ts'
import { checkLiterals } from './literal-checks.ts'
import { parse } from './parser.ts'
import { showIssues } from './source.ts'
import type { CelType } from './types.ts'

export interface Expression {
  readonly node: Node
  readonly type: CelType
  readonly program: Program
  /** Variables of the environment that it uses. */
  readonly variables: ReadonlySet<string>
}

export interface Mistake {
  /** `compilation`: of the text; `program`: of a constant part. */
  readonly stage: 'compilation' | 'program'
  readonly message: string
  /** Where it is the program that is wrong. */
  readonly type?: CelType
}

export type Compiled = Expression | Mistake

export const isMistake = (compiled: Compiled): compiled is Mistake => 'stage' in compiled

export function compileExpression(text: string, variables: ReadonlyMap<string, CelType>): Compiled {
  const parsed = parse(text)
  if (parsed.node === undefined) return { stage: 'compilation', message: showIssues(text, parsed.issues) }
  const environment: Environment = { function: (name) => kubernetesFunctions().get(name), variable: (name) => variables.get(name) }
  const checked = check(parsed.node, environment)
  const issues = checked.issues.length > 0 ? checked.issues : checkLiterals(parsed.node)
  if (issues.length > 0) return { stage: 'compilation', message: showIssues(text, issues) }
  try {
    return { node: parsed.node, type: checked.type, program: compileProgram(parsed.node), variables: checked.variables }
  } catch (error) {
    if (error instanceof ProgramError) return { stage: 'program', message: error.message, type: checked.type }
    throw error
  }
}
