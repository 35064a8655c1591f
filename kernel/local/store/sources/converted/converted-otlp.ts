import { LocalError } from '../../../local-errors.js';
import { pointEvent } from '../../../otlp/metrics.js';
import type { OtlpEvent } from '../../../otlp/otlp-cells.js';
import { logEvent } from '../../../otlp/otlp-logs.js';
import { logsOf, pointsOf, spansOf } from '../../../otlp/otlp-protocol.js';
import { spanEvent } from '../../../otlp/otlp-spans.js';

/**
 * Returns the spans, log records and data points of an OTLP request, as written by the file exporter of the OpenTelemetry Collector, each
 * as a line of JSON with the same fields as when sent to the service. Any other text is unchanged.
 */
export function otlpLines(text: string): readonly string[] {
  try {
    const body = Buffer.from(text);
    const events = [
      ...spansOf(body, 'json').map(spanEvent),
      ...logsOf(body, 'json').map(logEvent),
      ...pointsOf(body).map(pointEvent),
    ];
    return events.length === 0 ? [text] : events.map(lineOf);
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    return [text];
  }
}

function lineOf({ time, cells }: OtlpEvent): string {
  const members = [...cells].map(([name, { text }]) => `${JSON.stringify(name)}:${text}`);
  return `{${[...(time === undefined ? [] : [`"_time":${time}`]), ...members].join(',')}}`;
}
