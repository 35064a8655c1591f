/** Datasets of spans, and how a line names one. */
import { quotedName } from '../../../apl/syntax/tokens/quote.js';
import { rowTexts } from '../../../result/display/display-text.js';
import type { QueryResult } from '../../../result/result.js';
import { NEEDED_FIELDS } from '../../../result/trace/trace-spans.js';
import { oneLine } from '../../../text.js';
import type { Magic, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { checkedQuery } from './behind.js';

/** A dataset of spans. */
export interface SpanDataset {
  readonly name: string;
  readonly fields: readonly string[];
}

/** Parses a dataset in brackets, followed by operators. */
export function sourceOf(
  text: string,
  magic: Magic,
): { readonly dataset: string | undefined; readonly filters: string } {
  const [named, bracketed, quoted, plain] =
    /^(?:\[\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\s*\]|([\w-]+))/.exec(text) ?? [];
  const rest = text.slice(named?.length ?? 0).trim();
  if (rest !== '' && !rest.startsWith('|')) throw usageError(magic, `${oneLine(rest, 60)} is not understood`);
  const { pipeline } = checkedQuery(magic, `x ${rest}`);
  if (pipeline?.operators.some(({ kind }) => kind !== 'where'))
    throw usageError(magic, 'only `where` may follow the dataset');
  const dataset = (bracketed ?? quoted)?.replace(/\\(.)/g, '$1') ?? plain;
  return { dataset, filters: rest };
}

/** Returns the datasets of spans, samples last; throws MagicError if there are none. */
export async function datasetsOfSpans(host: MagicHost): Promise<readonly SpanDataset[]> {
  const { session, io } = host;
  const { items } = await session.schema.datasets(io.signal);
  // The user's datasets come before the samples, which have no number of events.
  const own = items.toSorted((a, b) => Number(a.rows === undefined) - Number(b.rows === undefined));
  const all = await Promise.all(
    own.map(async ({ name }) => {
      const { items: fields } = await session.schema.fields(name, io.signal);
      return { name, fields: fields.map(each => each.name) };
    }),
  );
  const found = all.filter(holdsSpans);
  if (found.length > 0) return found;
  throw new MagicError(
    '%trace: no dataset contains spans',
    `Spans have the fields ${NEEDED_FIELDS.join(', ')}.`,
  );
}

/** Returns a dataset with its fields; throws MagicError if it has no spans. */
export async function fieldsOf(name: string, { run }: MagicHost): Promise<SpanDataset> {
  const found = await run(`${quotedName(name)}\n| getschema\n| project ColumnName`);
  const fields = columnOf(found);
  const missing = NEEDED_FIELDS.filter(each => !fields.includes(each));
  if (missing.length === 0) return { name, fields };
  throw new MagicError(
    `%trace: ${oneLine(name, 80)} contains no spans`,
    `It has no field ${missing.join(', ')}.`,
  );
}

/** Returns whether a dataset has the fields of spans. */
export function holdsSpans({ fields }: SpanDataset): boolean {
  return NEEDED_FIELDS.every(each => fields.includes(each));
}

/** Returns the first column of a result. */
export function columnOf({ tables }: QueryResult): readonly string[] {
  return rowTexts(tables[0]).map(([text]) => text ?? '');
}

/** Returns the dataset as the source of a query. */
export function source({ name }: SpanDataset): string {
  return quotedName(name);
}

/** Joins the names of datasets for a sentence. */
export function namesOf(datasets: readonly SpanDataset[]): string {
  return datasets.map(({ name }) => oneLine(name, 80)).join(', ');
}
