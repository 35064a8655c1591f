import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ConvertedFormat, LogFormat } from '../../../../api/logs/log-format.js';
import { logFormats } from '../../../../api/logs/log-formats.js';
import type { ImportRequest } from '../../../../api/wire.js';
import { systemRefusal } from '../../../../machine.js';
import { LocalError } from '../../../local-errors.js';
import { writeCopy } from '../../bounds/bounded-copies.js';
import { writeValues } from '../../readers/reader-values.js';
import { Left } from './left.js';
import { NotPrinted } from './printed.js';

/**
 * Converts a text to events: the whole stream, or each JSON value separately, to lines of JSON or CSV. What is not converted is added to
 * `left`.
 */
type Converter =
  | { readonly events: (chunks: AsyncIterable<Buffer>, left: Left) => AsyncIterable<object | string> }
  | { readonly lines: (value: string, left: Left) => readonly string[] };

const converters: Readonly<Record<ConvertedFormat, () => Promise<Converter>>> = {
  journal: async () => ({ events: (await import('./converted-journal.js')).journalEvents }),
  journalVerbose: async () => ({ events: (await import('./journal-verbose.js')).verboseEvents }),
  windows: async () => ({ events: (await import('./windows-events.js')).windowsEvents }),
  otlp: async () => ({ lines: (await import('./documents/converted-otlp.js')).otlpLines }),
  jaeger: async () => ({ lines: (await import('./documents/converted-jaeger.js')).jaegerLines }),
  zipkin: async () => ({ lines: (await import('./documents/converted-zipkin.js')).zipkinLines }),
  cloudwatch: async () => ({ lines: (await import('./documents/converted-documents.js')).cloudwatchLines }),
  loki: async () => ({ lines: (await import('./documents/converted-documents.js')).lokiLines }),
  prometheus: async () => ({ lines: (await import('./documents/converted-documents.js')).prometheusLines }),
  columns: async () => ({ lines: (await import('./documents/converted-columns.js')).columnLines }),
  extended: async () => ({ lines: (await import('./documents/converted-extended.js')).extendedLines }),
  bulk: async () => ({ events: (await import('./converted-bulk.js')).bulkDocuments }),
  metrics: async () => ({ events: (await import('./converted-metrics.js')).metricSamples }),
  fluent: async () => ({ events: (await import('./converted-fluent.js')).fluentRecords }),
  toa5: async () => ({ events: (await import('./converted-toa5.js')).toa5Lines }),
  tables: async () => ({ events: (await import('./printed-tables.js')).printedTables }),
  records: async () => ({ events: (await import('./printed-records.js')).printedRecords }),
};

/**
 * Returns the format of a text that begins with `start`, if it is one that is converted to JSON or CSV lines before it is read. A request
 * with another format, or a pattern, gets the text unchanged.
 */
export function convertedFormat(
  start: string,
  { format, pattern }: Pick<ImportRequest, 'format' | 'pattern'>,
): LogFormat | undefined {
  if (pattern !== undefined) return undefined;
  return logFormats.find(({ name, reading }) => {
    if (reading.kind !== 'converted') return false;
    return format === undefined ? new RegExp(reading.begins, 'u').test(start) : name === format;
  });
}

/** Output format of a conversion, and its notes. */
interface Converted {
  readonly ending: '.ndjson' | '.csv';
  readonly notes: readonly string[];
}

/** Writes the events of a text in a converted format; undefined if the text turns out to be something else. Throws LocalError. */
export async function writeConverted(
  file: string,
  target: string,
  name: string,
  { label, reading }: LogFormat,
): Promise<Converted | undefined> {
  if (reading.kind !== 'converted') return undefined;
  const converter = await converters[reading.as]();
  const left = new Left();
  try {
    if ('lines' in converter)
      await writeValues(file, target, {
        lines: value => converter.lines(value.toString(), left).map(line => Buffer.from(line)),
      });
    else await writeCopy(target, [Readable.from(linesOf(converter.events(createReadStream(file), left)))]);
  } catch (error) {
    if (error instanceof NotPrinted) {
      await rm(target, { force: true });
      return undefined;
    }
    if (error instanceof LocalError || systemRefusal(error) !== undefined) throw error;
    throw new LocalError('invalid', 'unreadable', `${name} cannot be read completely as ${label}.`, {
      hint: 'It is truncated or damaged: get the complete file.',
      cause: error,
    });
  }
  const notes = [`The lines are read as ${label}.`, ...left.notes()];
  return { ending: `.${reading.to ?? 'ndjson'}`, notes };
}

async function* linesOf(events: AsyncIterable<object | string>): AsyncGenerator<string> {
  for await (const event of events) yield `${typeof event === 'string' ? event : JSON.stringify(event)}\n`;
}
