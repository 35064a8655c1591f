import { parseCell } from '../../apl/syntax/cell.js';
import { oneLine } from '../../text.js';
import { formatTime, parseTime } from '../../time.js';
import { type CodeCell, type Notebook, sourceOf } from '../notebook.js';

/** What a reader has to know of a report before its first line: names and values, in the order to show them. */
export type ReportFacts = readonly (readonly [name: string, value: string])[];

/** Returns the range, the profiles, the datasets, the parameters and the versions behind the results of a notebook. */
export function reportFacts(notebook: Notebook): ReportFacts {
  const code = notebook.cells.filter(cell => cell.cell_type === 'code');
  const results = code.flatMap(provenancesOf);
  const texts = (name: keyof Provenance) =>
    [...new Set(results.flatMap(each => each[name] ?? []))].filter(text => text !== '').join(', ');
  const parameters = new Map(code.flatMap(parametersOf));
  const facts: ReportFacts = [
    ['Time range', rangeText(results)],
    ['Profile', texts('profile')],
    ['Data', texts('datasets')],
    ['Parameters', [...parameters].map(([name, text]) => `${name} = ${text}`).join(', ')],
    ['Versions', texts('kernelVersion') && `apl-kernel ${texts('kernelVersion')}`],
  ];
  return facts.filter(([, value]) => value !== '');
}

/** The part of an output's metadata that the block shows. */
interface Provenance {
  readonly startTime?: string;
  readonly endTime?: string;
  readonly frozen?: boolean;
  readonly profile?: string;
  readonly datasets?: readonly string[];
  readonly kernelVersion?: string;
}

function provenancesOf(cell: CodeCell): readonly Provenance[] {
  return cell.outputs.flatMap(output => {
    const apl = 'metadata' in output ? output.metadata.apl : undefined;
    return typeof apl === 'object' && apl !== null && 'startTime' in apl ? [apl as Provenance] : [];
  });
}

/** The window around the windows of all results. */
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

const longestParameter = 120;

/** `%param` lines as written; the last of a name holds. */
function parametersOf(cell: CodeCell): readonly (readonly [name: string, text: string])[] {
  const lines = parseCell(sourceOf(cell)).magics.filter(({ name }) => name.toLowerCase() === 'param');
  return lines.flatMap(({ args }) => {
    const assignments = args.replace(/\s--(?:choices|prompt)\b.*$/s, '');
    const parts = assignments.split(/\s+(?=[A-Za-z_]\w*\s*=(?!=))/);
    return parts.flatMap(part => {
      const [, name, text] = /^\s*([A-Za-z_]\w*)\s*=\s*(.+)$/s.exec(part) ?? [];
      return name === undefined || text === undefined
        ? []
        : [[name, oneLine(text, longestParameter)] as const];
    });
  });
}
