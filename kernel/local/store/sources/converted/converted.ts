import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { ConvertedFormat, LogFormat } from '../../../../api/logs/log-format.js';
import { logFormats } from '../../../../api/logs/log-formats.js';
import { systemRefusal } from '../../../../machine.js';
import { LocalError } from '../../../local-errors.js';
import { writeCopy } from '../../bounds/bounded-copies.js';
import { writeValues } from '../../readers/reader-values.js';

/** How a text becomes events: as a stream, or each of its values of JSON by itself, which becomes lines of JSON. */
type Converter =
  | { readonly events: (chunks: AsyncIterable<Buffer>) => AsyncIterable<object | string> }
  | { readonly lines: (value: string) => readonly string[] };

const converters: Readonly<Record<ConvertedFormat, () => Promise<Converter>>> = {
  journal: async () => ({ events: (await import('./converted-journal.js')).journalEvents }),
  journalVerbose: async () => ({ events: (await import('./journal-verbose.js')).verboseEvents }),
  windows: async () => ({ events: (await import('./windows-events.js')).windowsEvents }),
  otlp: async () => ({ lines: (await import('./converted-otlp.js')).otlpLines }),
  cloudwatch: async () => ({ lines: (await import('./converted-documents.js')).cloudwatchLines }),
  loki: async () => ({ lines: (await import('./converted-documents.js')).lokiLines }),
  prometheus: async () => ({ lines: (await import('./converted-documents.js')).prometheusLines }),
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
  const converter = await converters[reading.as]();
  try {
    if ('events' in converter)
      await writeCopy(target, [Readable.from(linesOf(converter.events(createReadStream(file))))]);
    else
      await writeValues(file, target, {
        lines: value => converter.lines(value.toString()).map(line => Buffer.from(line)),
      });
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
