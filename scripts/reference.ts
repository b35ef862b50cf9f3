/**
 * The tables of docs/reference/tsop.md that say what the code says. Behind a line `<!-- table: NAME -->` stands the table of that name;
 * `node --conditions=tsop-source scripts/reference.ts` writes them anew.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { BUILD_OPTIONS } from '../lib/cli/build.ts'
import { COMMANDS } from '../lib/cli/commands.ts'
import { COMMON_OPTIONS, GENERATORS } from '../lib/cli/generate.ts'
import { ADD_OPTIONS, INIT_OPTIONS } from '../lib/cli/init.ts'
import { optionTable } from '../lib/cli/option-rows.ts'
import { UNINSTALL_OPTIONS } from '../lib/cli/uninstall.ts'

const PAGE = fileURLToPath(new URL('../docs/reference/tsop.md', import.meta.url))

/** By name. A command with options of its own is a row here. */
export async function tables(): Promise<Map<string, string>> {
  const commands = Object.entries(COMMANDS).map(([name, { usage, sentence }]) => [`tsop ${name} ${usage}`.trim(), sentence] as const)
  const generators = Object.entries(GENERATORS).map(([name, { summary }]) => [name, summary] as const)
  const found = new Map([
    ['commands', table(['Command', ''], commands)],
    ['generators', table(['`tsop generate …`', 'makes'], generators)],
    ['init', optionTable(INIT_OPTIONS)],
    ['add', optionTable(ADD_OPTIONS)],
    ['generate', optionTable(COMMON_OPTIONS)],
    ['build', optionTable(BUILD_OPTIONS)],
    ['uninstall', optionTable(UNINSTALL_OPTIONS)],
  ])
  for (const [name, { load }] of Object.entries(GENERATORS)) {
    const { options } = await load()
    if (options.length > 0) found.set(`generate ${name}`, optionTable(options))
  }
  return found
}

/** The page with its tables written anew. */
export function filled(page: string, all: ReadonlyMap<string, string>): string {
  return page.replace(
    /^(<!-- table: (.+) -->\n)(?:\|.*\n)*/gm,
    (_whole, marker: string, name: string) => `${marker}${all.get(name) ?? ''}\n`,
  )
}

function table([left, right]: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  return [
    `| ${left} |${right === '' ? '' : ` ${right}`} |`,
    '|---|---|',
    ...rows.map(([name, text]) => `| \`${cell(name)}\` | ${cell(text)} |`),
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, filled(readFileSync(PAGE, 'utf8'), await tables()))
