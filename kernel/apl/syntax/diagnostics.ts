import { present } from '../../present.js';
import { cut } from '../../text.js';
import type { Diagnostic, Severity, Span } from './ast.js';
import type { DiagnosticCode } from './codes.js';
import type { Limit } from './syntax-limits.js';
import { tokenize } from './tokens/lexer.js';

/** Returns a diagnostic; long quotations in it are shortened. */
export function finding(
  severity: Severity,
  code: DiagnosticCode,
  { from, to }: Span,
  message: string,
  hint?: string,
  instead?: string,
): Diagnostic {
  const short = { severity, code, from, to, message: readable(message), ...present({ instead }) };
  return hint === undefined ? short : { ...short, hint: readable(hint) };
}

/** Returns the diagnostic for exceeding a limit of the language. */
export function limitFinding({ code, message, hint }: Limit, span: Span): Diagnostic {
  return finding('error', code, span, message, hint);
}

const longestQuote = 80;
const longestMessage = 500;

function readable(text: string): string {
  if (text.length <= longestQuote) return text;
  const quoted = text.replace(/`([^`]*)`/g, (_, code: string) => `\`${cut(code, longestQuote)}\``);
  return cut(quoted, longestMessage);
}

/**
 * Merges the diagnostics of parsing and binding one query, by position. Binder diagnostics in a stage that could not be parsed are dropped,
 * as they would repeat the same error in other words; for a query in another language, only that is reported.
 */
export function mergeDiagnostics(
  text: string,
  parsed: readonly Diagnostic[],
  bound: readonly Diagnostic[],
): Diagnostic[] {
  const other = parsed.find(diagnostic => diagnostic.code === 'other-language');
  if (other !== undefined) return [other];
  const unread = parsed.filter(diagnostic => diagnostic.severity === 'error');
  const ends = unread.length === 0 ? [] : stageEnds(text);
  const stageOf = (at: number): number => countBelow(ends, at);
  const broken = new Set(unread.map(diagnostic => stageOf(diagnostic.from)));
  const kept = bound.filter(diagnostic => !broken.has(stageOf(diagnostic.from)));
  return withLateMagics(text, [...parsed, ...kept]).sort((a, b) => a.from - b.from);
}

/** Returns the diagnostic for a magic line below a query. */
export function lateMagic(span: Span): Diagnostic {
  const message = 'magics must be at the top of a cell, before the query';
  return finding('error', 'late-magic', span, message, 'Move it up, or into its own cell.');
}

/** Treats lines such as `%export a.csv`, which parse as a modulo, as misplaced magic lines if they contain errors. */
function withLateMagics(text: string, found: readonly Diagnostic[]): Diagnostic[] {
  const errors = found.filter(each => each.severity === 'error');
  const lines = [...text.matchAll(/(?<=\n[ \t]*)%%?[A-Za-z_][\w-]*(?:[ \t].*)?$/gm)].map(
    ({ index, 0: line }) => ({
      from: index,
      to: index + line.trimEnd().length,
    }),
  );
  const isWithin = (line: Span) => (each: Diagnostic) => line.from <= each.from && each.from <= line.to;
  const late = lines.filter(line => errors.some(isWithin(line)));
  return [...found.filter(each => !late.some(line => isWithin(line)(each))), ...late.map(lateMagic)];
}

/** Returns how many of the sorted numbers are below `at`; a text may have as many errors as pipes. */
function countBelow(sorted: readonly number[], at: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? at) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the offsets of the pipes and semicolons, in order. */
function stageEnds(text: string): number[] {
  return tokenize(text)
    .filter(token => token.kind === 'symbol' && (token.text === '|' || token.text === ';'))
    .map(token => token.from);
}
