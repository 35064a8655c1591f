import type { Beginning, LogFormat } from '../../../../api/logs/log-format.js';
import { logFormats, plainText } from '../../../../api/logs/log-formats.js';
import { beginsEvent, eventsOf } from './log-events.js';

/** Format of the lines at the beginning of a file. */
export interface Recognized {
  readonly format: LogFormat;
  /** Whether nine out of ten events have it, allowing for damaged ones; otherwise it is the likeliest format. */
  readonly isUsual: boolean;
}

/** Returns the first format that nine out of ten events have, otherwise the most frequent one; plain text if none has more than half. */
export function recognizeFormat(all: readonly string[]): Recognized {
  const lines = all.filter(line => line.length <= longestLine);
  let likeliest = { format: plainText, share: leastShare };
  for (const format of logFormats) {
    const share = shareOf(format, lines);
    if (share >= usualShare) return { format, isUsual: true };
    if (share > likeliest.share) likeliest = { format, share };
  }
  return { format: likeliest.format, isUsual: false };
}

/** Returns the format of a CSV that begins with these lines, or of values below a comment with their names. */
export function csvFormatOf(lines: readonly string[]): LogFormat | undefined {
  const isOfValues = ({ reading: { kind } }: LogFormat) => kind === 'csv' || kind === 'headed';
  return logFormats.find(format => isOfValues(format) && shareOf(format, lines) === 1);
}

const usualShare = 0.9;
const leastShare = 0.5;

/** Maximum line length for detection: longer lines add nothing, and JavaScript regular expressions may take quadratic time. */
const longestLine = 4096;

/** Returns the share of events in these lines with a format; 0 if it is half or less. */
function shareOf({ reading }: LogFormat, lines: readonly string[]): number {
  switch (reading.kind) {
    case 'lines': {
      const shapes = reading.shapes
        .filter(({ loose }) => !loose)
        .map(({ pattern }) => new RegExp(pattern, 'u'));
      const events = reading.begins === undefined ? lines : wholeEvents(lines, reading.begins);
      // The lines of an event are not themselves a log.
      if (events.length < lines.length && shareOfPairs(lines) > 0.5) return 0;
      return shareWhere(events, event => shapes.some(shape => shape.test(event)));
    }
    case 'pairs':
      return shareOfPairs(lines);
    case 'headed': {
      const [header] = lines.filter(line => new RegExp(reading.header, 'u').test(line));
      const rows = lines.slice(header === undefined ? lines.length : lines.indexOf(header) + 1);
      return rows.length > 0 && lines.indexOf(header ?? '') < mostComments ? 1 : 0;
    }
    case 'csv':
      return new RegExp(reading.begins, 'u').test(lines[0] ?? '') ? 1 : 0;
    case 'json':
    case 'converted':
    case 'text':
      return 0;
  }
}

/** Returns the share of matching events; stops with 0 once half do not match. */
function shareWhere(events: readonly string[], isLike: (event: string) => boolean): number {
  let unlike = 0;
  for (const event of events) if (!isLike(event) && ++unlike >= events.length * leastShare) return 0;
  return (events.length - unlike) / (events.length || 1);
}

function shareOfPairs(lines: readonly string[]): number {
  return shareWhere(lines, line => pairs.test(line));
}

/** Drops the rest of an event that began in a previous file. */
function wholeEvents(lines: readonly string[], begins: Beginning): readonly string[] {
  const first = lines.findIndex(beginsEvent(begins));
  return first < 0 ? [] : eventsOf(lines.slice(first), begins);
}

/** Maximum number of lines before the header. */
const mostComments = 20;

const pairs = /^\s*[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*)(\s+[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*))+\s*$/;
