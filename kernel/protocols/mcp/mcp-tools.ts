import { diagnose } from '../../apl/editor/check/diagnose.js';
import { describeName } from '../../apl/editor/help/help-describe.js';
import { environmentOf } from '../../apl/editor/known.js';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { QueryText } from '../../apl/syntax/parse.js';
import { quotedName } from '../../apl/syntax/tokens/quote.js';
import { UsageError } from '../../errors.js';
import { fieldSchema } from '../../notebook/editor/completion.js';
import { reportOf } from '../../notebook/magics/agents/agent-report.js';
import { runQuery } from '../../notebook/query/query-run.js';
import type { Session } from '../../notebook/session.js';
import { parseRange } from '../../notebook/time-range.js';
import { present } from '../../present.js';
import { cut } from '../../text.js';
import { answerOf, type ToolAnswer } from './mcp-answer.js';

/** Maximum number of result rows returned to an agent. */
export const mostRows = 500;
/** Maximum number of query characters that an error quotes. */
const mostQuoted = 500;

/** Lists only names that contain this string, in any case. */
interface Named {
  readonly contains: string;
}

function withText(text: string): (each: { readonly name: string }) => boolean {
  return ({ name }) => name.toLowerCase().includes(text.toLowerCase());
}

/** Lists the datasets, each with its number of events and their first and last times. */
export async function listDatasets(
  session: Session,
  { contains }: Named,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const { items: datasets, notices } = await session.schema.datasets(signal);
  const lines = datasets
    .filter(withText(contains))
    .map(({ name, description, rows, firstTime, lastTime }) =>
      JSON.stringify({ name, description, ...present({ events: rows, firstTime, lastTime }) }),
    );
  return answerOf({
    sentences: ['The datasets of the local service.'],
    lines: [...noticeLines(notices), ...lines],
  });
}

/** Returns the fields of a dataset. */
export async function getSchema(
  session: Session,
  { dataset, contains }: Named & { readonly dataset: string },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const { items: fields, notices } = await session.schema.fields(dataset, signal);
  const lines = fields.filter(withText(contains)).map(({ name, type, unit, description }) =>
    JSON.stringify({
      name,
      type,
      ...present({ unit: unit || undefined, description: description || undefined }),
    }),
  );
  return answerOf({ sentences: ['The fields of the dataset.'], lines: [...noticeLines(notices), ...lines] });
}

function noticeLines(notices: readonly string[]): readonly string[] {
  return notices.map(notice => JSON.stringify({ notice }));
}

/** Returns the newest events of a dataset. */
export async function sampleEvents(
  session: Session,
  { dataset, range, rows }: { readonly dataset: string; readonly range: string; readonly rows: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const query = `${quotedName(dataset)} | sort by _time desc | limit ${rows}`;
  return run(session, { query, range, rows }, signal);
}

/** Returns the errors of a query: their positions, and what to write instead. */
export async function checkQuery(
  session: Session,
  { query }: { readonly query: string },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const found = await findings(session, query, signal);
  if (found.length === 0) return answerOf({ sentences: ['No errors found.'], lines: [] });
  const lines = found.map(({ severity, code, from, to, message, hint, instead }) => {
    const { line, column } = placeOf(query, from);
    const place = { line, column, text: cut(query.slice(from, to), mostQuoted) };
    return JSON.stringify({ severity, code, ...place, message, ...present({ hint, instead }) });
  });
  return answerOf({
    sentences: ['Lines and columns count from 1; `instead` replaces `text`.'],
    lines: lines,
  });
}

/** Returns the rows of a query, if it has no errors. */
export async function run(
  session: Session,
  { query, range, rows }: { readonly query: string; readonly range: string; readonly rows: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const io = { signal: signal, passing: () => undefined };
  const order = {
    ...{ query: new QueryText(query), range: parseRange(range), rowLimit: rows, request: {} },
    ...{ fetch: undefined, isForAgent: true },
  };
  const { result } = await runQuery(session, order, io);
  return answerOf(reportOf(result, rows));
}

/** Returns the documentation of an operator or a function. */
export function explain({ name }: { readonly name: string }): ToolAnswer {
  const text = describeName(name);
  if (text === undefined)
    throw new UsageError('option-invalid', `APL has nothing named ${name}`, {
      hint: 'pass the name of an operator, an aggregate or a function, such as summarize',
    });
  return { content: [{ type: 'text', text }] };
}

async function findings(session: Session, query: string, signal: AbortSignal) {
  const datasets = (await session.schema.datasets(signal)).items.map(({ name }) => name);
  const fields = new Map<string, readonly FieldSchema[]>();
  const named = new Set<string>();
  const facts = {
    profile: 'local',
    exact: true,
    datasets,
    results: [],
    variables: {},
    tables: [],
    magics: [],
  };
  const check = () => {
    const known = (dataset: string) => {
      named.add(dataset);
      return fields.get(dataset);
    };
    return diagnose(query, environmentOf({ facts, fields: known, now: session.now() }), []);
  };
  check();
  for (const dataset of named)
    fields.set(dataset, (await session.schema.fields(dataset, signal)).items.map(fieldSchema));
  return check();
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
