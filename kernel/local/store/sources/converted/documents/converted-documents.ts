/** JSON documents with several events: each becomes a separate event, with the members that apply to all of them. */

import { eventText, itemsOf, membersOf, markedJson as parsed } from './exact-json.js';

/** Returns the events of a document that CloudWatch Logs sends to a subscription; any other text is unchanged. */
export function cloudwatchLines(text: string): readonly string[] {
  const { logEvents, ...shared } = membersOf(parsed(text));
  return linesOf(
    text,
    itemsOf(logEvents).map(event => ({ ...shared, ...membersOf(event) })),
  );
}

/** Returns the entries of the streams in a Loki response or push request; any other text is unchanged. */
export function lokiLines(text: string): readonly string[] {
  const document = membersOf(parsed(text));
  const streams = itemsOf(document.streams ?? membersOf(document.data).result).map(membersOf);
  return linesOf(
    text,
    streams.flatMap(({ stream, values }) =>
      itemsOf(values).map(value => {
        const [timestamp, line, metadata] = itemsOf(value);
        return { timestamp, line, stream, metadata };
      }),
    ),
  );
}

/** Returns the samples of the series in a Prometheus response; any other text is unchanged. */
export function prometheusLines(text: string): readonly string[] {
  const series = itemsOf(membersOf(membersOf(parsed(text)).data).result).map(membersOf);
  return linesOf(
    text,
    series.flatMap(({ metric, value, values, histogram, histograms }) => [
      ...samplesOf(value, values).map(([timestamp, number]) => ({
        timestamp,
        value: numberOf(number),
        metric,
      })),
      ...samplesOf(histogram, histograms).map(([timestamp, buckets]) => ({
        timestamp,
        histogram: buckets,
        metric,
      })),
    ]),
  );
}

/** Returns the pairs of a time in milliseconds and a value in a series: one pair, or a list of pairs. */
function samplesOf(one: unknown, several: unknown): readonly (readonly [time: number, value: unknown])[] {
  return (one === undefined ? itemsOf(several) : [one]).map(sample => {
    const [seconds, value] = itemsOf(sample);
    return [Math.round(Number(seconds) * 1000), value];
  });
}

/** Parses a number; values are strings, some of which JSON numbers cannot represent. */
function numberOf(text: unknown): unknown {
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

function linesOf(text: string, events: readonly object[]): readonly string[] {
  return events.length === 0 ? [text] : events.map(eventText);
}
