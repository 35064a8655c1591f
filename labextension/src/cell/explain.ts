/** Cells below an output that go on from what a reader chooses of it: what tells these events from the others, and those around one. */
import type { INotebookTracker } from '@jupyterlab/notebook';
import {
  type Chosen,
  type ChosenRow,
  chosenPart,
  chosenRows,
  sourceOfRow,
} from '../../../kernel/apl/editor/chosen.js';
import type { ResultColumn } from '../../../kernel/apl/editor/condition.js';
import { eventsOf } from '../../../kernel/apl/editor/events.js';
import type { QueryText } from '../../../kernel/apl/syntax/parse.js';
import { tokenize } from '../../../kernel/apl/syntax/tokens/lexer.js';
import { present } from '../../../kernel/present.js';
import { formatTime, parseTime } from '../../../kernel/time.js';
import { around } from '../link/around.js';
import { homeOf, type ShownOutput } from '../link/home.js';
import type { Workbench } from '../link/workbench.js';
import { quoted } from './lines.js';
import { queryShown } from './query-shown.js';
import { addCell } from './run.js';

/** Goes on from what is chosen of one output; each returns what came of it in a sentence. */
export interface Explainer {
  /** The rows of a table with the value of a column, or the groups that they stand for. */
  rows(columns: readonly ResultColumn[], column: string, rows: readonly ChosenRow[]): string;
  /** A part of the axis of a chart; of times in milliseconds since 1970. */
  part(from: number, to: number, isTime: boolean): string;
  /** Adds cells of the events around a row, of those of them with its value of `column`, and of its trace; each is absent if there is none. */
  around(column: ResultColumn, row: ChosenRow): Around;
}

/** What adds a cell; each returns what came of it in a sentence. */
export interface Around {
  readonly all?: () => string;
  readonly same?: () => string;
  readonly trace?: () => string;
}

/** Returns what explains an output; undefined outside notebooks, and for an output without a query. */
export function explainerOf(
  output: Pick<ShownOutput, 'model'>,
  notebooks: INotebookTracker | null,
  workbench: Workbench,
): Explainer | undefined {
  const facts = queryShown(output.model.metadata.apl);
  const home = homeOf(output, notebooks);
  if (facts === undefined || home === undefined) return undefined;
  const { query, range, profile, window } = facts;
  const write = (chosen: Chosen): string => {
    if ('problem' in chosen) return chosen.problem;
    const events = eventsOf(query);
    if (events === undefined) return 'The query of this result reads no events.';
    return below([...range, `%%explain ${chosen.condition}`, events], 'Explained in the cell below.');
  };
  const below = (lines: readonly string[], done: string): string => {
    const place = around(home.panel, workbench);
    if (place.state !== 'ready') return 'The kernel of the notebook does not answer.';
    if (readsLast(query))
      return 'The query reads _, which is another result by now: give that result a name, as in name << query.';
    const isElsewhere = profile !== undefined && profile !== place.link?.session?.profile;
    const on = isElsewhere ? [`%%on ${quoted(profile)}`] : [];
    home.panel.content.activeCellIndex = home.panel.content.widgets.indexOf(home.cell);
    void addCell(home.panel, [...on, ...lines].join('\n'), true);
    return done;
  };
  return {
    rows: (columns, column, rows) => write(chosenRows(query, columns, column, rows, window)),
    part: (from, to, isTime) => {
      const ends = isTime ? [from, to].map(timeLiteral) : [from, to].map(String);
      return write(chosenPart(query, ends[0] ?? '', ends[1] ?? '', isTime));
    },
    around: (column, row) => {
      const id = row.get('trace_id') ?? '';
      const draw = () => below([...range, `%trace ${id}`], 'Drawn in the cell below.');
      const ofTrace = present({ trace: plainId.test(id) ? draw : undefined });
      const at = parseTime(row.get('_time') ?? '');
      const found = at === undefined ? undefined : sourceOfRow(query, column, row.get(column.name) ?? null);
      if (at === undefined || found === undefined) return ofTrace;
      const { source, condition } = found;
      const show = (...operators: readonly string[]) =>
        below([`%%around ${formatTime(at)}`, source, ...operators], 'Shown in the cell below.');
      return {
        ...ofTrace,
        all: () => show(),
        ...present({ same: condition === undefined ? undefined : () => show(`| where ${condition}`) }),
      };
    },
  };
}

/** The id of a trace that is one word of a line. */
const plainId = /^[\w-]{8,128}$/;

function readsLast({ text }: QueryText): boolean {
  return tokenize(text).some(token => token.kind === 'word' && token.text === '_');
}

function timeLiteral(at: number): string {
  return `datetime(${new Date(at).toISOString()})`;
}
