/** A token of SQL text: a keyword or name (`word`), a quoted name, a literal or a symbol. */
export interface SqlToken {
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'parameter' | 'sign' | 'end';
  readonly text: string;
}

const pieces: readonly (readonly [kind: SqlToken['kind'] | 'space', pattern: string])[] = [
  ['space', '\\s+|--[^\\n]*|/\\*[^]*?\\*/'],
  ['string', "'(?:[^']|'')*'"],
  ['name', '"(?:[^"]|"")*"|`[^`]*`|\\[[^\\]]*\\]'],
  ['number', '(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?'],
  ['parameter', '\\?|\\$\\d+|:[A-Za-z_]\\w*|@\\w+'],
  ['word', '[\\p{L}_][\\p{L}\\p{N}_$]*'],
  ['sign', '<=|>=|<>|!=|\\|\\||::|[-+*/%=<>(),.;]'],
];

const token = new RegExp(pieces.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'uy');

/** Returns the tokens of SQL text, ending with one of kind `end`; undefined if a character fits none. */
export function sqlTokens(text: string): readonly SqlToken[] | undefined {
  const tokens: SqlToken[] = [];
  for (token.lastIndex = 0; token.lastIndex < text.length; ) {
    const groups = token.exec(text)?.groups;
    if (groups === undefined) return undefined;
    for (const [kind] of pieces) {
      const found = groups[kind];
      if (found !== undefined && kind !== 'space') tokens.push({ kind, text: unquoted(kind, found) });
    }
  }
  return [...tokens, { kind: 'end', text: '' }];
}

function unquoted(kind: SqlToken['kind'], text: string): string {
  if (kind === 'string') return text.slice(1, -1).replaceAll("''", "'");
  return kind === 'name' ? text.slice(1, -1).replaceAll('""', '"') : text;
}
