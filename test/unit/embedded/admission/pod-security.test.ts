import { expect } from 'chai'
import { startWorld, text, type World } from './world.ts'

const SECURE = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

describe('Pod Security admission', () => {
  let world: World

  before(async () => {
    world = await startWorld()
    for (const level of ['baseline', 'restricted']) {
      const labels = { 'pod-security.kubernetes.io/enforce': level, 'pod-security.kubernetes.io/warn': 'restricted' }
      await world.post('/api/v1/namespaces', { metadata: { name: level, labels } })
    }
  })
  after(() => world.server.close())

  const pod = (level: string, spec: object, container: object = {}) =>
    world.post(`/api/v1/namespaces/${level}/pods?dryRun=All`, {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'x', ...container }], ...spec },
    })

  it('lets secure pods pass without a word', async () => {
    const answer = await pod('restricted', {}, { securityContext: SECURE })
    expect([answer.status, answer.headers.warning]).to.deep.equal([201, undefined])
  })

  it('warns of what only a stricter standard forbids', async () => {
    const answer = await pod('baseline', {}, { securityContext: { ...SECURE, runAsNonRoot: undefined } })
    expect(answer.status).to.equal(201)
    expect(answer.headers.warning).to.deep.equal([
      '299 - "would violate PodSecurity \\"restricted:latest\\": runAsNonRoot != true (pod or container \\"c\\" must set securityContext.runAsNonRoot=true)"',
    ])
  })

  it('tells all that is wrong', async () => {
    const answer = await pod('restricted', { hostNetwork: true }, { securityContext: { privileged: true } })
    expect(text(answer)).to.equal(
      '403 pods "p" is forbidden: violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true), privileged (container "c" must not set ' +
        'securityContext.privileged=true), allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set ' +
        'securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    )
  })

  const baseline: readonly [string, object, object, string][] = [
    [
      'capabilities',
      {},
      { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } },
      'non-default capabilities (container "c" must not include "SYS_ADMIN" in',
    ],
    ['volumes of the host', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, {}, 'hostPath volumes (volume "v")'],
    ['ports of the host', {}, { ports: [{ containerPort: 80, hostPort: 80 }] }, 'hostPort (container "c" uses hostPort 80)'],
    [
      'a profile',
      { securityContext: { seccompProfile: { type: 'Unconfined' } } },
      {},
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    ['a sysctl', { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }, {}, 'forbidden sysctls (kernel.msgmax)'],
    [
      'another SELinux type',
      {},
      { securityContext: { seLinuxOptions: { type: 'x' } } },
      'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "x")',
    ],
  ]
  for (const [what, spec, container, expected] of baseline) {
    it(`forbids ${what} by baseline`, async () => {
      expect(text(await pod('baseline', spec, container))).to.include(`violates PodSecurity "baseline:latest": ${expected}`)
    })
  }

  it('only warns of workloads, which may still be changed', async () => {
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { hostPID: true, containers: [{ name: 'c', image: 'x', securityContext: SECURE }] },
    }
    const answer = await world.post('/apis/apps/v1/namespaces/restricted/deployments?dryRun=All', {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template },
    })
    expect(answer.status).to.equal(201)
    expect(answer.headers.warning).to.deep.equal([
      '299 - "would violate PodSecurity \\"restricted:latest\\": host namespaces (hostPID=true)"',
    ])
  })
})
