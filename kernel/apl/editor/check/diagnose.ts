import { bind } from '../../bind/bind.js';
import type { BindEnvironment } from '../../plan/plan.js';
import type { Diagnostic } from '../../syntax/ast.js';
import { type CellQuery, parseCell, toCellOffset, withoutPrefix } from '../../syntax/cell.js';
import { mergeDiagnostics } from '../../syntax/diagnostics.js';
import { parseQuery } from '../../syntax/parse.js';
import { anyFields, type MagicFacts, withParameters, withResults } from '../known.js';
import { checkMagics } from './magics.js';

/**
 * Returns everything that is wrong with a cell, by place and in the words of the kernel: its magic lines and all of its queries.
 * Without `magics`, their lines are not checked.
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
  const found = [
    ...diagnostics,
    ...(magics === undefined ? [] : checkMagics(lines, source, magics)),
    ...mistakesOf(queries, names),
  ];
  const late = found.filter(each => each.code === 'late-magic');
  return found
    .filter(each => late.includes(each) || !late.some(({ from, to }) => from <= each.from && each.from <= to))
    .sort((a, b) => a.from - b.from || a.to - b.to);
}

/** Magics after which there may be other datasets. */
const changers = new Set(['use', 'connect', 'import']);

function lenient(environment: BindEnvironment): BindEnvironment {
  return { ...environment, schema: name => environment.schema(name) ?? anyFields(name) };
}

/** What stands in a shared statement is found with each query below it, and said once. */
function mistakesOf(queries: readonly CellQuery[], environment: BindEnvironment): readonly Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  const unused = new Map<string, number>();
  for (const query of queries) {
    for (const each of queryMistakes(query, environment)) {
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

function queryMistakes(query: CellQuery, environment: BindEnvironment): readonly Diagnostic[] {
  const { text } = query;
  const { query: tree, diagnostics } = parseQuery(text);
  const bound = bind(tree, text, environment);
  return mergeDiagnostics(text, diagnostics, bound.diagnostics).map(each => {
    const from = toCellOffset(query, each.from);
    return { ...each, from, to: Math.max(from, toCellOffset(query, each.to)) };
  });
}
