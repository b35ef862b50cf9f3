import { expect } from 'chai'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { readManifests } from '../../../lib/cli/read-manifests.ts'
import { Project } from './project.ts'

const object = (kind: string, name: string, apiVersion = 'v1') => `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n`

describe('manifests', () => {
  let project: Project
  afterEach(() => project.remove())

  async function read(files: Record<string, string>, ...paths: string[]): Promise<string[]> {
    project = new Project(files)
    const manifests = readManifests(paths, project.path)
    return manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  }

  async function problem(files: Record<string, string>, ...paths: string[]): Promise<string> {
    try {
      await read(files, ...paths)
    } catch (error) {
      expect(error).to.be.instanceOf(CliError).with.property('exitCode', 3)
      return (error as Error).message
    }
    throw new Error('it was accepted')
  }

  it('are read from YAML of several documents, JSON and lists, in their order', async () => {
    const files = {
      'a.yaml': `---\n# nothing\n---\n${object('Secret', 'one')}---\n${object('Pod', 'two')}...\n`,
      'b.json': '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"three"}}',
      'c.yml':
        'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: four}}\n- {apiVersion: v1, kind: Pod, metadata: {name: five}}',
      'empty.yaml': '',
    }
    expect(await read(files, 'a.yaml', 'b.json', 'c.yml', 'empty.yaml')).to.deep.equal([
      'Secret one',
      'Pod two',
      'Pod three',
      'Pod four',
      'Pod five',
    ])
  })

  it('come with namespaces first, then definitions', async () => {
    const files = {
      'x/1.yaml': object('Widget', 'w', 'example.com/v1'),
      'x/2.yaml': `${object('CustomResourceDefinition', 'd', 'apiextensions.k8s.io/v1')}---\n${object('Namespace', 'shop')}`,
      'x/3.txt': 'no manifest',
      'x/sub/4.yaml': object('Pod', 'in-subdirectory'),
    }
    expect(await read(files, 'x')).to.deep.equal(['Namespace shop', 'CustomResourceDefinition d', 'Widget w'])
  })

  it('have the values that kubectl would send', () => {
    project = new Project({ 'a.yaml': `${object('ConfigMap', 'a')}  creationTimestamp: 2026-01-01T00:00:00Z\nmode: 0755\nenabled: yes\n` })
    const [manifest] = readManifests(['a.yaml'], project.path)
    expect(manifest).to.deep.include({ metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' }, mode: 493, enabled: true })
  })

  it('say where they are wrong', async () => {
    expect(await problem({}, 'nope')).to.match(/^no such file or directory: nope/)
    await project.remove()
    expect(await problem({ 'x/a.yaml/b.txt': '' }, 'x')).to.match(/^cannot read x\/a\.yaml: EISDIR/)
    await project.remove()
    expect(await problem({ 'x/a.txt': '' }, 'x')).to.match(/^x: no .yaml, .yml or .json file/)
    await project.remove()
    expect(await problem({ 'a.yaml': `${object('Pod', 'a')}---\nkind: [Pod\n` }, 'a.yaml')).to.match(/^a\.yaml:\d+:\d+: /)
    await project.remove()
    expect(await problem({ 'a.yaml': `${object('Pod', 'a')}---\nkind: Pod\nmetadata: {name: x}\n` }, 'a.yaml')).to.equal(
      'a.yaml:6: apiVersion is missing',
    )
    await project.remove()
    expect(await problem({ 'a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {generateName: x}\n' }, 'a.yaml')).to.equal(
      'a.yaml:1: Pod without metadata.name',
    )
    await project.remove()
    expect(await problem({ 'a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: true}\n' }, 'a.yaml')).to.equal(
      'a.yaml:1: metadata.name must be a text, not true; quote it',
    )
    await project.remove()
    expect(await problem({ 'a.yaml': 'just text' }, 'a.yaml')).to.equal('a.yaml:1: expected a Kubernetes object')
  })
})
