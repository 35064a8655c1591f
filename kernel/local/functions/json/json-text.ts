/** Returns valid JSON text with the keys of every object sorted and no white space; numbers keep their digits. */
export function canonicalJson(text: string): string {
  return readValue({ text, at: 0 });
}

interface Reader {
  readonly text: string;
  at: number;
}

function readValue(reader: Reader): string {
  skipSpace(reader);
  const first = reader.text[reader.at];
  if (first === '{') return readObject(reader);
  if (first === '[') return readArray(reader);
  if (first === '"') return readString(reader);
  return readWord(reader);
}

function readObject(reader: Reader): string {
  const entries = readItems(reader, '}', () => {
    const key = readString(reader);
    skipSpace(reader);
    reader.at++;
    return { key, value: readValue(reader) };
  });
  entries.sort((a, b) => compareText(JSON.parse(a.key) as string, JSON.parse(b.key) as string));
  return `{${entries.map(entry => `${entry.key}:${entry.value}`).join(',')}}`;
}

function readArray(reader: Reader): string {
  return `[${readItems(reader, ']', () => readValue(reader)).join(',')}]`;
}

function readItems<Item>(reader: Reader, close: string, read: () => Item): Item[] {
  const items: Item[] = [];
  reader.at++;
  skipSpace(reader);
  while (reader.at < reader.text.length && reader.text[reader.at] !== close) {
    items.push(read());
    skipSpace(reader);
    if (reader.text[reader.at] === ',') reader.at++;
    skipSpace(reader);
  }
  reader.at++;
  return items;
}

function readString(reader: Reader): string {
  const match = sticky(/"[^"\\]*(?:\\.[^"\\]*)*"/sy, reader);
  return JSON.stringify(JSON.parse(match));
}

function readWord(reader: Reader): string {
  return sticky(/[^\s,\]}]+/y, reader);
}

function skipSpace(reader: Reader): void {
  sticky(/\s*/y, reader);
}

function sticky(pattern: RegExp, reader: Reader): string {
  pattern.lastIndex = reader.at;
  const [match] = pattern.exec(reader.text) ?? [];
  if (match === undefined) throw new SyntaxError(`not JSON at ${reader.at}`);
  reader.at += match.length;
  return match;
}

/** Compares by code point, like UTF-8. */
function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
