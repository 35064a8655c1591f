import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { ConvertedFormat, LogFormat } from '../../../../api/logs/format.js';
import { logFormats } from '../../../../api/logs/formats.js';
import { systemRefusal } from '../../../../machine.js';
import { LocalError } from '../../../errors.js';
import { writeCopy } from '../../bounds/copies.js';

/** Yields events, or lines of JSON with one. */
type EventReader = (chunks: AsyncIterable<Buffer>) => AsyncIterable<object | string>;

const readers: Readonly<Record<ConvertedFormat, () => Promise<EventReader>>> = {
  otlp: async () => (await import('./otlp.js')).otlpEvents,
  journal: async () => (await import('./journal.js')).journalEvents,
  windows: async () => (await import('./windows-events.js')).windowsEvents,
};

/** Returns the format of a text that begins like this, if it is one that becomes lines of JSON before it is read. */
export function convertedFormat(start: string): LogFormat | undefined {
  return logFormats.find(
    ({ reading }) => reading.kind === 'converted' && new RegExp(reading.begins, 'u').test(start),
  );
}

/** Writes the events of a text in such a format as lines of JSON; returns what the import says of it. Throws LocalError. */
export async function writeConverted(
  file: string,
  target: string,
  name: string,
  { label, reading }: LogFormat,
): Promise<readonly string[]> {
  if (reading.kind !== 'converted') return [];
  const read = await readers[reading.as]();
  const lines = linesOf(read(createReadStream(file)));
  try {
    await writeCopy(target, [Readable.from(lines)]);
  } catch (error) {
    if (error instanceof LocalError || systemRefusal(error) !== undefined) throw error;
    throw new LocalError('invalid', 'unreadable', `${name} cannot be read to its end as ${label}.`, {
      hint: 'It is cut off or damaged: get the whole file.',
      cause: error,
    });
  }
  return [`The lines are read as ${label}.`];
}

async function* linesOf(events: AsyncIterable<object | string>): AsyncGenerator<string> {
  for await (const event of events) yield `${typeof event === 'string' ? event : JSON.stringify(event)}\n`;
}
