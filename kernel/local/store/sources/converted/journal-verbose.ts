import { addTo, objectOf, type Value } from './converted-journal.js';
import { textLines } from './text-lines.js';

/**
 * Yields the entries of `journalctl -o verbose` with the names and values of `journalctl -o json`. A line outside an entry is unchanged.
 */
export async function* verboseEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<object | string> {
  let entry: Map<string, Value[]> | undefined;
  let name = '';
  for await (const line of textLines(chunks)) {
    const cursor = head.exec(line)?.[1];
    const field = entry && fieldPattern.exec(line);
    if (field) [, name = ''] = field;
    if (cursor !== undefined) {
      if (entry) yield objectOf(entry);
      entry = new Map([['__CURSOR', [cursor]], ...timeIn(cursor)]);
      name = '';
    } else if (entry && field) addTo(entry, name, field[2] ?? '');
    else if (entry && name !== '' && line.startsWith(' ')) extend(entry, name, line);
    else if (line.trim() !== '') {
      if (entry) yield objectOf(entry);
      entry = undefined;
      yield line;
    }
  }
  if (entry) yield objectOf(entry);
}

/** Time and cursor of an entry. */
const head = /^[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} [^[]*\[(s=[^\]]+)\]$/;
const fieldPattern = /^ {4}([A-Z_][A-Z\d_]*)=(.*)$/;

/** Returns the microseconds since 1970 in a cursor, which are hexadecimal. */
function timeIn(cursor: string): [string, Value[]][] {
  const [, time] = /;t=([\da-f]{1,15})(?:;|$)/.exec(cursor) ?? [];
  return time === undefined ? [] : [['__REALTIME_TIMESTAMP', [String(BigInt(`0x${time}`))]]];
}

/** Appends a continuation line, which is indented, to a value. */
function extend(entry: ReadonlyMap<string, Value[]>, name: string, line: string): void {
  const values = entry.get(name) ?? [];
  const text = line.slice(Math.min(4 + name.length + 1, line.search(/\S|$/)));
  values.push(`${String(values.pop() ?? '')}\n${text}`);
}
