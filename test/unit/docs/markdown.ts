/** What the tests of the documentation read from Markdown: fenced blocks, tables, sections. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A file of the project, by its path from the root. */
export function read(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8')
}

/** Whether a file or folder of the project is there. */
export function exists(path: string): boolean {
  return existsSync(`${ROOT}${path}`)
}

/** The Markdown files below a folder of the project, by path from the root. */
export function pagesIn(folder: string): string[] {
  return readdirSync(`${ROOT}${folder}`)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`)
}

/** Every README.md below a folder of the project, by path from the root. */
export function readmesBelow(folder: string): string[] {
  const hidden = (path: string) => /(?:^|[/\\])(?:node_modules$|\.\w)/.test(path)
  return globSync(`${folder}/**/README.md`, { cwd: ROOT, exclude: hidden }).sort()
}

/** The contents of all fenced blocks of a language, with the line each begins at. */
export function blocks(markdown: string, language: string): { text: string; line: number }[] {
  const found: { text: string; line: number }[] = []
  for (const match of markdown.matchAll(/^```(\S*)[^\n]*\n(.*?)^```$/gms)) {
    const [, info, text = ''] = match
    if (info === language) found.push({ text, line: markdown.slice(0, match.index).split('\n').length + 1 })
  }
  return found
}

/** The rows of the first table below a heading (or of the page), without its head; each a list of cells. */
export function table(markdown: string, heading?: string): string[][] {
  const lines = (heading === undefined ? markdown : section(markdown, heading)).split('\n')
  const start = lines.findIndex((line) => line.startsWith('|'))
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('|'))
  return lines.slice(start + 2, end < 0 ? undefined : end).map(cells)
}

/** What stands below a heading, down to the next one of its level or above. */
export function section(markdown: string, heading: string): string {
  const [level = ''] = /^#+/.exec(heading) ?? []
  const lines = markdown.split('\n')
  const start = lines.indexOf(heading)
  if (start < 0) throw new Error(`there is no heading "${heading}"`)
  const end = lines.findIndex((line, i) => i > start && /^#+ /.test(line) && (/^#+/.exec(line)?.[0] ?? '').length <= level.length)
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n')
}

/** The texts in backticks of a cell or line. */
export function codes(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

function cells(line: string): string[] {
  return line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}
