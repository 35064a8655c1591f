import { sqlText } from '../../duckdb/literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { findLineTime, timeOfLine } from './line-times.js';
import { keep, type Reading } from './reading.js';
import { longLines, rowsInSample } from './sample.js';
import { countRefused, readTexts } from './texts.js';

/** The formats of log lines: named by the user, or recognised where nearly every line at the beginning of the file fits. */
export const lineFormats = ['combined', 'syslog', 'cri', 'klog', 'logfmt', 'text'] as const;

export type LineFormat = (typeof lineFormats)[number];

/** Whether each row of a file is a line of a log. */
export function isLineFormat(format: string): format is LineFormat {
  return (lineFormats as readonly string[]).includes(format);
}

/** Reads lines of a log: the fields of its format, and the whole line in the field `line` where it is not of that format. */
export async function readLines(
  connection: Connection,
  file: string,
  format: LineFormat,
): Promise<Reading | undefined> {
  const raw = lineReader(file, 'fast');
  await keep(connection, 'raw', `SELECT l FROM ${raw} WHERE l IS NOT NULL LIMIT ${await rowsInSample(file)}`);
  if ((await connection.run('SELECT 1 FROM raw LIMIT 1')).length === 0) return undefined;
  const { names, columns, notes = [] } = await partsOf(connection, format);
  const texts = (from: string) =>
    `(SELECT ${columns.map((sql, index) => `nullif(${sql}, '') AS t${index}`).join(', ')} FROM (${matched(format, from)}))`;
  await keep(connection, 'sample', `SELECT * FROM ${texts('raw')}`);
  const careful = lineReader(file, 'careful');
  return readTexts(connection, {
    names,
    fast: texts(raw),
    careful: texts(careful),
    refused: () => countRefused(connection, careful),
    notes: [format === 'text' ? plainNote : `The lines are read as ${labels[format]}.`, ...notes],
  });
}

/** Returns the format that nine lines of ten have, as others may be of a stack trace; logfmt is that of every line. Else `text`. */
export function recogniseFormat(lines: readonly string[]): LineFormat {
  const known = Object.entries(patterns).find(([, { pattern }]) => {
    const expression = new RegExp(pattern, 'u');
    const fitting = lines.filter(line => expression.test(line)).length;
    return fitting > 0 && fitting >= lines.length * 0.9;
  });
  if (known) return known[0] as LineFormat;
  const pair = /^\s*[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*)(\s+[\w.@/-]+=("(\\.|[^"\\])*"|[^\s"]*))+\s*$/;
  return lines.length > 0 && lines.every(line => pair.test(line)) ? 'logfmt' : 'text';
}

interface LinePattern {
  /** For RE2 and JavaScript alike; one group per field. */
  readonly pattern: string;
  readonly fields: readonly string[];
}

const time = '[A-Z][a-z]{2} {1,2}\\d{1,2} \\d{2}:\\d{2}:\\d{2}|\\d{4}-\\d{2}-\\d{2}T\\S+';

/**
 * Access logs (https://httpd.apache.org/docs/current/logs.html#combined), containers' logs
 * (https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md), those of the components of
 * Kubernetes (https://kubernetes.io/docs/concepts/cluster-administration/system-logs/) and syslog
 * (https://www.rfc-editor.org/rfc/rfc3164).
 */
const patterns: Readonly<Record<Exclude<LineFormat, 'logfmt' | 'text'>, LinePattern>> = {
  combined: {
    pattern:
      '^(\\S+) \\S+ (\\S+) \\[([^\\]]+)\\] "(\\S+) (\\S+)(?: (\\S+))?" (\\d{3}) (\\d+|-)(?: "([^"]*)" "([^"]*)")?.*$',
    fields: [
      'client',
      'user',
      'time',
      'method',
      'uri',
      'protocol',
      'status',
      'bytes',
      'referer',
      'user_agent',
    ],
  },
  cri: {
    pattern: '^(\\d{4}-\\d{2}-\\d{2}T\\S+) (stdout|stderr) ([FP]) (.*)$',
    fields: ['time', 'stream', 'tag', 'message'],
  },
  klog: {
    pattern: '^([IWEF])(\\d{4} \\d{2}:\\d{2}:\\d{2}\\.\\d{6}) +(\\d+) ([^ \\]]+)\\] ?(.*)$',
    fields: ['level', 'time', 'thread', 'source', 'message'],
  },
  syslog: {
    pattern: `^(?:<(\\d{1,3})>)?(${time}) (\\S+) ([^\\s:\\[]+)(?:\\[(\\d+)\\])?: ?(.*)$`,
    fields: ['priority', 'time', 'host', 'program', 'pid', 'message'],
  },
};

const labels: Readonly<Record<Exclude<LineFormat, 'text'>, string>> = {
  combined: 'access log lines (common or combined format)',
  cri: 'container log lines (CRI)',
  klog: 'log lines of Kubernetes (klog)',
  syslog: 'syslog lines',
  logfmt: 'logfmt: key=value',
};

const plainNote = `The file is plain text: each line is the field \`line\`. Split it with \`parse\`, as in \`| parse line with * "status=" status:long " " *\`, or name its format: ${Object.keys(labels).join(', ')}.`;

/** The relation of lines l, with their parts p where the format has fixed ones. */
function matched(format: LineFormat, from: string): string {
  if (format === 'text' || format === 'logfmt') return `SELECT l FROM ${from} WHERE l IS NOT NULL`;
  const { pattern, fields } = patterns[format];
  const groups = fields.map((_, index) => sqlText(`g${index}`)).join(', ');
  return `SELECT l, regexp_extract(l, ${sqlText(pattern)}, [${groups}]) AS p, regexp_matches(l, ${sqlText(pattern)}) AS ok FROM ${from} WHERE l IS NOT NULL`;
}

interface Parts {
  readonly names: readonly string[];
  readonly columns: readonly string[];
  readonly notes?: readonly string[];
}

async function partsOf(connection: Connection, format: LineFormat): Promise<Parts> {
  if (format === 'text') return textParts(connection);
  if (format === 'logfmt') return pairsOf(connection);
  const { fields } = patterns[format];
  const groups = fields.map((name, index) => {
    if (name === 'time') return `CASE WHEN ok THEN p.g${index} ELSE ${timeOfLine} END`;
    return name === 'bytes' || name === 'user' ? `nullif(p.g${index}, '-')` : `p.g${index}`;
  });
  return { names: [...fields, 'line'], columns: [...groups, 'CASE WHEN NOT ok THEN l END'] };
}

/** The line, and the time at its beginning where lines of the sample have one. */
async function textParts(connection: Connection): Promise<Parts> {
  const time = await findLineTime(connection);
  if (time === undefined) return { names: ['line'], columns: ['l'] };
  return { names: ['line', '_time'], columns: ['l', time.sql], notes: time.notes };
}

const mostPairs = 200;

/** The keys of the sample; the whole line stays too, as later lines may have other keys. */
async function pairsOf(connection: Connection): Promise<Parts> {
  const rows = await connection.run(
    `SELECT k FROM (SELECT unnest(regexp_extract_all(l, '(?:^|\\s)([\\w.@/-]+)=', 1)) AS k, rowid AS n FROM raw) GROUP BY k ORDER BY min(n), k LIMIT ${mostPairs}`,
  );
  const keys = rows.map(([key]) => String(key));
  const value = (key: string) => {
    const pattern = `(?:^|\\s)${key.replace(/[.\\/]/g, '\\$&')}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s"]*))`;
    return `(regexp_extract(l, ${sqlText(pattern)}, 1) || regexp_extract(l, ${sqlText(pattern)}, 2))`;
  };
  return { names: [...keys, 'line'], columns: [...keys.map(value), 'l'] };
}

/** No log holds this delimiter: a line is one value. */
const noDelimiter = 'chr(1) || chr(2) || chr(3)';

/**
 * Returns SQL of the lines l of a file. `long` also reads long lines; `careful` does too, and records those that it leaves out;
 * `first` is for a few lines from the beginning, of `limits`: it reads no more than it must.
 */
export function lineReader(
  file: string,
  mode: 'fast' | 'careful' | 'long' | 'first',
  limits = longLines,
): string {
  const plain = `auto_detect = false, header = false, delim = ${noDelimiter}, quote = '', escape = '', strict_mode = false, columns = {'l': 'VARCHAR'}`;
  const more = {
    fast: '',
    careful: `, ${longLines}, store_rejects = true`,
    long: `, ${longLines}`,
    first: `, ${limits}, parallel = false`,
  }[mode];
  return `read_csv(${sqlText(file)}, ${plain}${more})`;
}
