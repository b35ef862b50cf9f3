/** How an operator's container runs: in one place, for the Dockerfile, the Deployment and whoever starts the bundle by hand. */

import type { GeneratedFile } from './plan.ts'

export const BUNDLE = 'operator.mjs'

/**
 * docs/decisions/0015-bundles.md. NODE_OPTIONS takes the first of them only, so that they have to be on the command line. What NODE_OPTIONS does
 * take is `--enable-source-maps`: lines of the sources in stacks, for 10 MB of memory.
 */
export const NODE_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=100'] as const

/** Node and the libraries it needs, no shell, no package manager; the user is 65532. For amd64, arm64, ppc64le and s390x. */
export const BASE_IMAGE = 'gcr.io/distroless/nodejs24-debian13:nonroot'

/**
 * The folder with the bundle is the build context. The bundle is JavaScript only: one build serves every platform. `reads`: files beside it.
 */
export function dockerfile(reads: readonly string[] = []): GeneratedFile {
  const command = ['/nodejs/bin/node', ...NODE_FLAGS, `/app/${BUNDLE}`]
  const lines = [
    `FROM ${BASE_IMAGE}`,
    'WORKDIR /app',
    `COPY ${BUNDLE} ${BUNDLE}.map ./`,
    ...reads.map((path) => `COPY ${JSON.stringify([path, `./${path}`]).replace(',', ', ')}`),
    'ENV NODE_ENV=production',
    'USER 65532:65532',
    `ENTRYPOINT ${JSON.stringify(command).replaceAll(',', ', ')}`,
  ]
  return { path: 'Dockerfile', content: `${lines.join('\n')}\n` }
}
