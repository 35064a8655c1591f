import type { Diagnostic } from './ast.js';
import { tokenize } from './tokens/lexer.js';

/**
 * What parsing and binding found in one query, by place. A stage that could not be read is checked no further: what
 * binding says of it would repeat the same mistake in other words.
 */
export function mergeDiagnostics(
  text: string,
  parsed: readonly Diagnostic[],
  bound: readonly Diagnostic[],
): Diagnostic[] {
  const unread = parsed.filter(diagnostic => diagnostic.severity === 'error');
  const ends = unread.length === 0 ? [] : stageEnds(text);
  const stageOf = (at: number): number => ends.filter(end => end < at).length;
  const broken = new Set(unread.map(diagnostic => stageOf(diagnostic.from)));
  const kept = bound.filter(diagnostic => !broken.has(stageOf(diagnostic.from)));
  return [...parsed, ...kept].sort((a, b) => a.from - b.from);
}

/** Offsets of the pipes and semicolons. */
function stageEnds(text: string): number[] {
  return tokenize(text)
    .filter(token => token.kind === 'symbol' && (token.text === '|' || token.text === ';'))
    .map(token => token.from);
}
