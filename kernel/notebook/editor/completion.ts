import { localProfile } from '../../api/profile.js';
import type { FieldMeta } from '../../api/wire.js';
import type { EditorEnvironment } from '../../apl/editor/completion/complete.js';
import type { DatasetSchema } from '../../apl/plan/plan.js';
import { parseCell } from '../../apl/syntax/cell.js';
import { parseQuery } from '../../apl/syntax/parse.js';
import { splitWords } from '../../apl/syntax/syntax-magic.js';
import { typeNamed } from '../../apl/syntax/syntax-types.js';
import { visitQuery } from '../../apl/syntax/syntax-walk.js';
import type { CompleteOutcome, CompletionItem, DisplayData } from '../../jupyter/message.js';
import { present } from '../../present.js';
import { oneLine } from '../../text.js';
import type { Magic } from '../magics/magic.js';
import { fileNames } from '../magics/magic-files.js';
import { magicLines, magicNamed } from '../magics/magic-lines.js';
import { magicHelp } from '../magics/magic-reference.js';
import { findMagic, magics } from '../magics/magic-table.js';
import { markdownOutput } from '../magics/output.js';
import type { Session } from '../session.js';
import { elementNames } from './language.js';
import type { SeenValues } from './seen-values.js';

/** Returns completions at the cursor from cached schemas, which are refreshed in the background. */
export async function completeCell(session: Session, code: string, cursor: number): Promise<CompleteOutcome> {
  const line = lineBefore(code, cursor);
  const name = /^[ \t]*(%%?)([\w-]*)$/.exec(line);
  if (name !== null) return completeMagicName(name[1] ?? '%', name[2] ?? '', cursor);
  const magic = /^[ \t]*%%?([\w-]+)[ \t]+(.*)$/.exec(line);
  if (magic !== null) return completeMagicArgument(session, magic[1] ?? '', magic[2] ?? '', cursor);
  return completeQuery(session, code, cursor);
}

/** Returns help on the element at the cursor: a magic, an operator, a call, a field or a dataset. */
export async function inspectCell(
  session: Session,
  code: string,
  cursor: number,
): Promise<DisplayData | undefined> {
  const magic = magicAt(code, cursor);
  if (magic !== undefined) return markdownOutput(magicHelp(magic));
  const { hoverCell } = await import('../../apl/editor/editor-cell.js');
  const found = hoverCell(code, cursor, await environmentOf(session, code));
  return found === undefined ? undefined : markdownOutput(found.markdown);
}

/** Timeout of a first response from the service, in milliseconds: front ends drop completions after a second. */
const timeoutMs = 400;

/** The same for starred queries, which have no alternative: a late response is better than none. */
const starTimeoutMs = 5_000;

function completeMagicName(percent: string, typed: string, cursor: number): CompleteOutcome {
  const offered = magics.filter(magic => percent === '%' || magicLines[magic.name].perCell);
  const names = offered.flatMap(magic => [
    magic.name,
    ...(typed === '' ? [] : (magicLines[magic.name].aliases ?? [])),
  ]);
  const items = names.map(name => ({ text: `${percent}${name}`, type: 'magic', signature: usageOf(name) }));
  return outcome(items, `${percent}${typed}`, cursor);
}

function usageOf(name: string): string {
  return findMagic(name).usage;
}

async function completeMagicArgument(
  session: Session,
  name: string,
  args: string,
  cursor: number,
): Promise<CompleteOutcome> {
  const magic = magics.find(each => each.name === magicNamed(name));
  if (magic === undefined) return { items: [], from: cursor, to: cursor };
  const last = splitWords(args).at(-1);
  const typed = last?.to === args.length ? args.slice(last.from) : '';
  const previous = splitWords(args.slice(0, args.length - typed.length)).at(-1)?.text;
  const wanted = magic.options.find(option => `--${option.name}` === previous && option.value !== undefined);
  if (wanted === undefined && isStar(magic) && !typed.startsWith('-'))
    return outcome(await starItems(session, magic.argument === 'star' ? '' : 'star:'), typed, cursor);
  const words =
    wanted === undefined
      ? await argumentWords(session, magic, typed)
      : await optionWords(session, wanted.name, wanted.value ?? '');
  return outcome(
    words.map(text => ({ text, type: text.startsWith('--') ? 'option' : 'value' })),
    typed,
    cursor,
  );
}

function isStar({ argument }: Magic): boolean {
  return argument === 'star' || argument === 'star reference';
}

async function argumentWords(
  session: Pick<Session, 'options' | 'profileNames' | 'results' | 'schema'>,
  magic: Magic,
  typed: string,
): Promise<readonly string[]> {
  if (typed.startsWith('-') && !/^-\d/.test(typed)) return magic.options.map(option => `--${option.name}`);
  switch (magic.argument) {
    case 'profile':
      return session.profileNames();
    case 'dataset':
      return (await session.schema.knownDatasets(timeoutMs)).map(dataset => dataset.name);
    case 'range':
      return ['last 15m', 'last 1h', 'last 6h', 'last 1d', 'last 7d', 'today', 'yesterday', 'now-1d now-1h'];
    case 'result':
      return session.results.names();
    case 'file':
      return fileNames(session.options, typed);
    case 'topic':
      return [...magics.map(each => each.name), ...(await elementNames())];
    default:
      return [];
  }
}

/** Lists each starred query once: by name, with its query, or by id if several share the name. */
async function starItems(
  session: Pick<Session, 'client'>,
  prefix: string,
): Promise<readonly CompletionItem[]> {
  const { listStars } = await import('../magics/stars/star-starred.js');
  const listed = await listStars(session, {}, AbortSignal.timeout(starTimeoutMs)).catch(() => undefined);
  const found = listed?.items ?? [];
  const item = (word: string, about: string): CompletionItem => ({
    text: `${prefix}${word}`,
    type: 'value',
    signature: oneLine(about, longestAbout),
  });
  const isOnly = (name: string) => found.filter(each => each.name === name).length === 1;
  return [
    ...found.flatMap(({ name, query }) => (isOnly(name) ? [item(JSON.stringify(name), query.apl)] : [])),
    ...found.flatMap(({ id, name }) => (id === undefined || isOnly(name) ? [] : [item(id, name)])),
  ];
}

/** Maximum characters next to a starred query in a list. */
const longestAbout = 60;

async function optionWords(
  session: Pick<Session, 'results' | 'schema'>,
  option: string,
  value: string,
): Promise<readonly string[]> {
  if (option === 'from') return session.results.names();
  if (value === 'DATASET')
    return (await session.schema.knownDatasets(timeoutMs)).map(dataset => dataset.name);
  return value.includes('|') ? value.split('|') : [];
}

async function completeQuery(session: Session, code: string, cursor: number): Promise<CompleteOutcome> {
  const editor = await import('../../apl/editor/editor-cell.js');
  const seen = await seenBy(session);
  const environment = { ...(await environmentOf(session, code)), values: seen.values, mapKeys: seen.keys };
  const soon = editor.completeCell(code, cursor, environment);
  const found = (await seen.settle(timeoutMs)) ? editor.completeCell(code, cursor, environment) : soon;
  return {
    items: insertable(found.items, found.from < cursor).map(({ insert, kind, signature, type, unit }) => {
      const shown = signature ?? [type, unit].filter(each => each !== undefined).join(', ');
      return {
        text: withoutPlaces(insert, kind),
        type: kind,
        ...present({ signature: shown === '' ? undefined : shown }),
      };
    }),
    from: found.from,
    to: found.to,
  };
}

const seenValues = new WeakMap<Session, { readonly profile: string; readonly seen: SeenValues }>();

/** Returns the values and keys seen in the data of the active profile. */
export async function seenBy(session: Session): Promise<SeenValues> {
  const { SeenValues } = await import('./seen-values.js');
  const profile = session.profileName;
  const known = seenValues.get(session);
  if (known?.profile === profile) return known.seen;
  const seen = new SeenValues(session);
  seenValues.set(session, { profile, seen });
  return seen;
}

/** Replaces placeholders with their names, for front ends without snippets. */
function withoutPlaces(insert: string, kind: string): string {
  return kind === 'snippet' ? insert.replace(/#\{(\w+)\}/g, '$1') : insert;
}

type Item = ReturnType<typeof import('../../apl/editor/completion/complete.js').complete>['items'][number];

/**
 * Front ends insert a single item, or the common prefix of several. So looser matches are offered only if nothing begins with the
 * typed text and there is more than one. If nothing was typed and a table is expected, only names are offered.
 */
function insertable(items: readonly Item[], typed: boolean): readonly Item[] {
  const exact = items.filter(item => item.rank < 10);
  if (typed) return exact.length > 0 ? exact : items.length > 1 ? items : [];
  const names = items.filter(item => item.kind === 'dataset' || item.kind === 'let');
  return items.every(item => item.kind === 'keyword' || names.includes(item)) && names.length > 0
    ? names
    : items;
}

/** Returns the cached schemas of the datasets that a cell names; fetches missing ones, waiting at most `timeoutMs`. */
async function environmentOf(session: Session, code: string): Promise<EditorEnvironment> {
  const datasets = (await session.schema.knownDatasets(timeoutMs)).map(dataset => dataset.name);
  const { queryOf } = await import('../../apl/editor/editor-cell.js');
  const named = namesIn(queryOf(code));
  const wanted = datasets.filter(name => named.has(name));
  const schemas = new Map<string, DatasetSchema>(
    await Promise.all(
      wanted.map(async name => {
        const fields = await session.schema.knownFields(name, timeoutMs);
        return [name, { name, open: true, fields: fields.map(fieldSchema) }] as const;
      }),
    ),
  );
  const now = session.now();
  return {
    schema: name => schemas.get(name),
    datasets: () => datasets,
    results: await resultSchemas(session),
    now,
    start: now,
    end: now,
    variables: session.parameters.values(),
    autoBin: 1n,
    hasAllFunctions: session.profileName !== localProfile,
  };
}

/** Returns the fields of the cached results, by name. */
export async function resultSchemas({
  results,
}: Pick<Session, 'results'>): Promise<ReadonlyMap<string, DatasetSchema>> {
  const all = results.all();
  if (all.length === 0) return new Map();
  const { fieldsOf } = await import('../results/result-arrow.js');
  return new Map(
    all.flatMap(({ cached, names }) => {
      const table = cached.result.tables[0]?.data;
      const fields = table === undefined ? [] : fieldsOf(table);
      return names.map(name => [name, { name, fields, open: false }] as const);
    }),
  );
}

/** Returns every name that may be a dataset's. */
function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  visitQuery(parseQuery(text).query, {
    source: source => void (source.kind === 'dataset' && names.add(source.name.name)),
    expr: expr => void (expr.kind === 'name' && names.add(expr.name)),
  });
  return names;
}

/** Converts a field for binding. */
export function fieldSchema({
  name,
  type,
  unit,
  description,
  hidden,
}: FieldMeta): DatasetSchema['fields'][number] {
  return { name, type: typeNamed(type) ?? 'dynamic', unit, description, hidden };
}

/** Returns the magic whose name is at the cursor. */
function magicAt(code: string, cursor: number): Magic | undefined {
  const line = parseCell(code).magics.find(each => each.from <= cursor && cursor <= each.to);
  const name = line && magicNamed(line.name);
  return magics.find(each => each.name === name);
}

function outcome(items: readonly CompletionItem[], typed: string, cursor: number): CompleteOutcome {
  const start = unquoted(typed);
  const fitting = items.filter(item => unquoted(item.text).startsWith(start));
  return { items: fitting, from: cursor - typed.length, to: cursor };
}

/** Normalizes a word for comparison: a name that needs quotes also matches without them. */
function unquoted(word: string): string {
  return word.toLowerCase().replaceAll(/["']/g, '');
}

function lineBefore(code: string, cursor: number): string {
  return code.slice(code.lastIndexOf('\n', cursor - 1) + 1, cursor);
}
