/** `tsop build`: what goes into a container. */

import { execFile } from 'node:child_process'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { BUNDLE, dockerfile, NODE_FLAGS } from '../generate/container.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { type OptionRow, optionLines, parseRows, wrap } from './option-rows.ts'
import { report } from './report.ts'

export const BUILD_OPTIONS: readonly OptionRow[] = [
  { name: 'output', short: 'o', value: 'DIR', sentence: 'Write into this directory; build by default.' },
  { name: 'name', value: 'NAME', sentence: "The operator's name; by default the name in the package.json nearest to the handlers." },
  {
    name: 'external',
    value: 'PACKAGE',
    multiple: true,
    sentence: 'Leave this package out, such as one with native code; it must be there when the operator runs.',
  },
  { name: 'force', sentence: 'Overwrite a Dockerfile that was edited by hand, or that tsop did not make.' },
  { name: 'debug', sentence: 'Show what the bundle consists of, and the stacks of errors.' },
  { name: 'help', short: 'h', sentence: 'Print this help and exit.' },
]

export function buildHelp(): string {
  return [
    'Usage: tsop build [options] [directories or files …]',
    '',
    ...wrap(
      `Bundles handlers and all they need into one file, ${BUNDLE}, with its source map, and writes a Dockerfile beside it. It runs with node alone and takes the options of tsop-run. Without arguments it bundles the directory handlers.`,
      100,
    ),
    '',
    'Options:',
    ...optionLines(BUILD_OPTIONS),
    '',
    ...wrap('Exit codes: 0 done · 1 failed · 2 command line · 3 handlers', 100),
    '',
  ].join('\n')
}

export async function build(args: readonly string[]): Promise<number> {
  try {
    const options = parseRows(args, BUILD_OPTIONS, 'tsop build')
    if (options.flag('help')) {
      process.stdout.write(buildHelp())
      return exitCodes.ok
    }
    const cwd = process.cwd()
    const paths = options.positionals.length === 0 ? ['handlers'] : options.positionals
    const output = options.one('output') ?? 'build'
    const { findHandlerFiles } = await import('./find-handler-files.ts')
    const { operatorName } = await import('./operator-name.ts')
    const { copy } = await import('./folder.ts')
    const files = findHandlerFiles(paths, cwd)
    const outfile = resolve(cwd, output, BUNDLE)
    const { bundleOperator } = await import('./bundle-operator.ts')
    const name = options.one('name') ?? operatorName(paths, cwd)
    const made = await bundleOperator({ files, name, outfile, cwd, external: options.many('external') })
    for (const warning of made.warnings) process.stderr.write(`warning: ${warning}\n`)
    for (const path of made.reads) copy(resolve(cwd, path), resolve(cwd, output, path))
    const startMs = await startOf(outfile)
    const shown = relative(cwd, outfile)
    process.stdout.write(`${shown}  ${size(made.bytes)}, and ${size(made.mapBytes)} of source map; loads in ${Math.round(startMs)} ms\n`)
    if (options.flag('debug'))
      for (const [part, bytes] of made.inputs.slice(0, 20)) process.stdout.write(`  ${size(bytes).padStart(9)}  ${part}\n`)
    for (const path of made.reads) process.stdout.write(`${join(output, path)}  copied: a handler reads it\n`)
    await writeDockerfile(output, cwd, made.reads, options.flag('force'))
    const run = ['node', ...NODE_FLAGS, shown].join(' ')
    const { defaultImage } = await import('./generate-deploy.ts')
    const image = defaultImage(name, { paths, cwd })
    process.stdout.write(`\nRun it:           ${run}\nMake the image:   docker build -t ${image} ${output}\n`)
    return exitCodes.ok
  } catch (error) {
    return report(error, args.includes('--debug'), 'tsop')
  }
}

/** Milliseconds until everything is loaded and checked, without a cluster; the shortest of three. @throws CliError where it does not load */
async function startOf(outfile: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 3; i++) {
    const start = performance.now()
    await promisify(execFile)(process.execPath, [...NODE_FLAGS, outfile, '--check'], { timeout: 60_000 }).catch((error) => {
      const { stderr, message } = error as { stderr?: string; message: string }
      throw new CliError(exitCodes.configuration, `the bundle does not load: ${stderr?.trim().replace(/^tsop-run: /, '') || message}`, {
        cause: error,
      })
    })
    times.push(performance.now() - start)
  }
  return Math.min(...times)
}

/** One that somebody has made his own stays: it is part of the project, not of the build. */
async function writeDockerfile(output: string, cwd: string, reads: readonly string[], force: boolean): Promise<void> {
  const { plan } = await import('../generate/plan.ts')
  const { folder, writeText } = await import('./folder.ts')
  const { read } = folder(output, cwd)
  const [step] = plan([dockerfile(reads)], { read, list: () => [] }, 'tsop build')
  if (step?.text === undefined) return
  const kept = !force && (step.found === 'edited' || step.found === 'foreign')
  if (!kept && step.found !== 'same') writeText(output, cwd, step.path, step.text)
  const said = kept ? 'kept as it was edited; --force overwrites it' : step.found === 'same' ? 'unchanged' : 'written'
  process.stdout.write(`${join(output, step.path)}  ${said}\n`)
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
