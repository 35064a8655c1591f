import { zoneWord } from '../../time.js';

/** How text is split: a pattern for both RE2 and JavaScript, with a named group for each field. */
export interface Cut {
  readonly pattern: string;
  /** Groups to split further: of `pattern`, or of a previous split. */
  readonly splits?: readonly { readonly group: string; readonly pattern: string }[];
}

/** How lines are split; a line with a group that cannot be split is left whole. */
export interface Shape extends Cut {
  /**
   * A faster cut for the most frequent lines: its patterns have so few groups each that the engine matches them in one pass.
   * Whatever it matches as a whole, splits included, yields the same fields as the shape, and the fields that it does not name are
   * empty.
   */
  readonly usual?: Cut;
  /** A group of pairs, such as `rt=0.1 up="a"`: each becomes a field, and anything else stays in the group. */
  readonly pairs?: { readonly group: string; readonly style: PairStyle };
  /** Whether it only reads lines that no earlier shape matches, and does not count when the format is detected. */
  readonly loose?: true;
  /** Fields that exist only if a line of the sample has them. */
  readonly optional?: readonly string[];
}

/** Syntax of pairs: `a=1 b="two words"`, CEF, whose values contain blanks, or LEEF, separated by tabs. */
export type PairStyle = 'logfmt' | 'cef' | 'leef';

/** Lines that begin an event: those that match `line`, except after one that matches `unless`. */
export interface Beginning {
  readonly line: string;
  readonly unless?: string;
}

/** How to read a file of one format. */
export type LogReading =
  /** Each line matches one of the shapes. */
  | {
      readonly kind: 'lines';
      readonly shapes: readonly Shape[];
      /** Text of a missing value, in these fields. */
      readonly absent?: { readonly text: string; readonly fields: readonly string[] };
      /** Fields in which a backslash escapes itself and the characters that would end them. */
      readonly escaped?: readonly string[];
      /** Beginning of an event of several lines: the following lines belong to it. */
      readonly begins?: Beginning;
    }
  /** Each line consists of pairs. */
  | { readonly kind: 'pairs' }
  /** Header lines name the fields of the lines below them. */
  | {
      readonly kind: 'headed';
      /** Matches a header line; its first group is the field names, separated by blanks, tabs or commas. */
      readonly header: string;
      /** Matches lines that are not events. */
      readonly comment: string;
      /** Matches the comment whose first group is the date of the lines below it, if these have a `time` and no `date`. */
      readonly day?: string;
      readonly absent: readonly string[];
      /** Whether `\x41` in a value is a byte of UTF-8, and `\\` a backslash. */
      readonly escapes?: true;
    }
  /** Each line is one field. */
  | { readonly kind: 'text' }
  /** Each line is an object, as in any other JSON file. */
  | { readonly kind: 'json' }
  /** Converted to lines of JSON, or to CSV, before it is read. */
  | {
      readonly kind: 'converted';
      readonly begins: string;
      readonly as: ConvertedFormat;
      readonly to?: 'csv';
    }
  /** Comma-separated values; `fields` names the columns that the file does not name, whether or not it has a header line. */
  | {
      readonly kind: 'csv';
      readonly begins: string;
      readonly fields: readonly string[];
      readonly header?: true;
    };

/**
 * Formats converted to lines of JSON or to CSV: the output of a journal, Windows events in XML, JSON documents, metrics, values of a
 * data logger, or tables printed by database clients.
 */
export type ConvertedFormat =
  | 'journal'
  | 'journalVerbose'
  | 'windows'
  | 'otlp'
  | 'jaeger'
  | 'zipkin'
  | 'cloudwatch'
  | 'loki'
  | 'prometheus'
  | 'columns'
  | 'extended'
  | 'bulk'
  | 'metrics'
  | 'fluent'
  | 'toa5'
  | 'tables'
  | 'records';

/** A log format. A new one is a row in a file of this folder. */
export interface LogFormat {
  /** Name in `--format`. */
  readonly name: string;
  /** Completes "The lines are read as". */
  readonly label: string;
  /** Lines as the program writes them: the documentation shows how they are read. */
  readonly example: readonly string[];
  readonly reading: LogReading;
  /**
   * The timestamp fields, if their names do not identify them: a line's timestamp is in the first one that it has, else within the
   * line.
   */
  readonly time?: readonly string[];
  /** Whether the timestamp is parsed as in plain text, because the order of its date numbers is unknown. */
  readonly timeAsInText?: true;
  /** Integer fields that are durations in nanoseconds. */
  readonly durations?: readonly string[];
}

/** Names of levels, in uppercase, lowercase or capitalized. */
function levelWords(): string {
  const words = [
    'trace',
    'debug',
    'info',
    'notice',
    'warn',
    'warning',
    'error',
    'fatal',
    'severe',
    'critical',
    'panic',
    'dpanic',
    'verbose',
    'information',
    'err',
    'crit',
    'alert',
    'emerg',
    // Serilog.
    'vrb',
    'dbg',
    'inf',
    'wrn',
    'ftl',
  ];
  const cased = words.flatMap(word => [
    word,
    word.toUpperCase(),
    `${word[0]?.toUpperCase()}${word.slice(1)}`,
  ]);
  return `(?:${cased.join('|')})`;
}

/** Patterns shared by many formats. */
export const part = {
  /** RFC 3339, also with a blank, a comma, a zone name or no zone. */
  iso: `\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9}|:\\d{3}\\b)?(?: [AP]M\\b)?(?: ?(?:${zoneWord}\\b|[+-]\\d{2}:?\\d{2}))?`,
  /** Content of quotes, in which a backslash escapes. */
  quoted: '(?:[^"\\\\]|\\\\.)*',
  /** All lines of an event. */
  all: '[\\s\\S]*',
  request: '^(?<method>[A-Za-z][A-Za-z_-]*) (?<uri>.*?)(?: (?<protocol>[A-Za-z]+/\\d[\\d.]*))?$',
  level: levelWords(),
  stack: '(?:\\n(?<stack>[\\s\\S]*))?',
} as const;
