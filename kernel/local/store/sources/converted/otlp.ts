import { LocalError } from '../../../errors.js';
import type { OtlpEvent } from '../../../otlp/cells.js';
import { logEvent } from '../../../otlp/logs.js';
import { logsOf, spansOf } from '../../../otlp/protocol.js';
import { spanEvent } from '../../../otlp/spans.js';

/**
 * Yields the spans and log records in lines of OTLP, as the file exporter of the OpenTelemetry Collector writes them, each a line of JSON
 * with the fields that it has when it is sent to the service. A line that is not a request stays as it is.
 */
export async function* otlpEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(0x0a) + 1;
    if (end > 0) yield* eventsOf(Buffer.concat([...rest.splice(0), chunk.subarray(0, end)]));
    rest.push(chunk.subarray(end));
  }
  yield* eventsOf(Buffer.concat(rest));
}

function eventsOf(lines: Buffer): readonly string[] {
  return lines
    .toString()
    .split('\n')
    .flatMap(line => (line.trim() === '' ? [] : requestEvents(line)));
}

function requestEvents(line: string): readonly string[] {
  try {
    const body = Buffer.from(line);
    const events = [...spansOf(body, 'json').map(spanEvent), ...logsOf(body, 'json').map(logEvent)];
    return events.length === 0 ? [line] : events.map(lineOf);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    return [line];
  }
}

function lineOf({ time, cells }: OtlpEvent): string {
  const members = [...cells].map(([name, { text }]) => `${JSON.stringify(name)}:${text}`);
  return `{${[...(time === undefined ? [] : [`"_time":${time}`]), ...members].join(',')}}`;
}
