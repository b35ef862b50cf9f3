/** Every Deployment with two or more replicas gets a PodDisruptionBudget, so that draining a node never takes all of them at once. */
import { onReconcile, owns } from 'tsop'
import { Deployment, PodDisruptionBudget } from 'tsop/kinds'

/** `none` on a Deployment: it wants no budget. */
const LABEL = 'example.com/disruption-budget'

export class BudgetHandler {
  @owns(PodDisruptionBudget)
  budget(deployment: Deployment) {
    const { replicas = 1, selector } = deployment.spec ?? {}
    if (replicas < 2 || selector === undefined || deployment.metadata.labels?.[LABEL] === 'none') return undefined
    return { spec: { maxUnavailable: 1, selector } }
  }

  /** The builder is all there is to do. */
  @onReconcile(Deployment)
  reconcile() {}
}
