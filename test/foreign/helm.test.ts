/** helm cannot tell the embedded server from a real one: definitions, hooks, lookups, revisions, failures, and their ends. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { embeddedServer, realServer, type Server } from './servers.ts'
import { runChapter, transcript } from './shell.ts'

const LINES = [
  'helm install one chart --wait --timeout 60s',
  'helm install one chart',
  'helm list',
  'kubectl get configmap one-found -o jsonpath="{.data}"',
  'helm upgrade one chart --set message=bye --wait --timeout 60s',
  'kubectl get gadgets,deployments,configmaps -l app.kubernetes.io/managed-by=Helm -o name',
  'kubectl get configmap one-found -o jsonpath="{.data}"',
  'kubectl get configmap one-post-upgrade -o jsonpath="{.data}"',
  'helm upgrade one chart --set replicas=-1',
  'helm list --all',
  'helm history one -o json | tr "," "\\n" | grep -E "revision|status|description"',
  'helm rollback one 1 --wait --timeout 60s',
  'kubectl get gadget one -o jsonpath="{.spec}"',
  'helm get values one',
  'helm status one',
  'kubectl get secrets --no-headers',
  'helm upgrade one chart --dry-run=server --set message=dry | grep -E "message|before"',
  'helm uninstall one --wait --timeout 60s',
  'kubectl get gadgets,deployments,services,secrets',
  'helm list --all',
  'kubectl delete crd gadgets.helm.example.com',
]

describe('helm', function () {
  this.timeout(600_000)
  let servers: readonly [real: Server, embedded: Server]
  let programs: readonly string[]

  before(async () => {
    const build = fileURLToPath(new URL('programs/build', import.meta.url))
    programs = [execFileSync(build, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()]
    servers = await Promise.all([realServer(), embeddedServer()])
  })
  after(async () => {
    for (const server of servers ?? []) await server.stop()
  })

  it('shows the same on both servers, from install to uninstall', async () => {
    const [expected = [], seen = []] = await Promise.all(servers.map((server) => runChapter({ ...server, programs }, 'helm', LINES)))
    for (const [i, each] of expected.entries()) expect(transcript(seen[i]!)).to.equal(transcript(each))
  })
})
