import type { Beginning, LogFormat, LogReading } from '../../../../api/logs/format.js';
import { logFormats, plainText } from '../../../../api/logs/formats.js';
import { eventsOf } from './events.js';

/** Returns the first format that the lines at the beginning of a file have: nine events of ten, as others may be damaged; else plain text. */
export function recognizeFormat(lines: readonly string[]): LogFormat {
  const short = lines.filter(line => line.length <= longestLine);
  return logFormats.find(({ reading }) => short.length > 0 && isOf(reading, short)) ?? plainText;
}

/** A longer line says no more of its format, and JavaScript's expressions take the square of its length. */
const longestLine = 4096;

function isOf(reading: LogReading, lines: readonly string[]): boolean {
  switch (reading.kind) {
    case 'lines': {
      const shapes = reading.shapes
        .filter(({ loose }) => !loose)
        .map(({ pattern }) => new RegExp(pattern, 'u'));
      const events = reading.begins === undefined ? lines : wholeEvents(lines, reading.begins);
      const fitting = events.filter(event => shapes.some(shape => shape.test(event))).length;
      return fitting > 0 && fitting >= events.length * 0.9;
    }
    case 'pairs':
      return lines.every(line => pairs.test(line));
    case 'headed': {
      const [header] = lines.filter(line => new RegExp(reading.header, 'u').test(line));
      const rows = lines.slice(header === undefined ? lines.length : lines.indexOf(header) + 1);
      return rows.length > 0 && lines.indexOf(header ?? '') < mostComments;
    }
    case 'csv':
      return new RegExp(reading.begins, 'u').test(lines[0] ?? '');
    case 'json':
    case 'converted':
    case 'text':
      return false;
  }
}

/** Without what is left at the beginning of an event that a file before this one holds. */
function wholeEvents(lines: readonly string[], begins: Beginning): readonly string[] {
  const first = lines.findIndex(line => new RegExp(begins.line, 'u').test(line));
  return first < 0 ? [] : eventsOf(lines.slice(first), begins);
}

/** Lines in front of the names of fields, at most. */
const mostComments = 20;

const pairs = /^\s*[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*)(\s+[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*))+\s*$/;
