/**
 * Plans: each update is the whole plan, of whatever kind (M8).
 */
import { isObject, type JsonObject } from '../json.js'
import { patchedMeta } from './patch.js'

export interface PlanState {
  readonly planId: string
  readonly plan: JsonObject
  /** of the last snapshot: it is not patched (M4) */
  readonly meta: JsonObject | undefined
}

export function foldPlan(_state: PlanState | undefined, update: JsonObject): PlanState | undefined {
  const { plan, _meta } = update
  if (!isObject(plan) || typeof plan.planId !== 'string' || typeof plan.type !== 'string') return undefined
  return { planId: plan.planId, plan, meta: patchedMeta(patchedMeta(undefined, plan._meta), _meta) }
}
