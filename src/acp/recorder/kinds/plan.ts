/**
 * Plans as records; each kind of plan has its field (M8).
 */
import type { AsrRecord } from '../../../record/record.js'
import { foldPlan, type PlanState } from '../../fold/plan.js'
import { hasOther, isObject, objectOf, textOf } from '../../json.js'
import { findSingle, type UpdatedKind } from '../slot.js'

const FIELD_OF_TYPE: ReadonlyMap<unknown, string> = new Map([
  ['items', 'entries'],
  ['markdown', 'content'],
  ['file', 'uri'],
])

export const planKind: UpdatedKind<PlanState> = {
  name: 'plan',
  idOf: ({ plan }) => (isObject(plan) ? textOf(plan.planId) : undefined),
  fold: foldPlan,
  slots({ planId, plan, meta }) {
    const field = FIELD_OF_TYPE.get(plan.type)
    const hasMore = field === undefined || hasOther(plan, ['type', 'planId', '_meta', field])
    const body: AsrRecord = {
      type: 'plan',
      planId,
      planType: plan.type,
      ...(field !== undefined && plan[field] !== undefined && { [field]: plan[field] }),
      assembly: 'folded',
      ...(meta && { _meta: meta }),
      ...(hasMore && { native: { record: { plan } } }),
    }
    return [{ name: 'plan', body }]
  },
  find: (stream, id) => findSingle(stream, 'plan', id),
  revive(planId, bodies) {
    const body = bodies.get('plan') as AsrRecord
    const kept = objectOf(objectOf(objectOf(body.native)?.record)?.plan)
    const field = FIELD_OF_TYPE.get(body.planType) ?? 'entries'
    const plan = kept ?? { type: body.planType, planId, [field]: body[field] }
    return { planId, plan, meta: objectOf(body._meta) }
  },
}
