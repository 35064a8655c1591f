/** Returns valid JSON text with the keys of every object sorted and no white space; numbers keep their digits. */
export function canonicalJson(text: string): string {
  return readValue({ text, at: 0 });
}

interface Cursor {
  readonly text: string;
  at: number;
}

function readValue(cursor: Cursor): string {
  skipSpace(cursor);
  const first = cursor.text[cursor.at];
  if (first === '{') return readObject(cursor);
  if (first === '[') return readArray(cursor);
  if (first === '"') return readString(cursor);
  return readWord(cursor);
}

function readObject(cursor: Cursor): string {
  const entries = readItems(cursor, '}', () => {
    const key = readString(cursor);
    skipSpace(cursor);
    cursor.at++;
    return { key, value: readValue(cursor) };
  });
  entries.sort((a, b) => compareText(JSON.parse(a.key) as string, JSON.parse(b.key) as string));
  return `{${entries.map(entry => `${entry.key}:${entry.value}`).join(',')}}`;
}

function readArray(cursor: Cursor): string {
  return `[${readItems(cursor, ']', () => readValue(cursor)).join(',')}]`;
}

function readItems<Item>(cursor: Cursor, close: string, read: () => Item): Item[] {
  const items: Item[] = [];
  cursor.at++;
  skipSpace(cursor);
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== close) {
    items.push(read());
    skipSpace(cursor);
    if (cursor.text[cursor.at] === ',') cursor.at++;
    skipSpace(cursor);
  }
  cursor.at++;
  return items;
}

function readString(cursor: Cursor): string {
  const match = sticky(/"(?:[^"\\]|\\.)*"/sy, cursor);
  return JSON.stringify(JSON.parse(match));
}

function readWord(cursor: Cursor): string {
  return sticky(/[^\s,\]}]+/y, cursor);
}

function skipSpace(cursor: Cursor): void {
  sticky(/\s*/y, cursor);
}

function sticky(pattern: RegExp, cursor: Cursor): string {
  pattern.lastIndex = cursor.at;
  const [match] = pattern.exec(cursor.text) ?? [];
  if (match === undefined) throw new SyntaxError(`not JSON at ${cursor.at}`);
  cursor.at += match.length;
  return match;
}

/** By code point, as UTF-8 sorts. */
function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
