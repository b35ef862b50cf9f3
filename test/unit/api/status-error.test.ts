import { expect } from 'chai'
import {
  ConnectionError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isTransient,
  isUnauthorized,
  statusError,
  statusErrorOf,
  TimeoutError,
} from '../../../lib/api/status-error.ts'

function answer(status: number, body: object | string = '', headers: Record<string, string> = {}) {
  const text =
    typeof body === 'string' ? body : JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, ...body })
  return statusError('PATCH', '/apis/apps/v1/namespaces/a/deployments/b?dryRun=All', status, headers, Buffer.from(text))
}

describe('StatusError', () => {
  it('tells what the server said, and about which request', () => {
    const error = answer(409, { reason: 'Conflict', message: 'the object has been modified', details: { name: 'b', kind: 'deployments' } })
    expect(error.message).to.equal('the object has been modified (PATCH /apis/apps/v1/namespaces/a/deployments/b: 409 Conflict)')
    expect(error).to.include({
      name: 'StatusError',
      status: 409,
      reason: 'Conflict',
      request: 'PATCH /apis/apps/v1/namespaces/a/deployments/b',
    })
    expect(error.details).to.deep.equal({ name: 'b', kind: 'deployments' })
  })

  it('tells the first line of an answer that is no Status', () => {
    expect(answer(502, '<html>bad gateway</html>\nmore').message).to.match(/^<html>bad gateway<\/html> \(PATCH .*: 502\)$/)
    expect(answer(404, '404 page not found\n')).to.include({ reason: '' })
    expect(answer(500).message).to.match(/^the server gave no reason/)
    expect(answer(500, '{"kind":"Sta').message).to.contain('{"kind":"Sta')
    expect(answer(500, 'x'.repeat(5000)).message.length).to.be.below(400)
  })

  it('knows how long to stay away, from the header or the details', () => {
    expect(answer(429, '', { 'retry-after': '3' }).retryAfterMs).to.equal(3000)
    expect(answer(429, { details: { retryAfterSeconds: 2 } }).retryAfterMs).to.equal(2000)
    expect(answer(429, { details: { retryAfterSeconds: 2 } }, { 'retry-after': '3' }).retryAfterMs).to.equal(3000)
    expect(answer(429, '', { 'retry-after': 'soon' }).retryAfterMs).to.equal(undefined)
    expect(answer(429).retryAfterMs).to.equal(undefined)
  })

  it('is made of the Status in an ERROR event of a watch, too', () => {
    const error = statusErrorOf({ code: 410, reason: 'Expired', message: 'too old resource version' }, 'GET', '/api/v1/pods?watch=1')
    expect(error.message).to.equal('too old resource version (GET /api/v1/pods: 410 Expired)')
  })

  for (const [is, yes, no] of [
    [isNotFound, answer(404, { reason: 'NotFound' }), answer(410)],
    [isConflict, answer(409, { reason: 'AlreadyExists' }), answer(404)],
    [isAlreadyExists, answer(409, { reason: 'AlreadyExists' }), answer(409, { reason: 'Conflict' })],
    [isGone, answer(410), answer(404)],
    [isGone, statusErrorOf({ reason: 'Expired' }, 'GET', '/x'), answer(500)],
    [isGone, statusErrorOf({ code: 500, reason: 'Gone' }, 'GET', '/x'), answer(500)],
    [isForbidden, answer(403), answer(401)],
    [isUnauthorized, answer(401), answer(403)],
    [isInvalid, answer(422), answer(400)],
    [
      isNamespaceTerminating,
      answer(403, { details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
      answer(403, { reason: 'Forbidden' }),
    ],
    [isTransient, answer(429), answer(409)],
    [isTransient, answer(500), answer(404)],
    [isTransient, new TimeoutError('late'), new TypeError('wrong')],
    [isTransient, new ConnectionError('broken'), undefined],
  ] as const) {
    it(`${is.name} tells ${yes.message} from ${no?.message}`, () => {
      expect([is(yes), is(no)]).to.deep.equal([true, false])
    })
  }
})
