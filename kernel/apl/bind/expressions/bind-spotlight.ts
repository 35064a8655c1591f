import { basisOf } from '../../plan/lineage.js';
import type { AggregateCall, Aggregated, Relation } from '../../plan/plan.js';
import { idsIn } from '../../plan/plan-walk.js';

/** Times of an event, which any selected range distinguishes trivially: `*` does not include them. */
export const eventTimes: readonly string[] = ['_time', '_sysTime'];

/** Note on why the times are left out. */
export const timeNote = 'left out: the time of the event';

/** Returns a `spotlight` without the fields that its condition is computed from; other aggregates unchanged. */
export function withoutDeciding(found: Aggregated, relation: Relation): Aggregated {
  return found.call.name === 'spotlight' ? { ...found, call: omitting(found.call, relation) } : found;
}

function omitting(call: AggregateCall, relation: Relation): AggregateCall {
  const [condition, ...fields] = call.args;
  if (condition === undefined) return call;
  const basis = basisOf(condition, relation);
  const named = fields.map((arg, index) => ({ arg, name: call.labels?.[index] ?? '' }));
  const decides = (arg: AggregateCall['args'][number]) => {
    const ids = [...idsIn(arg)];
    return ids.length > 0 && ids.every(id => basis.has(id));
  };
  const kept = named.filter(({ arg }) => !decides(arg));
  const read = named.filter(({ arg }) => decides(arg));
  return {
    ...call,
    args: [condition, ...kept.map(({ arg }) => arg)],
    labels: kept.map(({ name }) => name),
    omitted: [
      ...read.map(({ name }) => ({ name, note: 'left out: the condition reads it' })),
      ...(call.omitted ?? []),
    ],
  };
}
