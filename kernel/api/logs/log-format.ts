import { zoneWord } from '../../time.js';

/** How text is split: a pattern for RE2 and JavaScript alike, with a named group for each field. */
export interface Cut {
  readonly pattern: string;
  /** Groups that are themselves split: of `pattern`, or of a split before. */
  readonly splits?: readonly { readonly group: string; readonly pattern: string }[];
}

/** How lines are split; a line of which a group cannot be split is kept whole. */
export interface Shape extends Cut {
  /**
   * A faster cut for lines that most files have: by patterns of so few groups each that the engine finds them in one pass. Whatever it
   * fits as a whole, splits and all, has the same fields by the shape, and fields that it does not name have no value.
   */
  readonly usual?: Cut;
  /** The group that holds pairs, such as `rt=0.1 up="a"`: each is a field, and what is not a pair stays in the group. */
  readonly pairs?: { readonly group: string; readonly style: PairStyle };
  /** It reads what the shapes before it leave, and says nothing of the format of a file. */
  readonly loose?: true;
  /** Fields that exist only if a line of the sample has them. */
  readonly optional?: readonly string[];
}

/** How pairs are written: `a=1 b="two words"`; those of CEF, whose values hold blanks; those of LEEF, divided by tabs. */
export type PairStyle = 'logfmt' | 'cef' | 'leef';

/** Which lines begin an event: those that match `line`, but after one that matches `unless`. */
export interface Beginning {
  readonly line: string;
  readonly unless?: string;
}

/** How a file of one kind is read. */
export type LogReading =
  /** Each line fits one of the shapes. */
  | {
      readonly kind: 'lines';
      readonly shapes: readonly Shape[];
      /** What stands for a missing value, in these fields. */
      readonly absent?: { readonly text: string; readonly fields: readonly string[] };
      /** Fields in which a backslash stands before a character that would end them, and before itself. */
      readonly escaped?: readonly string[];
      /** How an event begins, if events have several lines: those that follow belong to it. */
      readonly begins?: Beginning;
    }
  /** Each line consists of pairs. */
  | { readonly kind: 'pairs' }
  /** A line names the fields of those below it, up to the next such line. */
  | {
      readonly kind: 'headed';
      /** The line that names the fields, which are its first group, divided by blanks, tabs or commas. */
      readonly header: string;
      /** Lines that hold no event. */
      readonly comment: string;
      /** The comment whose first group is the day of the lines below it, if these have a `time` and no `date`. */
      readonly day?: string;
      readonly absent: readonly string[];
    }
  /** Each line is one field. */
  | { readonly kind: 'text' }
  /** Each line is an object, as in any other file of JSON. */
  | { readonly kind: 'json' }
  /** It becomes lines of JSON, or of CSV, before it is read. */
  | {
      readonly kind: 'converted';
      readonly begins: string;
      readonly as: ConvertedFormat;
      readonly to?: 'csv';
    }
  /** Values between commas; `fields` names those that the file does not, which has a first line of names or none. */
  | {
      readonly kind: 'csv';
      readonly begins: string;
      readonly fields: readonly string[];
      readonly header?: true;
    };

/**
 * What a file is made lines of JSON from, or of CSV: the output of a journal, events of Windows in XML, documents of JSON, metrics, values
 * of a data logger, or what clients of databases print.
 */
export type ConvertedFormat =
  | 'journal'
  | 'journalVerbose'
  | 'windows'
  | 'otlp'
  | 'cloudwatch'
  | 'loki'
  | 'prometheus'
  | 'extended'
  | 'bulk'
  | 'metrics'
  | 'toa5'
  | 'tables'
  | 'records';

/** A format of logs. A new one is a row in a file of this folder. */
export interface LogFormat {
  /** As `--format` names it. */
  readonly name: string;
  /** Completes "The lines are read as". */
  readonly label: string;
  /** Lines as the program writes them: the documentation shows what becomes of them. */
  readonly example: readonly string[];
  readonly reading: LogReading;
  /** The fields that hold the time, if their names do not say so: of a line, the first that it has, else the time within it. */
  readonly time?: readonly string[];
  /** The time is found as in plain text, as the numbers of its day do not tell their order. */
  readonly timeAsInText?: true;
  /** Fields of integers that are durations in nanoseconds. */
  readonly durations?: readonly string[];
}

/** The names of levels, in capitals, small letters or with a capital. */
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

/** Patterns that many formats share. */
export const part = {
  /** RFC 3339, with a blank, a comma, the word of a zone or no zone too. */
  iso: `\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9}|:\\d{3}\\b)?(?: [AP]M\\b)?(?: ?(?:${zoneWord}\\b|[+-]\\d{2}:?\\d{2}))?`,
  /** Text between quotes, in which a backslash escapes. */
  quoted: '(?:[^"\\\\]|\\\\.)*',
  /** All lines of an event. */
  all: '[\\s\\S]*',
  request: '^(?<method>[A-Za-z][A-Za-z_-]*) (?<uri>.*?)(?: (?<protocol>[A-Za-z]+/\\d[\\d.]*))?$',
  level: levelWords(),
  stack: '(?:\\n(?<stack>[\\s\\S]*))?',
} as const;
