import type { Beginning, LogFormat } from '../../../../api/logs/format.js';
import { logFormats, plainText } from '../../../../api/logs/formats.js';
import { beginsEvent, eventsOf } from './events.js';

/** Returns the first format that the lines at the beginning of a file have: nine events of ten, as others may be damaged; else plain text. */
export function recognizeFormat(lines: readonly string[]): LogFormat {
  return logFormats.find(format => shareOf(format, lines) >= usualShare) ?? plainText;
}

/** Returns the format that most of the lines have, as others may stand between them; plain text if none is that of more than half. */
export function likeliestFormat(lines: readonly string[]): LogFormat {
  const shares = logFormats.map(format => ({ format, share: shareOf(format, lines) }));
  const { format, share } = shares.reduce((most, each) => (each.share > most.share ? each : most));
  return share > 0.5 ? format : plainText;
}

const usualShare = 0.9;

/** A longer line says no more of its format, and JavaScript's expressions take the square of its length. */
const longestLine = 4096;

/** Returns which share of the events in these lines has a format. */
function shareOf({ reading }: LogFormat, all: readonly string[]): number {
  const lines = all.filter(line => line.length <= longestLine);
  switch (reading.kind) {
    case 'lines': {
      const shapes = reading.shapes
        .filter(({ loose }) => !loose)
        .map(({ pattern }) => new RegExp(pattern, 'u'));
      const events = reading.begins === undefined ? lines : wholeEvents(lines, reading.begins);
      // An event has no lines below it that are a log themselves.
      if (events.length < lines.length && shareOfPairs(lines) > 0.5) return 0;
      return events.filter(event => shapes.some(shape => shape.test(event))).length / (events.length || 1);
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

function shareOfPairs(lines: readonly string[]): number {
  return lines.filter(line => pairs.test(line)).length / (lines.length || 1);
}

/** Without what is left at the beginning of an event that a file before this one holds. */
function wholeEvents(lines: readonly string[], begins: Beginning): readonly string[] {
  const first = lines.findIndex(beginsEvent(begins));
  return first < 0 ? [] : eventsOf(lines.slice(first), begins);
}

/** Lines in front of the names of fields, at most. */
const mostComments = 20;

const pairs = /^\s*[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*)(\s+[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*))+\s*$/;
