import { bind } from '../../bind/bind.js';
import type { BindEnvironment } from '../../plan/plan.js';
import type { Diagnostic } from '../../syntax/ast.js';
import { type CellQuery, parseCell, toCellOffset, withoutPrefix } from '../../syntax/cell.js';
import { mergeDiagnostics } from '../../syntax/diagnostics.js';
import { parseQuery } from '../../syntax/parse.js';
import { anyFields, type MagicFacts, withParameters, withResults } from '../known.js';
import { checkMagics } from './magics.js';

/**
 * Returns all diagnostics of a cell, by position and in the kernel's wording: for its magic lines and all of its queries. Without `magics`,
 * magic lines are not checked. A query's diagnostics are cached as long as the environment is the same object, so editing one query does
 * not recheck the others.
 */
export function diagnose(
  cell: string,
  environment: BindEnvironment,
  magics?: readonly MagicFacts[],
): readonly Diagnostic[] {
  const source = withoutPrefix(cell);
  const { magics: lines, queries, diagnostics } = parseCell(source);
  const known = lines.some(line => changers.has(line.name.toLowerCase()))
    ? lenient(environment)
    : environment;
  const names = withResults(source, withParameters(source, known));
  const memo = known === environment ? memoOf(environment) : new Map<string, readonly Diagnostic[]>();
  const found = [
    ...diagnostics,
    ...(magics === undefined ? [] : checkMagics(lines, source, magics)),
    ...diagnosticsOf(queries, query => diagnosticsIn(query, queries, names, memo)),
  ];
  const late = found.filter(each => each.code === 'late-magic');
  return found
    .filter(each => late.includes(each) || !late.some(({ from, to }) => from <= each.from && each.from <= to))
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

/** Magics that can change the set of datasets. */
const changers = new Set(['use', 'connect', 'import']);

function lenient(environment: BindEnvironment): BindEnvironment {
  return { ...environment, schema: name => environment.schema(name) ?? anyFields(name) };
}

/** Returns the diagnostics of all queries. A problem in a shared statement occurs in each query below it, and is reported once. */
function diagnosticsOf(
  queries: readonly CellQuery[],
  diagnosticsIn: (query: CellQuery) => readonly Diagnostic[],
): readonly Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  const unused = new Map<string, number>();
  for (const query of queries) {
    for (const each of diagnosticsIn(query)) {
      const key = `${each.code} ${each.from} ${each.to}`;
      found.set(key, each);
      if (each.code === 'unused-let') unused.set(key, (unused.get(key) ?? 0) + 1);
    }
  }
  return [...found].flatMap(([key, each]) => {
    const below = queries.filter(query => query.from > each.from).length;
    return each.code !== 'unused-let' || unused.get(key) === below ? [each] : [];
  });
}

type Memo = Map<string, readonly Diagnostic[]>;

const memos = new WeakMap<BindEnvironment, Memo>();
/** Maximum number of cached queries: every keystroke adds one. */
const maxRemembered = 1000;

function memoOf(environment: BindEnvironment): Memo {
  const known = memos.get(environment);
  if (known !== undefined && known.size <= maxRemembered) return known;
  const fresh: Memo = new Map();
  memos.set(environment, fresh);
  return fresh;
}

/** Returns the diagnostics of a query, by position in the cell. */
function diagnosticsIn(
  query: CellQuery,
  queries: readonly CellQuery[],
  environment: BindEnvironment,
  memo: Memo,
): readonly Diagnostic[] {
  const key = [...meaningOf(query, queries), ...Object.keys(environment.variables)].join('\0');
  const found = memo.get(key) ?? queryDiagnostics(query.text, environment);
  memo.set(key, found);
  return found.map(each => {
    const from = toCellOffset(query, each.from);
    return { ...each, from, to: Math.max(from, toCellOffset(query, each.to)) };
  });
}

/** Returns the strings that determine the meaning of a query: its own source, and those of the results that it names. */
function meaningOf(query: CellQuery, queries: readonly CellQuery[]): ReadonlySet<string> {
  const texts = new Set<string>();
  const add = (text: string): void => {
    if (texts.has(text)) return;
    texts.add(text);
    for (const other of queries)
      if (other.name !== undefined && text.includes(other.name)) add(`${other.name} ${other.text}`);
  };
  add(query.text);
  return texts;
}

/** Returns the diagnostics of a query, by position in its own source. */
function queryDiagnostics(text: string, environment: BindEnvironment): readonly Diagnostic[] {
  const { query, diagnostics } = parseQuery(text);
  return mergeDiagnostics(text, diagnostics, bind(query, text, environment).diagnostics);
}
