import { writtenName } from '../../../apl/catalog/catalog-written.js';
import { conditionFor, conditionOn, isInfinite, isReal, realLiteral } from '../../../apl/editor/condition.js';
import { EXPLAINED_MIME, type ExplainedReference, explaining } from '../../../apl/editor/editor-events.js';
import { writtenText } from '../../../apl/syntax/tokens/quote.js';
import { rowTexts } from '../../../result/display/display-text.js';
import type { QueryResult } from '../../../result/result.js';
import { type SpotlightPart, spotlightEntries, strongest } from '../../../result/spotlight.js';
import { withoutTokens } from '../../../text.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { usageError } from '../magic-arguments.js';
import { textOutput } from '../output.js';
import { checkedQuery, type EventsBehind, eventsBehind, insteadOfQuery, onLastResult } from './behind.js';

/** The magic that finds what some events have in common and the remaining ones do not. */
export const explainMagics: readonly Magic[] = [
  {
    name: 'explain',
    usage:
      "%explain CONDITION | RESULT where CONDITION | ['DATASET'] | … | where CONDITION; %%explain CONDITION above a query",
    options: [],
    summary: 'show what distinguishes the events that meet a condition from the others',
    help: [
      'Compares every field of the events that meet the condition with the same field of the others, using `summarize spotlight(CONDITION, *)`. The fields that differ most come first, with their values as bars. To continue, use the query below, which selects the events that contain most of the difference; in JupyterLab, buttons add a cell that shows these events, or explains the selected ones among them. Differences that could be due to chance are left out, as are ids, times and the fields of the condition.',
      '',
      '- `%explain status == "500"`: the events behind the last result, which its query reads before it sorts, limits or summarizes them, over the same time range',
      '- `%explain errs where ms > 900`: the rows of the named result `errs`; `_` is the last result',
      '- `%explain [\'logs\'] | where service == "cart" | where status >= 500`: the failed events among the events of cart; the last `where` is the condition',
      '- `%%explain status == "500"`, above a query: the events behind that query, which itself does not run; JupyterLab adds such a cell for a value of a result or a part of a chart',
    ].join('\n'),
    arity: [0, 0],
    effects: ['query'],
    argument: 'result',
    verbatim: true,
    run: explain,
  },
];

async function explain(call: MagicCall, host: MagicHost): Promise<void> {
  const text = call.raw.trim();
  if (text === '') throw usageError(call.magic, 'give a condition, such as status == "500"');
  const { magic } = call;
  if (call.cell) return insteadOfQuery(magic, host, behind => answer(questionOf(magic, behind, text), host));
  const own = ownQuestion(text, call);
  if (own !== undefined) return answer(own, host);
  await onLastResult(host, cached =>
    answer(questionOf(magic, eventsBehind(cached, magic, host, INSTEAD), text), host),
  );
}

const INSTEAD =
  'Write `%explain _ where CONDITION` for its rows, or name the events: `%explain RESULT where CONDITION`.';

/** The events to compare, and the condition that divides them. */
interface Question extends EventsBehind {
  readonly condition: string;
}

/** A source at the start of the line: a name, or a quoted name in brackets. */
const SOURCE = /^(?:\[\s*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\s*\]|[\w-]+)/;

/** Returns the question of a line that names its events; undefined for a condition alone. */
function ownQuestion(text: string, { magic }: MagicCall): Question | undefined {
  const source = SOURCE.exec(text)?.[0] ?? '';
  const rest = text.slice(source.length).trimStart();
  if (source === '' || !/^(?:\||where\b)/.test(rest)) return undefined;
  const query = rest.startsWith('|') ? text : `${source} | ${rest}`;
  const { pipeline } = checkedQuery(magic, query);
  const last = pipeline?.operators.at(-1);
  if (pipeline === undefined || last?.kind !== 'where')
    throw usageError(magic, 'the line must end with `where` and the condition');
  const { from, to } = last.predicate;
  const before = pipeline.operators.at(-2)?.to ?? pipeline.source.to;
  return { events: query.slice(pipeline.from, before), condition: query.slice(from, to) };
}

function questionOf(magic: Magic, behind: EventsBehind, condition: string): Question {
  checkedQuery(magic, `${behind.events}\n| where ${condition}`);
  return { ...behind, condition };
}

async function answer({ events, condition, ...settings }: Question, host: MagicHost): Promise<void> {
  const result = await host.run(explaining(events, condition), settings);
  await host.showResult(result, result);
  const [first] = entriesOf(result);
  const best = first !== undefined && first.score > 0 ? strongest(first) : undefined;
  if (best === undefined) return;
  const types = await typesOf(events, settings, host);
  const found = best.parts.map(part => conditionOf(part, types.get(part.field))).join(' and ');
  goOn({ events, condition, found, ...timesOf(result) }, host);
}

function timesOf({ provenance: { startTime, endTime, profile } }: QueryResult) {
  return { startTime, endTime, profile };
}

/** Shows the query of the finding, with the data for buttons if the output may contain it. */
function goOn(reference: ExplainedReference, { io, plan }: MagicHost): void {
  const { events, condition, found } = reference;
  const text = `Continue with:\n${events}\n| where ${condition}\n| where ${found}`;
  const { data, metadata } = textOutput(text);
  const isSafe = plan.retains && withoutTokens(text) === text;
  io.display({ data: { ...(isSafe ? { [EXPLAINED_MIME]: reference } : {}), ...data }, metadata });
}

function entriesOf({ tables }: QueryResult): ReturnType<typeof spotlightEntries> {
  const text = rowTexts(tables[0])[0]?.[0] ?? undefined;
  return text === undefined ? [] : spotlightEntries(JSON.parse(text) as readonly unknown[]);
}

/** Returns the types of the events' fields, which the result does not include. */
async function typesOf(
  events: string,
  settings: Omit<Question, 'events' | 'condition'>,
  { run }: MagicHost,
): Promise<ReadonlyMap<string, string>> {
  const { tables } = await run(`${events}\n| getschema\n| project ColumnName, ColumnType`, settings);
  const data = tables[0]?.data;
  const rows = Array.from({ length: data?.numRows ?? 0 }, (_, row) => row);
  const texts = (place: number) => rows.map(row => String(data?.getChildAt(place)?.get(row)));
  const types = texts(1);
  return new Map(texts(0).map((name, row) => [name, types[row] ?? '']));
}

/** Suffix of long values that `spotlight` truncates. */
const CUT = '\u2026';
/** Maximum characters of a value that it does not truncate. */
const LONGEST = 1_000;

/** Returns a finding as a condition that matches the same rows; an unknown type is compared as text. */
export function conditionOf(part: SpotlightPart, type = 'dynamic'): string {
  const { field } = part;
  const name = writtenName(field);
  if ('from' in part) {
    const low = part.from === null ? [] : [`${name} >= ${endOf(part.from, type)}`];
    const high = part.to === null ? [] : [`${name} < ${endOf(part.to, type)}`];
    return [...low, ...high].join(' and ');
  }
  if ('least' in part) {
    // Nothing is beyond infinity, which has no literal.
    const low = isInfinite(part.least) ? [] : [`${name} >= ${numberOf(part.least, type)}`];
    const high = isInfinite(part.most) ? [] : [`${name} <= ${numberOf(part.most, type)}`];
    return [...low, ...high].join(' and ') || `isnotnull(${name})`;
  }
  if ('has' in part) return memberCondition(name, type, part.has);
  if ('lacks' in part) return `not(coalesce(${memberCondition(name, type, part.lacks)}, false))`;
  if ('starts' in part) return `${name} startswith_cs ${writtenText(part.starts)}`;
  if ('member' in part) {
    const member = { field: `${name}[${writtenText(part.member)}]`, type: 'dynamic' };
    return conditionOn(member, part.is, true);
  }
  const { value } = part;
  // A NaN counts as a missing value too.
  if (value === null && isReal(type)) return `(isnull(${name}) or isnan(${name}))`;
  if (value === null || [...value].length <= LONGEST || !value.endsWith(CUT))
    return conditionFor({ name: field, type }, value, true);
  const text = type === 'string' ? name : `tostring(${name})`;
  return `strlen(${text}) > ${LONGEST} and ${text} startswith_cs ${writtenText(value.slice(0, -CUT.length))}`;
}

/** Returns the condition that a string has a word, or an array an element. */
function memberCondition(name: string, type: string, member: string | number | boolean): string {
  const text = typeof member === 'string' ? writtenText(member) : String(member);
  return type === 'string' ? `${name} has ${text}` : `set_has_element(${name}, ${text})`;
}

/** Returns the literal of a number or a duration, given as text. */
function numberOf(text: string, type: string): string {
  if (type === 'timespan') return `totimespan(${writtenText(text)})`;
  return isReal(type) ? realLiteral(text) : text;
}

/** Returns one end of a range as a literal. */
function endOf(end: unknown, type: string): string {
  const text = String(end);
  if (/^-?\d+$/.test(text) || typeof end === 'number') return isReal(type) ? realLiteral(text) : text;
  return type === 'timespan' ? numberOf(text, type) : `datetime(${text})`;
}
