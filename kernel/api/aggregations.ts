import type { ResultField } from './wire.js';

/** What is known of the aggregation that made a field. */
type Aggregation = NonNullable<ResultField['agg']>;

/** Names of aggregates in an answer, if they are not those of a query: clients refuse an answer with a name that they do not know. */
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

/** Those for which answers have no name; they are called `computed`, and their first argument is the name. */
const unnamed: readonly string[] = ['phrases', 'presence'];

const queryNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(wireNames)
    .filter(([name]) => !name.startsWith('percentile'))
    .map(([name, wire]) => [wire, name]),
);

/** Returns an aggregation as an answer names it. */
export function toWire({ name, args = [], ...rest }: Aggregation): Aggregation {
  if (unnamed.includes(name)) return { name: 'computed', args: [name, ...args], ...rest };
  return { name: wireNames[name] ?? name, args, ...rest };
}

/** Returns the aggregation of a field of an answer as a query names it. */
export function fromWire(agg: Aggregation, type: ResultField['type']): Aggregation {
  const [first, ...args] = agg.args ?? [];
  if (agg.name === 'computed' && unnamed.includes(String(first)))
    return { ...agg, name: String(first), args };
  const several = /^percentiles(if)?$/.exec(agg.name);
  if (several === null) return { ...agg, name: queryNames[agg.name] ?? agg.name };
  const isArray = type.split('|').some(each => arrayTypes.includes(each));
  return { ...agg, name: `${isArray ? 'percentiles_array' : 'percentile'}${several[1] ?? ''}` };
}

/** Types of a field whose cells may be arrays. */
const arrayTypes: readonly string[] = ['array', 'dynamic', 'unknown'];
