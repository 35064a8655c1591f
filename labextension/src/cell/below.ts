import { tokenize } from '../../../kernel/apl/syntax/tokens/lexer.js';
import type { Home } from '../link/home.js';
import { around } from '../link/link-around.js';
import type { Workbench } from '../link/workbench.js';
import { quoted } from './cell-lines.js';
import { addCell } from './cell-run.js';
import type { QueryShown } from './query-shown.js';

/** Adds a cell of these lines and runs it; returns `done`, or a sentence that says why it cannot. */
export type AddBelow = (lines: readonly string[], done: string) => string;

/** Returns a function that adds cells below that of an output, run on the profile of its query. */
export function belowOutput(
  { panel, cell }: Home,
  { query, profile }: QueryShown,
  workbench: Workbench,
): AddBelow {
  return (lines, done) => {
    const place = around(panel, workbench);
    if (place.state !== 'ready') return 'The kernel of the notebook does not respond.';
    if (tokenize(query.text).some(token => token.kind === 'word' && token.text === '_'))
      return 'The query reads _, which is now a different result. Name that result with name << query.';
    const isElsewhere = profile !== undefined && profile !== place.link?.session?.profile;
    const on = isElsewhere ? [`%%on ${quoted(profile)}`] : [];
    panel.content.activeCellIndex = panel.content.widgets.indexOf(cell);
    void addCell(panel, [...on, ...lines].join('\n'), true);
    return done;
  };
}

/** A trace id that is a single word of a line. */
const plainId = /^[\w-]{8,128}$/;

/** Returns a function that adds the cell of a trace in the range of a query; undefined if the string is not an id. */
export function traceBelow(id: string, { range }: QueryShown, add: AddBelow): (() => string) | undefined {
  return plainId.test(id)
    ? () => add([...range, `%trace ${id}`], 'The trace is in the cell below.')
    : undefined;
}
