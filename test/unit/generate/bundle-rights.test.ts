import { expect } from 'chai'
import { type BundleModel, bundleFiles } from '../../../lib/generate/bundle.ts'
import type { Manifest } from '../../../lib/generate/operator.ts'
import { parseYaml } from '../../../lib/resource/yaml.ts'
import { STORIES } from './stories.ts'
import { modelOf, SERVICE_ACCOUNT, type Story, underRoles } from './under-roles.ts'

/** Proved by running: what OLM makes of the rights in a bundle is enough for all that the operator does. */
describe('the rights in a bundle', () => {
  for (const story of STORIES) {
    it(`are enough for the ${story.name}`, async () => {
      const { refused } = await underRoles(story, granted(story))
      expect(refused).to.deep.equal([])
    }).timeout(20_000)
  }

  it('are needed', async () => {
    const [story] = STORIES as [Story]
    const { refused } = await underRoles(
      story,
      granted(story).filter(({ kind }) => !kind.startsWith('Cluster')),
    )
    expect(refused).to.not.deep.equal([])
  })
})

interface Rights {
  readonly serviceAccountName: string
  readonly rules: readonly object[]
}

/** As OLM does it: a role for each entry, in the namespace of the operator or everywhere, bound to the account that the entry names. */
function granted(story: Story): Manifest[] {
  const file = bundleFiles(bundleOf(story)).find(({ path }) => path.endsWith('.clusterserviceversion.yaml'))
  const [csv] = parseYaml(file?.content ?? '').map(({ value }) => value as { spec: { install: { spec: Record<string, Rights[]> } } })
  const { permissions = [], clusterPermissions = [] } = csv?.spec.install.spec ?? {}
  return [
    ...permissions.flatMap((rights, i) => grant('', `in-namespace-${i}`, SERVICE_ACCOUNT.namespace, rights)),
    ...clusterPermissions.flatMap((rights, i) => grant('Cluster', `everywhere-${i}`, undefined, rights)),
  ]
}

function grant(prefix: '' | 'Cluster', name: string, namespace: string | undefined, { serviceAccountName, rules }: Rights): Manifest[] {
  const apiGroup = 'rbac.authorization.k8s.io'
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
  const subjects = [{ kind: 'ServiceAccount', name: serviceAccountName, namespace: SERVICE_ACCOUNT.namespace }]
  return [
    { apiVersion: `${apiGroup}/v1`, kind: `${prefix}Role`, metadata, rules },
    { apiVersion: `${apiGroup}/v1`, kind: `${prefix}RoleBinding`, metadata, subjects, roleRef: { apiGroup, kind: `${prefix}Role`, name } },
  ]
}

function bundleOf(story: Story): BundleModel {
  const said = {
    displayName: 'x',
    version: '1.0.0',
    provider: { name: 'x' },
    capabilities: 'Basic Install',
    minKubeVersion: '1.30.0',
    channels: ['stable'],
  }
  const unsaid = { maintainers: [], links: [], keywords: [], categories: [], skips: [], architectures: [], kinds: {} }
  const deployed = { image: 'x', replicas: 2, drainSeconds: 20, metricsSecure: false }
  return { ...modelOf(story), ...deployed, facts: { ...said, ...unsaid }, examples: [] }
}
