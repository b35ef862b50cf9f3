/** The files of a new project: an operator that runs, with its tests. They belong to whoever made the project, so nothing marks them. */

import { BASE_IMAGE, BUNDLE, NODE_FLAGS } from './container.ts'
import { fileName, kindFiles, type NewKind } from './kind-files.ts'
import type { GeneratedFile } from './plan.ts'

export interface NewProject extends NewKind {
  /** Of package.json, and the operator's: `shop-operator`. */
  readonly name: string
  /** What npm is asked for to get tsop: a version or a path. */
  readonly tsop: string
}

/** What a project needs beside tsop. Those of tsop's own package.json (test/unit/generate/project.test.ts). */
export const DEV_DEPENDENCIES = { '@types/node': '^24.19.4', tsx: '^4.23.15', typescript: '^7.0.2' } as const

const VERSION = '0.1.0'
const GENERATED = ['crds', 'rbac', 'deploy']

export function projectFiles(project: NewProject): GeneratedFile[] {
  return [
    { path: 'package.json', content: `${JSON.stringify(packageJson(project), undefined, 2)}\n` },
    { path: 'tsconfig.json', content: TSCONFIG },
    { path: '.gitignore', content: 'node_modules/\nbuild/\n.tsop/\n' },
    { path: '.dockerignore', content: 'node_modules/\nbuild/\n.tsop/\n.git/\n' },
    { path: 'Dockerfile', content: dockerfile() },
    { path: '.github/workflows/ci.yaml', content: WORKFLOW },
    { path: 'README.md', content: readme(project) },
    ...kindFiles(project),
  ]
}

function packageJson({ name, tsop }: NewProject): object {
  return {
    name,
    version: VERSION,
    private: true,
    type: 'module',
    engines: { node: '>=22.19' },
    scripts: {
      start: 'tsop-run handlers --embedded --watch --apply samples',
      test: 'node --import tsx --test "test/*.test.ts"',
      'test:cluster': 'node --import tsx --test "test/cluster/*.test.ts"',
      types: 'tsc',
      check: 'tsop-run handlers --check',
      generate: GENERATED.map((what) => `tsop generate ${what}`).join(' && '),
      'generate:check': GENERATED.map((what) => `tsop generate ${what} --check`).join(' && '),
      build: 'tsop build',
    },
    dependencies: { tsop },
    devDependencies: DEV_DEPENDENCIES,
  }
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2024",
    "lib": ["es2024", "esnext.disposable", "esnext.decorators"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["handlers", "test"]
}
`

function dockerfile(): string {
  const command = ['/nodejs/bin/node', ...NODE_FLAGS, `/app/${BUNDLE}`]
  return `FROM node:24 AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build

# Node alone: no shell, no package manager, no node_modules.
FROM ${BASE_IMAGE}
WORKDIR /app
COPY --from=build /src/build/ ./
ENV NODE_ENV=production
USER 65532:65532
ENTRYPOINT ${JSON.stringify(command).replaceAll(',', ', ')}
`
}

const WORKFLOW = `name: CI
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
          cache: npm
      - run: npm ci
      - run: npm run types
      - run: npm run check
      - run: npm test
      # The manifests in config/ are those that the handlers give.
      - run: npm run generate:check
      - run: npm run build
`

/** Its commands are walked through, one after another, by test/cluster/new-project.test.ts. */
function readme({ name, kind }: NewProject): string {
  const file = fileName(kind)
  const image = `${name}:${VERSION}`
  return `# ${name}

A Kubernetes operator, made with tsop.

## Run it

    npm install
    npm start

No cluster is needed: an API server for development runs in the same process, with \`samples/\` in it. It prints a line that lets kubectl
use it. Change \`handlers/${file}.ts\` or the sample meanwhile: the operator restarts with each change.

On the cluster of your kubeconfig:

    npx tsop-run handlers --install-crds

## Test it

    npm test                # on the embedded API server, in milliseconds
    npm run test:cluster    # in the cluster of your kubeconfig, with kubectl
    npm run types           # the type checker
    npm run check           # whether the handlers load

## Add a kind

    npx tsop add kind NAME

## Ship it

    npm run generate        # config/: definitions, roles, and all that a deployment is, from the classes; commit them
    npm run generate:check  # fails where config/ is not what the classes give
    npm run build           # build/: one file and its Dockerfile
    docker build -t ${image} .

The cluster must be able to pull that image. Where it comes from a registry, \`npx tsop generate deploy --image REGISTRY/${image}\` puts
its name into the manifests: say so in the scripts of package.json.

    kubectl apply -f config/deploy/install.yaml
    kubectl -n ${name}-system rollout status deployment/${name}

There is a kustomization and a Helm chart in \`config/deploy\` as well.

## Use it

    kubectl apply -f samples/${file}.yaml
    kubectl wait --for=condition=Ready -f samples/${file}.yaml --timeout=2m
    kubectl get -f samples/${file}.yaml
    kubectl delete -f samples/${file}.yaml

## Take it away

    npx tsop uninstall --yes    # first the objects, with their clean-up, then the operator and its definitions

## What is where

| | |
|---|---|
| \`handlers/\` | a class for each kind |
| \`samples/\` | an object of each kind |
| \`test/\` | tests on the embedded API server; \`test/cluster/\`: in a real cluster |
| \`config/\` | generated manifests |
`
}
