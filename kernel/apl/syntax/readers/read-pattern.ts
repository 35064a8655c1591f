import type { FieldPattern } from '../ast.js';
import type { TokenStream } from '../tokens/token-stream.js';

/** Parses `status*`, `['geo.']*`, `*`, `a.b`; returns undefined, with nothing consumed, if no name or star starts here. */
export function parsePattern(stream: TokenStream): FieldPattern | undefined {
  const from = stream.peek().from;
  const parts: string[] = [''];
  let end = from;
  for (;;) {
    const adjacent = parts.length === 1 && parts[0] === '' ? true : stream.peek().from === end;
    if (!adjacent) break;
    const dot = stream.isSymbol('.') && parts.join('') !== '' ? stream.next() : undefined;
    const star = stream.takeSymbol('*');
    const name = star === undefined ? stream.takeName() : undefined;
    if (dot !== undefined) parts[parts.length - 1] += '.';
    if (star !== undefined) parts.push('');
    else if (name !== undefined) parts[parts.length - 1] += name.name;
    else break;
    end = stream.lastEnd;
  }
  if (parts.length === 1 && parts[0] === '') return undefined;
  return { parts, exact: parts.length === 1, from, to: end };
}

/** Parses a pattern; if it is missing, reports that and returns one with an empty name. */
export function expectPattern(stream: TokenStream, context: string): FieldPattern {
  const pattern = parsePattern(stream);
  if (pattern !== undefined) return pattern;
  stream.offer({ kind: 'field' });
  const from = stream.peek().from;
  stream.expected('a field', context);
  return { parts: [''], exact: true, from, to: from };
}
