/** The requests of the shop as SQL: the spans of a window, which the samples of traces and of logs are made of. */
import { sqlText } from '../duckdb/duckdb-literal.js';
import { bits, hex16, incident, pick, rhythm, uniform } from './random.js';
import { CHOICES, ENTRANCE, FORMER_NAMES, JOURNEYS, type Stop, scenariosOf } from './shop.js';

/** One request at most in each slot of a second; its spans lie within the minute that follows. */
export const slotNs = 1_000_000_000n;
const spreadNs = 60_000_000_000n;
const minute = 60e9;
/** What one span takes itself at most, so that all of a request lie within `spreadNs`. */
const longestNs = 4e9;

/** The seed of what differs from span to span, and of what all of a request share. */
export const span = 'i * 16 + j';
export const trace = 'i';

const scenarios = JOURNEYS.flatMap((journey, place) =>
  scenariosOf(journey).map(scenario => ({ ...scenario, journey: place })),
);
const stops = scenarios.flatMap(scenario => scenario.stops.map(stop => ({ ...stop, scenario })));
const firstStops = scenarios.map((_, index) =>
  scenarios.slice(0, index).reduce((sum, { stops }) => sum + stops.length, 0),
);
const longest = Math.max(...scenarios.map(scenario => scenario.stops.length));
const positions = Array.from({ length: longest }, (_, index) => index);

type Entry = string | number | null | readonly number[];

/** The entry at a place that is counted from 0, of a list of constants. */
function at(entries: readonly Entry[], place: string): string {
  return `[${entries.map(written).join(', ')}][${place} + 1]`;
}

function written(entry: Entry): string {
  if (typeof entry === 'string') return sqlText(entry);
  return entry !== null && typeof entry === 'object' ? `[${entry.join(', ')}]` : String(entry ?? 'NULL');
}

/** What each span has by its place: SQL over a row of {@link spansBetween}. */
export function ofStop(read: (stop: (typeof stops)[number]) => string | number | null): string {
  return at(stops.map(read), 'stop');
}

const nameOfService = `CASE WHEN is_former THEN ${ofStop(({ step }) => FORMER_NAMES[step.service] ?? step.service)} ELSE ${ofStop(({ step }) => step.service)} END`;
/** A third of the requests with a root come from the load generator, the others from browsers. */
const service = `CASE WHEN ${ofStop(({ step }) => Number(step.service === ENTRANCE))} = 1 AND by_generator THEN 'loadgenerator' ELSE ${nameOfService} END`;

/** The scenario that a request takes: its journey by weight, then one of its failures by their shares. */
const scenario = `CASE journey ${JOURNEYS.map((journey, place) => {
  const own = scenarios.flatMap((each, index) => (each.journey === place ? [index] : []));
  let [usual, outage] = [0, 0];
  const failures = journey.failures.map((failure, index) => {
    usual += failure.share;
    outage += failure.outage ?? failure.share;
    return `WHEN chance < CASE WHEN slow THEN ${outage} ELSE ${usual} END THEN ${own[index + 1]}`;
  });
  return `WHEN ${place} THEN CASE ${failures.join(' ')} ELSE ${own[0]} END`;
}).join(' ')} END`;

/** Nanoseconds that a span takes itself, log-logistic: what fails waits for long, and so do payments in an outage. */
function ownNs(position: number): string {
  const chance = uniform(`i * 16 + ${position}`, 18);
  const factor = `CASE ${position} WHEN origin THEN CASE WHEN slow THEN 60 ELSE 9 END WHEN payment THEN CASE WHEN slow THEN 6 ELSE 1 END ELSE 1 END`;
  const own = `greatest(190, least(${longestNs}, medians[${position + 1}] * 1e6 * pow(${chance} / (1 - ${chance}), 0.42) * ${factor}))::BIGINT`;
  return `CASE WHEN size > ${position} THEN ${own} END`;
}

/** Nanoseconds from the start of the request to that of each span: all before it, but for what its callers do after their calls, and for calls made together with it. */
const starts = perScenario(({ stops }) =>
  stops.map(({ above, together }, place) => {
    const [first, own] = together ?? [0, 0];
    const later = above.map(each => `after_${each}`);
    return [`sum_${place}`, ...later, ...(own === first ? [] : [`(sum_${own} - sum_${first})`])].join(' - ');
  }),
);
const durations = perScenario(({ stops }) =>
  stops.map(({ last }, place) => `sum_${last + 1} - sum_${place}`),
);

/** A list that depends on the scenario of a request, of SQL. */
function perScenario(list: (scenario: (typeof scenarios)[number]) => readonly string[]): string {
  return `CASE scenario ${scenarios.map((each, index) => `WHEN ${index} THEN [${list(each).join(', ')}]`).join(' ')} END`;
}

/** Requests, with the starts and durations of their spans. */
function requests(first: bigint, last: bigint): string {
  const traceStart = `i * ${slotNs} AS slot_ns, i * ${slotNs} + (${uniform(trace, 2)} * ${slotNs - 1n})::BIGINT AS trace_ns`;
  const begun = `SELECT i, ${traceStart} FROM range(${first}, ${last}) t(i) WHERE ${uniform(trace, 3)} < ${rhythm(`i * ${slotNs}`)}`;
  const slow = incident('slot_ns', 920, 14_400e9, 0.7, 6 * minute, 16 * minute);
  const chosen = `SELECT *, ${slow} AS slow, ${pick(CHOICES, uniform(trace, 8))}::BIGINT AS journey, ${uniform(trace, 10)} AS chance, ${uniform(trace, 11)} < 0.3 AS by_generator, ${uniform(trace, 12)} < 0.3 AS is_former FROM (${begun})`;
  const placed = `SELECT *, ${scenario} AS scenario FROM (${chosen})`;
  const ofScenario = (read: (scenario: (typeof scenarios)[number]) => Entry) =>
    at(scenarios.map(read), 'scenario');
  const facts = {
    first_stop: at(firstStops, 'scenario'),
    size: ofScenario(({ stops }) => stops.length),
    medians: ofScenario(({ stops }) => stops.map(({ step }) => step.ms)),
    origin: ofScenario(({ stops }) => stops.findIndex(({ isOrigin }) => isOrigin)),
    payment: ofScenario(({ stops }) => stops.findIndex(isPayment)),
    message: ofScenario(({ failure }) => failure?.message ?? null),
  };
  const known = columns('*', facts, placed);
  const owns = Object.fromEntries(positions.map(each => [`own_${each}`, ownNs(each)]));
  const sums = Object.fromEntries(
    [...positions, longest].map(each => [
      `sum_${each}`,
      ['0::BIGINT', ...positions.slice(0, each).map(before => `own_${before}`)].join(' + '),
    ]),
  );
  // Two fifths of what a span takes itself come after the last of its calls.
  const afters = Object.fromEntries(
    positions.map(each => [`after_${each}`, `(own_${each} - own_${each} * 3 // 5)`]),
  );
  const timed = columns('*', { ...sums, ...afters }, columns('*', owns, known));
  const kept = 'i, slot_ns, trace_ns, slow, by_generator, is_former, first_stop, size, message';
  return columns(kept, { starts, durations }, timed);
}

function isPayment({ step }: Stop): boolean {
  return step.service === 'payment' && step.kind === 'server';
}

/** A SELECT of what `rows` has, and of columns by name. */
function columns(kept: string, named: Readonly<Record<string, string>>, rows: string): string {
  const written = Object.entries(named).map(([name, sql]) => `${sql} AS ${name}`);
  return `SELECT ${[kept, ...written].join(', ')} FROM (${rows})`;
}

/**
 * Returns the spans of the requests that begin in a window or in the minute before it: a row each, with `i` of its
 * request and `j` of its place in it, `ns` of its start, `duration`, `service`, `failed` and what is read by {@link ofStop}.
 */
export function spansBetween(startOfWindow: bigint, endOfWindow: bigint): string {
  const first = (startOfWindow - spreadNs) / slotNs - 1n;
  const last = endOfWindow / slotNs + 1n;
  const each = {
    j: 'unnest(range(size))',
    start_ns: 'unnest(starts)',
    duration: 'unnest(durations)',
  };
  const unnested = columns('* EXCLUDE (starts, durations)', each, requests(first, last));
  const placed = columns('*', { stop: 'first_stop + j', ns: 'trace_ns + start_ns' }, unnested);
  const failed = `${ofStop(({ isFailed }) => Number(isFailed))} = 1`;
  return columns('*', { failed, service }, placed);
}

/** Whether the span is of the trace that a message of the request leads to. */
export const isLater = `${ofStop(({ isLater }) => Number(isLater))} = 1`;

/** The place in its request of a span's parent; null for a root. */
export const parentPlace = ofStop(({ parent }) => parent ?? null);

/** The place in its request of the span that sent the message; null if it sends none. */
export const producerPlace = ofStop(({ scenario }) => {
  const place = scenario.stops.findIndex(({ step }) => step.kind === 'producer');
  return place < 0 ? null : place;
});

/** Whether the span is that which a failure began with. */
export const isOrigin = `${ofStop(stop => Number(stop.isOrigin))} = 1`;

const traceIdOf = (salt: number): string => `(${hex16(trace, salt)} || ${hex16(trace, salt + 1)})`;

/** The id of the trace of a request, and that of the trace of a span, which another may be that its message led to. */
export const requestId = traceIdOf(5);
export const traceId = `CASE WHEN ${isLater} THEN ${traceIdOf(38)} ELSE ${requestId} END`;

/** The id of the span at a place in its request. */
export function spanIdOf(place: string): string {
  return hex16(`i * 16 + ${place}`, 24);
}

/** SQL of values that all spans of a request share. */
export const user = `(${bits(trace, 32)} % 10000)`;
export const amount = `round(5 + 495 * ${uniform(trace, 31)}, 2)`;
