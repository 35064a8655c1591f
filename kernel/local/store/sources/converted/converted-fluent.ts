import type { Left } from './left.js';
import { textLines } from './text-lines.js';

/**
 * Yields the records that Fluentd and Fluent Bit write after a time and a tag, each as an object with `_time` and `tag` before its own
 * members. Any other line becomes an object with its text as `message` and the time of the record before, and is counted in `left`.
 */
export async function* fluentRecords(chunks: AsyncIterable<Buffer>, left: Left): AsyncGenerator<string> {
  let last: string | undefined;
  for await (const line of textLines(chunks)) {
    const text = line.trim();
    if (text === '') continue;
    const record = recordOf(text);
    last = record?.time ?? last;
    if (record === undefined) left.addText();
    yield record?.event ??
      objectOf(
        [
          ['_time', last],
          ['message', JSON.stringify(line)],
        ],
        '{}',
      );
  }
}

/** A record as a line of JSON, and its time as JSON. */
interface FluentRecord {
  readonly time: string;
  readonly event: string;
}

/** A line of Fluentd, with tabs between its time, its tag and a record. */
const tabbed = /^(\d{4}-\d{2}-\d{2}T\S+)\t([^\t]+)\t(\{.*\})$/;

/** A line of Fluent Bit: a number on standard output, a tag, a list of the time and a record; metadata may be beside the time. */
const listed = /^(?:(?:\[\d+\] )?(\S+): )?\[\[?(\d{1,10})\.(\d{1,9})(?:, \{.*?\}\])?, (\{.*\})\]$/;

function recordOf(text: string): FluentRecord | undefined {
  const [, written = '', tag = '', record] = tabbed.exec(text) ?? [];
  if (record !== undefined) return eventOf(record, JSON.stringify(written), tag);
  const [, name, seconds = '', fraction = '', data] = listed.exec(text) ?? [];
  if (data === undefined) return undefined;
  return eventOf(data.replace(printed, asJson), `${seconds}${fraction.padEnd(9, '0')}`, name);
}

/** A string, with the arrow that standard output has in place of a colon, or its null. */
const printed = /("[^"\\]*(?:\\.[^"\\]*)*")(=>)?|\bnil\b/g;

function asJson(_: string, text: string | undefined, pointer: string | undefined): string {
  if (text === undefined) return 'null';
  return pointer === undefined ? text : `${text}:`;
}

/** Returns a record with its time, as JSON, and its tag; undefined if it is not JSON. */
function eventOf(record: string, time: string, tag: string | undefined): FluentRecord | undefined {
  try {
    JSON.parse(record);
  } catch {
    return undefined;
  }
  const event = objectOf(
    [
      ['_time', time],
      ['tag', tag && JSON.stringify(tag)],
    ],
    record,
  );
  return { time, event };
}

/** Returns an object as JSON with these members, as JSON, in front; those without a value are omitted. */
function objectOf(
  members: readonly (readonly [name: string, json: string | undefined])[],
  object: string,
): string {
  const written = members.flatMap(([name, json]) =>
    json === undefined ? [] : [`${JSON.stringify(name)}:${json}`],
  );
  const own = object.slice(1).trimStart();
  return `{${written.join(',')}${own.startsWith('}') ? '' : ','}${own}`;
}
