import type { CellQuery } from './apl/cell.js';
import { parseCell } from './apl/cell.js';
import type { CompleteOutcome, CompletionItem, DisplayData } from './jupyter/message.js';
import { describeElement, languageElements, operatorWords, signatureOf } from './language.js';
import { splitWords } from './magic-line.js';
import { markdownOutput } from './magic-output.js';
import { findMagic, type Magic, magicHelp, magics } from './magics.js';
import { datasetOf, quoteName } from './query-run.js';
import type { Session } from './session.js';

/** Returns what can stand at the cursor, from what is known now: schemas are refreshed in the background. */
export async function completeCell(session: Session, code: string, cursor: number): Promise<CompleteOutcome> {
  const line = lineBefore(code, cursor);
  const name = /^[ \t]*(%%?)([\w-]*)$/.exec(line);
  if (name !== null) return completeMagicName(name[1] ?? '%', name[2] ?? '', cursor);
  const magic = /^[ \t]*%%?([\w-]+)[ \t]+(.*)$/.exec(line);
  if (magic !== null) return completeMagicArgument(session, magic[1] ?? '', magic[2] ?? '', cursor);
  return completeQuery(session, code, cursor);
}

/** Returns help on what the cursor is in: a magic, a function, a field or a dataset. */
export async function inspectCell(
  session: Session,
  code: string,
  cursor: number,
): Promise<DisplayData | undefined> {
  const { text, from } = wordAround(code, cursor);
  if (text === '') return undefined;
  if (code[from - 1] === '%') {
    const magic = magics.find(each => each.name === text || each.aliases.includes(text));
    return magic === undefined ? undefined : markdownOutput(magicHelp(magic));
  }
  const described = (await describeElement(text)) ?? (await describeField(session, code, cursor, text));
  return described === undefined ? undefined : markdownOutput(described);
}

/** How long a first answer may wait for the service: front ends drop answers after a second. */
const patienceMs = 400;

function completeMagicName(percent: string, typed: string, cursor: number): CompleteOutcome {
  const offered = magics.filter(magic => percent === '%' || magic.perCell);
  const names = offered.flatMap(magic => [magic.name, ...(typed === '' ? [] : magic.aliases)]);
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
  const magic = magics.find(
    each => each.name === name.toLowerCase() || each.aliases.includes(name.toLowerCase()),
  );
  const typed = /(?:^|\s)(\S*)$/.exec(args)?.[1] ?? '';
  if (magic === undefined) return { items: [], from: cursor, to: cursor };
  const previous = splitWords(args.slice(0, args.length - typed.length)).at(-1)?.text;
  const wanted = magic.options.find(option => `--${option.name}` === previous && option.value !== undefined);
  const words =
    wanted === undefined
      ? await argumentWords(session, magic, typed)
      : await optionWords(session, wanted.value ?? '');
  return outcome(
    words.map(text => ({ text, type: text.startsWith('--') ? 'option' : 'value' })),
    typed,
    cursor,
  );
}

async function argumentWords(session: Session, magic: Magic, typed: string): Promise<readonly string[]> {
  if (typed.startsWith('-') && !/^-\d/.test(typed)) return magic.options.map(option => `--${option.name}`);
  switch (magic.argument) {
    case 'profile':
      return session.profileNames();
    case 'dataset':
      return (await session.schema.knownDatasets(patienceMs)).map(dataset => dataset.name);
    case 'range':
      return ['last 15m', 'last 1h', 'last 6h', 'last 1d', 'last 7d', 'today', 'yesterday', 'now-1d now-1h'];
    case 'topic':
      return [...magics.map(each => each.name), ...(await languageElements()).map(each => each.name)];
    default:
      return [];
  }
}

async function optionWords(session: Session, value: string): Promise<readonly string[]> {
  if (value === 'DATASET')
    return (await session.schema.knownDatasets(patienceMs)).map(dataset => dataset.name);
  return value.includes('|') ? value.split('|') : [];
}

async function completeQuery(session: Session, code: string, cursor: number): Promise<CompleteOutcome> {
  const query = queryAt(code, cursor);
  const before = code.slice(query?.from ?? cursor, cursor);
  const typed = /(?:\['[^'\]]*|[\w.$-]*)$/.exec(before)?.[0] ?? '';
  const head = before.slice(0, before.length - typed.length).trimEnd();
  if (head.endsWith('|')) {
    return outcome(
      (await operatorWords()).map(text => ({ text, type: 'operator' })),
      typed,
      cursor,
    );
  }
  if (head === '' || /[(,]$|\b(?:union|join|lookup)$/.test(head)) {
    const datasets = await session.schema.knownDatasets(patienceMs);
    const names = datasets.map(({ name }) => ({ text: sourceText(name, typed), type: 'dataset' }));
    if (head === '') return outcome(names, typed, cursor);
    return outcome([...names, ...(await expressionItems(session, query, typed))], typed, cursor);
  }
  return outcome(await expressionItems(session, query, typed), typed, cursor);
}

async function expressionItems(
  session: Session,
  query: CellQuery | undefined,
  typed: string,
): Promise<readonly CompletionItem[]> {
  const dataset = query === undefined ? undefined : datasetOf(query.text);
  const fields = dataset === undefined ? [] : await session.schema.knownFields(dataset, patienceMs);
  const items = fields.map(({ name, type }) => ({
    text: fieldText(name, typed),
    type: 'field',
    signature: type,
  }));
  if (typed.startsWith('[')) return items;
  const elements = await languageElements();
  return [
    ...items,
    ...elements.map(each => ({ text: each.name, type: 'function', signature: signatureOf(each) })),
  ];
}

async function describeField(
  session: Session,
  code: string,
  cursor: number,
  word: string,
): Promise<string | undefined> {
  const query = queryAt(code, cursor);
  const dataset = query === undefined ? undefined : datasetOf(query.text);
  if (dataset === undefined) return undefined;
  const fields = await session.schema.knownFields(dataset, patienceMs);
  const listing = fields.map(({ name, type }) => `- ${codeSpan(name)}: ${type}`).join('\n');
  if (word === dataset) return `dataset ${codeSpan(dataset)}\n\n${listing}`;
  const field = fields.find(each => each.name === word);
  if (field === undefined) return undefined;
  const unit = field.unit === '' || field.unit === 'none' ? '' : `, in ${codeSpan(field.unit)}`;
  return [
    `field ${codeSpan(field.name)}: ${field.type}${unit}, of ${codeSpan(dataset)}`,
    escapeMarkdown(field.description),
  ]
    .join('\n\n')
    .trim();
}

function queryAt(code: string, cursor: number): CellQuery | undefined {
  const { queries } = parseCell(code);
  return queries.findLast(query => query.from <= cursor);
}

function outcome(items: readonly CompletionItem[], typed: string, cursor: number): CompleteOutcome {
  const start = bare(typed);
  const fitting = items.filter(item => bare(item.text).startsWith(start));
  return { items: fitting, from: cursor - typed.length, to: cursor };
}

/** Without the quoting of a name, and in one case: how what was typed is compared with what is offered. */
function bare(text: string): string {
  return text.replace(/^\['?|'?\]$/g, '').toLowerCase();
}

function sourceText(name: string, typed: string): string {
  return typed.startsWith('[') || !/^[A-Za-z_][\w-]*$/.test(name) ? quoteName(name) : name;
}

function fieldText(name: string, typed: string): string {
  return typed.startsWith('[') || !/^[A-Za-z_$][\w$]*$/.test(name) ? quoteName(name) : name;
}

/** The name around the cursor; inside `['…']`, all of what is quoted. */
function wordAround(code: string, cursor: number): { readonly text: string; readonly from: number } {
  const quoted = /\['([^'\]\n]*)$/.exec(code.slice(0, cursor));
  const rest = /^[^'\]\n]*(?='\])/.exec(code.slice(cursor));
  if (quoted !== null && rest !== null) return { text: (quoted[1] ?? '') + rest[0], from: quoted.index };
  const before = /[\w$.-]*$/.exec(code.slice(0, cursor))?.[0] ?? '';
  const after = /^[\w$.-]*/.exec(code.slice(cursor))?.[0] ?? '';
  return { text: before + after, from: cursor - before.length };
}

function lineBefore(code: string, cursor: number): string {
  return code.slice(code.lastIndexOf('\n', cursor - 1) + 1, cursor);
}

/** Names come from data: the fence is longer than any run of backticks in the name. */
function codeSpan(text: string): string {
  const runs = text.match(/`+/g) ?? [];
  const fence = '`'.repeat(1 + Math.max(0, ...runs.map(run => run.length)));
  return runs.length === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>&#|!]/g, '\\$&');
}
