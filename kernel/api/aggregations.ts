import type { ResultField } from './wire.js';

/** The aggregation that produced a field. */
type Aggregation = NonNullable<ResultField['agg']>;

/** Names of aggregates in responses, if they differ from those in queries: clients reject a response with an unknown name. */
const wireNames: Readonly<Record<string, string>> = {
  arg_max: 'argmax',
  arg_min: 'argmin',
  dcount: 'distinct',
  dcountif: 'distinctif',
  make_list: 'makelist',
  make_list_if: 'makelistif',
  make_set: 'makeset',
  make_set_if: 'makesetif',
  percentile: 'percentiles',
  percentileif: 'percentilesif',
  percentiles_array: 'percentiles',
  percentiles_arrayif: 'percentilesif',
};

/** Aggregates without a name in responses: they are sent as `computed`, with the name as first argument. */
const unnamed: readonly string[] = ['phrases', 'presence'];

const queryNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(wireNames)
    .filter(([name]) => !name.startsWith('percentile'))
    .map(([name, wire]) => [wire, name]),
);

/** Returns an aggregation with its name as used in responses. */
export function toWire({ name, args = [], ...rest }: Aggregation): Aggregation {
  if (unnamed.includes(name)) return { name: 'computed', args: [name, ...args], ...rest };
  return { name: wireNames[name] ?? name, args, ...rest };
}

/** Returns the aggregation of a response's field with its name as used in queries. */
export function fromWire(agg: Aggregation, type: ResultField['type']): Aggregation {
  const [first, ...args] = agg.args ?? [];
  if (agg.name === 'computed' && unnamed.includes(String(first)))
    return { ...agg, name: String(first), args };
  const several = /^percentiles(if)?$/.exec(agg.name);
  if (several === null) return { ...agg, name: queryNames[agg.name] ?? agg.name };
  const isArray = type.split('|').some(each => arrayTypes.includes(each));
  return { ...agg, name: `${isArray ? 'percentiles_array' : 'percentile'}${several[1] ?? ''}` };
}

/** Field types whose cells may be arrays. */
const arrayTypes: readonly string[] = ['array', 'dynamic', 'unknown'];
