/** docs/reference/parity.md, from what the cases showed. */
import { AREAS } from './cases.ts'
import { DEVIATIONS } from './deviations.ts'

export const PAGE = new URL('../../docs/reference/parity.md', import.meta.url)

const NAMES: Readonly<Record<string, string>> = {
  verbs: 'Creates, updates, metadata',
  patches: 'Patches',
  apply: 'Server-side apply',
  deletion: 'Deletion, garbage collection, namespaces',
  'lists-and-watches': 'Lists, pages, selectors, watches, tables',
  subresources: 'Status, scale, other subresources',
  definitions: 'Custom resource definitions',
  validation: 'Schemas, defaults, CEL rules',
  admission: 'Admission policies, limits, priorities',
  auth: 'Roles, impersonation, reviews',
  'built-in': 'Built-in kinds',
  discovery: 'Discovery, OpenAPI, media types',
}

/** @param passed ids of the cases that the embedded server answered as the real one had, in process and over HTTP */
export function page(passed: ReadonlySet<string>): string {
  const rows = [...AREAS].map(([area, cases]) => {
    const as = cases.filter(({ id }) => passed.has(id)).length
    const deviating = cases.filter(({ deviates }) => deviates !== undefined).map(({ deviates }) => `[${deviates}](#${deviates})`)
    return `| ${NAMES[area] ?? area} | ${cases.length} | ${as} | ${deviating.join(', ')} |`
  })
  const all = [...AREAS.values()].flat()
  const deviations = DEVIATIONS.flatMap(({ id, area, real, embedded, reason }) => [
    `### ${id}`,
    '',
    `${NAMES[area] ?? area}. A real server ${real}. The embedded server ${embedded}. ${reason}`,
    '',
  ])
  const titles = [...AREAS].flatMap(([area, cases]) => [`### ${NAMES[area] ?? area}`, '', ...cases.map(({ title }) => `- ${title}.`), ''])
  return `# Parity of the embedded API server

<!-- Made by scripts/parity.ts page; a test compares. -->

The [embedded API server](../guide/without-a-cluster.md) answers as kube-apiserver 1.36 does. That is measured, not promised: each case
below is a script of requests and watches of the kind that operators, kubectl, Helm and controller-runtime send. A real control plane
has answered it, and the embedded server must give the same answers: status, headers, bodies with managedFields, warnings, messages,
events. Only what a server chooses is not compared: uids, times, generated names, addresses, and the numbers of resourceVersions, whose
order is.

CI runs the cases on the embedded server, in process and over HTTP, and on a fresh real control plane, so that what was recorded cannot
rot. It also runs random sequences of creates, updates, patches of all types, applies by several managers, deletions, status, scale,
lists and watches on both and compares each answer and each event.

| area | cases | the same | deviations |
| --- | ---: | ---: | --- |
${rows.join('\n')}
| all | ${all.length} | ${all.filter(({ id }) => passed.has(id)).length} | |

## Deviations

${deviations.join('\n').trimEnd()}

## The cases

${titles.join('\n').trimEnd()}
`
}
