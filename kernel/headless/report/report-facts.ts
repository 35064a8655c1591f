import { own } from '../../present.js';
import { oneLine, withCode } from '../../text.js';
import { formatTime, parseTime } from '../../time.js';
import { writtenParameters } from '../headless-parameters.js';
import type { CodeCell, Notebook } from '../notebook.js';

/** The facts shown above a report: names and values, in order, and how to turn a value into HTML (default: as plain text). */
export type ReportFacts = readonly (readonly [
  name: string,
  value: string,
  written?: (text: string) => string,
])[];

/** Returns the range, the profiles, the datasets, the parameters and the versions behind the results of a notebook. */
export function reportFacts(notebook: Notebook): ReportFacts {
  const code = notebook.cells.filter(cell => cell.cell_type === 'code');
  const results = code.flatMap(provenancesOf);
  const texts = (name: keyof Provenance) =>
    [...new Set(results.flatMap(each => each[name] ?? []))].filter(text => text !== '').join(', ');
  const facts: ReportFacts = [
    ['Time range', rangeText(results)],
    ['Profile', texts('profile')],
    ['Data', texts('datasets')],
    ['Parameters', parametersText(code, results)],
    ['Incomplete', incompleteText(results), withCode],
    ['Versions', texts('kernelVersion') && `apl-kernel ${texts('kernelVersion')}`],
  ];
  return facts.filter(([, value]) => value !== '');
}

/** The fields of an output's metadata that the report shows. */
interface Provenance {
  readonly startTime?: string;
  readonly endTime?: string;
  readonly frozen?: boolean;
  readonly profile?: string;
  readonly datasets?: readonly string[];
  readonly kernelVersion?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Reasons why the result is incomplete. */
  readonly shortfalls?: readonly { readonly text?: unknown }[];
}

function provenancesOf(cell: CodeCell): readonly Provenance[] {
  return cell.outputs.flatMap(output => {
    const apl = 'metadata' in output ? output.metadata.apl : undefined;
    return typeof apl === 'object' && apl !== null && 'startTime' in apl ? [apl as Provenance] : [];
  });
}

/** Returns the window that covers all results. */
function rangeText(results: readonly Provenance[]): string {
  const starts = results.flatMap(({ startTime }) => parseTime(startTime ?? '') ?? []);
  const ends = results.flatMap(({ endTime }) => parseTime(endTime ?? '') ?? []);
  if (starts.length === 0 || ends.length === 0) return '';
  const start = starts.reduce((a, b) => (a < b ? a : b));
  const end = ends.reduce((a, b) => (a > b ? a : b));
  const windows = new Set(results.map(({ startTime, endTime }) => `${startTime} ${endTime}`)).size;
  const several = windows > 1 ? `, in ${windows} windows, each above its result` : '';
  const moving = results.some(({ frozen }) => frozen !== true) ? '; some follow the clock of the run' : '';
  return `${formatTime(start)} to ${formatTime(end)}${several}${moving}`;
}

/** Returns how many outputs show incomplete, sampled, estimated or recorded results, with each reason once. */
function incompleteText(results: readonly Provenance[]): string {
  const short = results.filter(({ shortfalls }) => Array.isArray(shortfalls) && shortfalls.length > 0);
  if (short.length === 0) return '';
  const texts = short.flatMap(({ shortfalls = [] }) =>
    shortfalls.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])),
  );
  const listed = [...new Set(texts)].slice(0, MOST_REASONS).map(text => oneLine(text, longestParameter));
  return `${short.length} of ${results.length} outputs: ${listed.join('; ')}`;
}

/** Maximum reasons listed here; the remaining ones appear above their outputs. */
const MOST_REASONS = 5;

const longestParameter = 120;

/** Returns the parameters that the cells set or declare: as written, or as sent with the results if prompted for or varying. */
function parametersText(code: readonly CodeCell[], results: readonly Provenance[]): string {
  const texts = [...writtenParameters(code)].flatMap(([name, { text, isAsked }]) => {
    const sent = [...new Set(results.flatMap(({ variables }) => jsonOf(own(variables, name)) ?? []))];
    const isAsWritten = text !== undefined && !isAsked && sent.length <= 1;
    const values = isAsWritten || sent.length === 0 ? [text ?? 'not set'] : sent;
    return `${name} = ${values.map(value => oneLine(value, longestParameter)).join(', then ')}`;
  });
  return texts.join(', ');
}

function jsonOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
