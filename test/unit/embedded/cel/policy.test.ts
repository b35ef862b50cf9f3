import { expect } from 'chai'
import { authorizerValue, type Question } from '../../../../lib/embedded/cel/library/authorization.ts'
import { compilePolicyExpression } from '../../../../lib/embedded/cel/policy.ts'
import { matchConditionErrors, policyExpressionErrors } from '../../../../lib/embedded/cel/policy-definition.ts'

const variables = ['object', 'oldObject', 'request', 'params', 'namespaceObject', 'authorizer', 'variables']

describe('compilePolicyExpression', () => {
  it('evaluates over data without a schema', () => {
    const program = compilePolicyExpression('object.spec.replicas <= params.max && oldObject == null', { variables, returns: 'bool' })
    expect(program.error).to.equal(undefined)
    expect([...program.uses].sort()).to.deep.equal(['object', 'oldObject', 'params'])
    expect(program.evaluate({ object: { spec: { replicas: 3 } }, params: { max: 5 } })).to.include({ ok: true, value: true })
    expect(program.evaluate({ object: { spec: {} }, params: {} })).to.include({ ok: false, message: 'no such key: replicas' })
  })

  it('makes values only when they are used', () => {
    const program = compilePolicyExpression('true || request.name == "x"', { variables })
    const request = () => {
      throw new Error('used')
    }
    expect(program.evaluate({ request })).to.include({ ok: true, value: true })
  })

  it('refuses members that a request does not have, and results of another type', () => {
    expect(compilePolicyExpression('request.nme == "x"', { variables }).error).to.include("undefined field 'nme'")
    expect(compilePolicyExpression('1 + 1', { variables, returns: 'bool' }).error).to.equal('must evaluate to bool but got int')
    expect(compilePolicyExpression('object.paused', { variables, returns: 'bool' }).error).to.equal('must evaluate to bool but got dyn')
  })

  it('asks the authorizer', () => {
    const asked: Question[] = []
    const authorizer = authorizerValue((question) => {
      asked.push(question)
      return { allowed: question.verb === 'get', reason: '' }
    })
    const text = 'authorizer.group("apps").resource("deployments").namespace("n").check("get").allowed()'
    expect(compilePolicyExpression(text, { variables }).evaluate({ authorizer })).to.include({ ok: true, value: true })
    expect(asked).to.deep.equal([{ verb: 'get', group: 'apps', resource: 'deployments', namespace: 'n' }])
  })

  it('stops at the limit of the cost', () => {
    const program = compilePolicyExpression('[1, 2, 3].all(x, [1, 2, 3].all(y, x + y > 0))', { variables })
    expect(program.evaluate({}, 10)).to.include({ ok: false, limitExceeded: true })
  })
})

describe('policyExpressionErrors', () => {
  it('compiles each expression of a policy where it stands, with variables of the type they have', () => {
    const errors = policyExpressionErrors({
      variables: [{ name: 'n', expression: 'size(object.spec.list)' }],
      matchConditions: [{ name: 'c', expression: 'params.x' }],
      validations: [
        { expression: 'variables.n > 1' },
        { expression: 'variables.n == "a"', messageExpression: '1' },
        { expression: 'variables.x' },
      ],
    })
    expect(errors.map(({ field }) => field)).to.deep.equal([
      'spec.matchConditions[0].expression',
      'spec.validations[1].expression',
      'spec.validations[1].messageExpression',
      'spec.validations[2].expression',
    ])
  })

  it('knows params only where the policy has a kind of them', () => {
    const validations = [{ expression: 'params.x == 1' }]
    expect(policyExpressionErrors({ validations })).to.have.length(1)
    expect(policyExpressionErrors({ validations, paramKind: {} })).to.deep.equal([])
  })
})

describe('matchConditionErrors', () => {
  it('wants a bool', () => {
    expect(matchConditionErrors([{ name: 'a', expression: 'request.operation' }], 'webhooks[0].matchConditions')).to.deep.equal([
      {
        type: 'Invalid',
        field: 'webhooks[0].matchConditions[0].expression',
        message: 'Invalid value: "request.operation": must evaluate to bool but got string',
      },
    ])
  })
})
