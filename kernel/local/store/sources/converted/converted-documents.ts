/** Documents of JSON that hold several events: each is an event of its own, beside what the document says of all of them. */

type Members = Readonly<Record<string, unknown>>;

/** Returns the events of a document that CloudWatch Logs sends to a subscription; any other text stays as it is. */
export function cloudwatchLines(text: string): readonly string[] {
  const { logEvents, ...shared } = membersOf(parsed(text));
  return linesOf(
    text,
    listOf(logEvents).map(event => ({ ...shared, ...membersOf(event) })),
  );
}

/** Returns the entries of the streams that Loki answers with, or that are sent to it; any other text stays as it is. */
export function lokiLines(text: string): readonly string[] {
  const document = membersOf(parsed(text));
  const streams = listOf(document.streams ?? membersOf(document.data).result).map(membersOf);
  return linesOf(
    text,
    streams.flatMap(({ stream, values }) =>
      listOf(values).map(value => {
        const [timestamp, line, metadata] = listOf(value);
        return { timestamp, line, stream, metadata };
      }),
    ),
  );
}

/** Returns the samples of the series that Prometheus answers with; any other text stays as it is. */
export function prometheusLines(text: string): readonly string[] {
  const series = listOf(membersOf(membersOf(parsed(text)).data).result).map(membersOf);
  return linesOf(
    text,
    series.flatMap(({ metric, value, values }) =>
      (value === undefined ? listOf(values) : [value]).map(sample => {
        const [seconds, number] = listOf(sample);
        return { timestamp: Math.round(Number(seconds) * 1000), value: numberOf(number), metric };
      }),
    ),
  );
}

/** Numbers are texts, some of which no number of JSON can be. */
function numberOf(text: unknown): unknown {
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

function linesOf(text: string, events: readonly object[]): readonly string[] {
  return events.length === 0 ? [text] : events.map(event => JSON.stringify(event));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
