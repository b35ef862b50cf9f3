/**
 * The manifests of `handlers/` and `examples/`, made by `tsop generate`. Arguments go to each command: `npm run generate -- --check` tells
 * whether what is committed is what would be made.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Of each operator what is generated, with the options beside its handlers. A generator whose folder is `config/NAME` is a line. */
const OPERATORS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  handlers: { crds: [], ...deployed('database-operator') },
  'examples/disruption-budgets': deployed('budget-operator'),
  'examples/renderings': { crds: [], ...deployed('rendering-operator', 'examples/renderings/manifests') },
  'examples/secret-rollout': { crds: [], ...deployed('site-operator', 'examples/secret-rollout/manifests') },
  // Of no use but to see what is made where the API server asks the operator.
  'test/cluster/fixtures/crate.ts': { deploy: ['--name', 'crate-operator'] },
  'examples/teams': { crds: [], ...deployed('team-operator', 'examples/teams/manifests') },
}
const CONFIG: Readonly<Record<string, string>> = { 'test/cluster/fixtures/crate.ts': 'test/unit/generate/golden/crates' }
const FOLDERS: Readonly<Record<string, string>> = { crds: 'crd', rbac: 'rbac', deploy: 'deploy', bundle: 'bundle' }

for (const [handlers, generators] of Object.entries(OPERATORS)) {
  for (const [what, options] of Object.entries(generators)) {
    const output = handlers === 'handlers' ? [] : ['--output', `${CONFIG[handlers] ?? `${handlers}/config`}/${FOLDERS[what]}`]
    const args = ['generate', what, handlers, ...options, ...output, ...process.argv.slice(2)]
    const { status } = spawnSync(process.execPath, ['--conditions=tsop-source', 'lib/cli/tsop.ts', ...args], {
      cwd: ROOT,
      stdio: 'inherit',
    })
    if (status !== 0) process.exitCode = 1
  }
}

function deployed(name: string, samples?: string) {
  const named = ['--name', name]
  return { rbac: named, deploy: named, bundle: samples === undefined ? named : [...named, '--samples', samples] }
}
