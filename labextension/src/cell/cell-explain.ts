/** Cells below an output that follow up on a reader's selection: what distinguishes these events, and the events around one. */
import type { INotebookTracker } from '@jupyterlab/notebook';
import {
  type Chosen,
  type ChosenBucket,
  type ChosenRow,
  type ChosenValue,
  chosenMark,
  chosenPart,
  chosenRows,
  sourceOfRow,
} from '../../../kernel/apl/editor/chosen.js';
import type { ResultColumn } from '../../../kernel/apl/editor/condition.js';
import { eventsOf, traceField } from '../../../kernel/apl/editor/editor-events.js';
import { present } from '../../../kernel/present.js';
import { formatTime, parseTime } from '../../../kernel/time.js';
import { homeOf, type ShownOutput } from '../link/home.js';
import type { Workbench } from '../link/workbench.js';
import { belowOutput, traceBelow } from './below.js';
import { queryShown } from './query-shown.js';

/** Follows up on a selection in one output; each method returns the outcome in a sentence. */
export interface Explainer {
  /** Explains the rows of a table with the value of a column, or the groups that they represent. */
  rows(columns: readonly ResultColumn[], column: string, rows: readonly ChosenRow[]): string;
  /** Explains an interval of the axis of a chart; times are in milliseconds since 1970. */
  part(from: number, to: number, isTime: boolean): string;
  /**
   * Explains a mark of a chart: its groups, the bounds of its bin in milliseconds since 1970, or `all` of a series over time, and its
   * bucket of a histogram.
   */
  mark(
    values: readonly ChosenValue[],
    span?: readonly [from: number, to: number] | 'all',
    bucket?: ChosenBucket,
  ): string;
  /**
   * Returns functions that add cells of the events around a row, of those with its value of `column`, and of its trace; absent if there
   * are none.
   */
  around(column: ResultColumn, row: ChosenRow): Around;
  /** Returns a function that adds the cell of a row's trace; undefined if the row names none. */
  trace(row: ChosenRow): (() => string) | undefined;
}

/** Functions that add a cell; each returns the outcome in a sentence. */
export interface Around {
  readonly all?: () => string;
  readonly same?: () => string;
  readonly trace?: () => string;
}

/** Returns the explainer of an output; undefined outside notebooks, and for an output without a query. */
export function explainerOf(
  output: Pick<ShownOutput, 'model'>,
  notebooks: INotebookTracker | null,
  workbench: Workbench,
): Explainer | undefined {
  const facts = queryShown(output.model.metadata.apl);
  const home = homeOf(output, notebooks);
  if (facts === undefined || home === undefined) return undefined;
  const { query, range, window } = facts;
  const write = (chosen: Chosen): string => {
    if ('problem' in chosen) return chosen.problem;
    const events = eventsOf(query);
    if (events === undefined) return 'The query of this result reads no events.';
    return below(
      [...range, `%%explain ${chosen.condition}`, events],
      'The explanation is in the cell below.',
    );
  };
  const below = belowOutput(home, facts, workbench);
  const trace = (row: ChosenRow) =>
    traceBelow(row.get(traceField([...row.keys()]) ?? '') ?? '', facts, below);
  return {
    rows: (columns, column, rows) => write(chosenRows(query, columns, column, rows, window)),
    part: (from, to, isTime) => {
      const ends = isTime ? [from, to].map(timeLiteral) : [from, to].map(String);
      return write(chosenPart(query, ends[0] ?? '', ends[1] ?? '', isTime));
    },
    mark: (values, span, bucket) => {
      const ends = span === undefined || span === 'all' ? span : literalsOf(span);
      return write(chosenMark(query, { values, ...present({ span: ends, bucket }) }, window));
    },
    around: (column, row) => {
      const ofTrace = present({ trace: trace(row) });
      const at = parseTime(row.get('_time') ?? '');
      const found = at === undefined ? undefined : sourceOfRow(query, column, row.get(column.name) ?? null);
      if (at === undefined || found === undefined) return ofTrace;
      const { source, condition } = found;
      const show = (...operators: readonly string[]) =>
        below([`%%around ${formatTime(at)}`, source, ...operators], 'The events are in the cell below.');
      return {
        ...ofTrace,
        all: () => show(),
        ...present({ same: condition === undefined ? undefined : () => show(`| where ${condition}`) }),
      };
    },
    trace,
  };
}

function literalsOf([from, to]: readonly [number, number]): readonly [string, string] {
  return [timeLiteral(from), timeLiteral(to)];
}

function timeLiteral(at: number): string {
  return `datetime(${new Date(at).toISOString()})`;
}
