import { expect } from 'chai'
import { permissionFor } from '../../../lib/generate/observed.ts'

describe('what a request needs', () => {
  const cases: [string, string, string | undefined][] = [
    ['GET', '/api/v1/namespaces/a/pods/b', 'get pods @a'],
    ['GET', '/api/v1/namespaces/a/pods/b/log', 'get pods/log @a'],
    ['GET', '/api/v1/pods?limit=500', 'list pods'],
    ['GET', '/apis/apps/v1/namespaces/a/deployments?watch=1&x=y', 'watch apps deployments @a'],
    ['GET', '/apis/apps/v1/deployments?watch=true', 'watch apps deployments'],
    ['POST', '/apis/apps/v1/namespaces/a/deployments', 'create apps deployments @a'],
    ['PUT', '/api/v1/namespaces/a/secrets/b', 'update secrets @a'],
    ['PATCH', '/apis/example.com/v1/sites/b/status?force=true', 'patch example.com sites/status'],
    ['DELETE', '/api/v1/namespaces/a/secrets/b', 'delete secrets @a'],
    ['DELETE', '/api/v1/namespaces/a/secrets', 'deletecollection secrets @a'],
    ['GET', '/api/v1/namespaces/a', 'get namespaces'],
    ['PATCH', '/api/v1/namespaces/a/status', 'patch namespaces/status'],
    ['GET', '/api/v1/namespaces?watch=1', 'watch namespaces'],
    ['GET', '/apis/apps/v1', undefined],
    ['GET', '/version', undefined],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', undefined],
  ]
  for (const [method, path, expected] of cases)
    it(`${method} ${path}: ${expected ?? 'nothing'}`, () => {
      const found = permissionFor({ method: method as 'GET', path })
      const text = found && [found.verb, found.group, found.resource, found.namespace && `@${found.namespace}`].filter(Boolean).join(' ')
      expect(text).to.equal(expected)
    })
})
