/** The requests of the shop as SQL: the spans of a window, shared by the samples of traces and logs. */
import { sqlText } from '../duckdb/duckdb-literal.js';
import { bits, hex16, incident, pick, rhythm, uniform } from './random.js';
import { CHOICES, ENTRANCE, FORMER_NAMES, JOURNEYS, type Stop, scenariosOf } from './shop.js';

/** At most one request per slot of one second; its spans lie within the following minute. */
export const slotNs = 1_000_000_000n;
const spreadNs = 60_000_000_000n;
const minute = 60e9;
/** Maximum own time of a span, which keeps all spans of a request within `spreadNs`. */
const longestNs = 4e9;

/** Seeds for values that differ from span to span, and for those shared by all spans of a request. */
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

/** Returns the entry at a zero-based position in a list of constants. */
function at(entries: readonly Entry[], place: string): string {
  return `[${entries.map(written).join(', ')}][${place} + 1]`;
}

function written(entry: Entry): string {
  if (typeof entry === 'string') return sqlText(entry);
  return entry !== null && typeof entry === 'object' ? `[${entry.join(', ')}]` : String(entry ?? 'NULL');
}

/** Returns the value of each span by its position, as SQL over a row of {@link spansBetween}. */
export function ofStop(read: (stop: (typeof stops)[number]) => string | number | null): string {
  return at(stops.map(read), 'stop');
}

const nameOfService = `CASE WHEN is_former THEN ${ofStop(({ step }) => FORMER_NAMES[step.service] ?? step.service)} ELSE ${ofStop(({ step }) => step.service)} END`;
/** A third of the requests with a root come from the load generator, the rest from browsers. */
const service = `CASE WHEN ${ofStop(({ step }) => Number(step.service === ENTRANCE))} = 1 AND by_generator THEN 'loadgenerator' ELSE ${nameOfService} END`;

/** The scenario of a request: its journey by weight, then one of its failures by their shares. */
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

/** Returns the own time of a span in nanoseconds, log-logistic: failing spans wait a long time, and so do payments in an outage. */
function ownNs(position: number): string {
  const chance = uniform(`i * 16 + ${position}`, 18);
  const factor = `CASE ${position} WHEN origin THEN CASE WHEN slow THEN 60 ELSE 9 END WHEN payment THEN CASE WHEN slow THEN 6 ELSE 1 END ELSE 1 END`;
  const own = `greatest(190, least(${longestNs}, medians[${position + 1}] * 1e6 * pow(${chance} / (1 - ${chance}), 0.42) * ${factor}))::BIGINT`;
  return `CASE WHEN size > ${position} THEN ${own} END`;
}

/**
 * Nanoseconds from the start of the request to the start of each span: everything before it, except the time that callers spend after their
 * calls, and parallel calls.
 */
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

/** Returns SQL of a list that depends on the scenario of a request. */
function perScenario(list: (scenario: (typeof scenarios)[number]) => readonly string[]): string {
  return `CASE scenario ${scenarios.map((each, index) => `WHEN ${index} THEN [${list(each).join(', ')}]`).join(' ')} END`;
}

/** Returns requests with the starts and durations of their spans. */
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
  // Two fifths of a span's own time come after its last call.
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

/** Returns a SELECT of the columns of `rows` plus the named ones. */
function columns(kept: string, named: Readonly<Record<string, string>>, rows: string): string {
  const written = Object.entries(named).map(([name, sql]) => `${sql} AS ${name}`);
  return `SELECT ${[kept, ...written].join(', ')} FROM (${rows})`;
}

/**
 * Returns the spans of requests that begin in a window or in the minute before it, one row each: `i`, the number of its request; `j`, its
 * position in it; the start `ns`; `duration`, `service`, `failed`, and the inputs of {@link ofStop}.
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

/** Whether the span is in the trace started by a message of the request. */
export const isLater = `${ofStop(({ isLater }) => Number(isLater))} = 1`;

/** Position of a span's parent in its request; null for a root. */
export const parentPlace = ofStop(({ parent }) => parent ?? null);

/** Position of the span that sends the message in its request; null if none does. */
export const producerPlace = ofStop(({ scenario }) => {
  const place = scenario.stops.findIndex(({ step }) => step.kind === 'producer');
  return place < 0 ? null : place;
});

/** Whether a failure began in the span. */
export const isOrigin = `${ofStop(stop => Number(stop.isOrigin))} = 1`;

const traceIdOf = (salt: number): string => `(${hex16(trace, salt)} || ${hex16(trace, salt + 1)})`;

/** The id of a request's trace, and of a span's trace, which may be the one started by a message. */
export const requestId = traceIdOf(5);
export const traceId = `CASE WHEN ${isLater} THEN ${traceIdOf(38)} ELSE ${requestId} END`;

/** Returns the id of the span at a position in its request. */
export function spanIdOf(place: string): string {
  return hex16(`i * 16 + ${place}`, 24);
}

/** SQL of values shared by all spans of a request. */
export const user = `(${bits(trace, 32)} % 10000)`;
export const amount = `round(5 + 495 * ${uniform(trace, 31)}, 2)`;
