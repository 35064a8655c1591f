import { Dialog, showDialog } from '@jupyterlab/apputils';
import { cut, visible } from '../../../kernel/text.js';
import { quoted, starCode, starLine } from '../cell/cell-lines.js';
import { activeCode, addCell, insertText, selectionIn } from '../cell/cell-run.js';
import type { Around } from '../link/link-around.js';
import { cellOf, conditionOf, insertOf, type Subject } from './panel-items.js';

/** An action on a row; `run` resolves with a message to show, if any. */
export interface Action {
  readonly label: string;
  readonly run: (around: Around) => Promise<string | undefined>;
}

/** Maximum length of an error message in a confirmation. */
const MESSAGE_LENGTH = 300;

const noCell = 'Nothing was inserted. Select a code cell first.';

/** Returns the actions of a row; if the first one inserts a name, a double click on the row, Enter or Insert runs it too. */
export function actionsOf(subject: Subject): readonly Action[] {
  switch (subject.kind) {
    case 'profile':
      return subject.inUse || subject.row.problem !== undefined ? [] : [use(subject.row.name)];
    case 'dataset':
      return [insert(subject), peek(subject.row.name), ...wholeRange(subject.row.range)];
    case 'field':
      return [insert(subject)];
    case 'value':
      return [insert(subject), insertAs('Insert condition', conditionOf(subject))];
    case 'result':
      return subject.row.names.length === 0 ? [] : [insert(subject), drop(subject.row.names.at(-1) ?? '')];
    case 'star':
      return starActions(subject);
    case 'history':
      return historyActions(subject);
    default:
      return [];
  }
}

function insert(subject: Subject): Action {
  return insertAs('Insert', insertOf(subject) ?? '');
}

function insertAs(label: string, text: string): Action {
  return { label, run: async ({ panel }) => (insertText(panel, text) ? undefined : noCell) };
}

function use(name: string): Action {
  return {
    label: 'Use',
    run: async around => {
      const { isOk, text } = await around.useProfile(name);
      return isOk ? undefined : text;
    },
  };
}

function peek(name: string): Action {
  return openCell('Peek', `%peek ${quoted(name)}`, true);
}

function wholeRange(range: string | undefined): readonly Action[] {
  if (range === undefined) return [];
  const set = async (around: Around) => {
    const { isOk, text } = await around.set('time', range);
    return isOk ? undefined : text;
  };
  return [{ label: 'Set time range to its events', run: set }];
}

function openCell(label: string, source: string, runs: boolean): Action {
  return {
    label,
    run: async ({ panel }) => {
      await addCell(panel, source, runs);
      return undefined;
    },
  };
}

function drop(name: string): Action {
  return {
    label: 'Drop\u2026',
    run: async around => {
      const question = `This removes the rows of ${visible(name)} from the kernel. Run its cell again to restore them.`;
      if (!(await confirmed('Drop this result?', question, 'Drop'))) return undefined;
      return (await around.run(`%results ${quoted(name)} --drop`)).text;
    },
  };
}

function starActions({
  row: { id, name, range, query },
}: Extract<Subject, { kind: 'star' }>): readonly Action[] {
  return [
    openCell('Open as cell', cellOf(range, query), false),
    openCell('Run', `%run ${quoted(`star:${id}`)}`, true),
    { label: 'Update from cell\u2026', run: around => updateStar(around, id, name) },
    {
      label: 'Delete\u2026',
      run: async around => {
        const question = `This deletes \u201c${visible(name)}\u201d for everyone who can see it.`;
        if (!(await confirmed('Delete this starred query?', question, 'Delete'))) return undefined;
        return (await around.run(`%unstar ${quoted(id)}`)).text;
      },
    },
  ];
}

async function updateStar(around: Around, id: string, name: string): Promise<string | undefined> {
  const cell = activeCode(around.panel);
  const source = cell?.model.sharedModel.getSource() ?? '';
  const from = cell === undefined ? 0 : selectionIn(cell).from;
  const code = starCode(source, from, starLine({ id }));
  if (code === undefined) return 'The active cell has no query to save.';
  const diagnostic = await diagnosticIn(code, around);
  const replaces = `This replaces \u201c${visible(name)}\u201d with the query of the active cell.`;
  const isConfirmed =
    diagnostic === undefined
      ? await confirmed('Update this starred query?', replaces, 'Update')
      : await confirmed(
          'Save a query with an error?',
          `${replaces} That query has an error: ${diagnostic}.`,
          'Update anyway',
        );
  return isConfirmed ? (await around.run(code)).text : undefined;
}

/** Returns the first error of a query in the kernel's words; the checker is loaded on demand. */
async function diagnosticIn(code: string, { environment }: Around): Promise<string | undefined> {
  const { diagnose } = await import('../../../kernel/apl/editor/check/diagnose.js');
  const found = diagnose(code, environment).find(({ severity }) => severity === 'error');
  return found && visible(cut(found.message, MESSAGE_LENGTH));
}

function historyActions({ row }: Extract<Subject, { kind: 'history' }>): readonly Action[] {
  const { number, query, startTime, endTime, hasVariables, profile } = row;
  const cell = cellOf(`${startTime}..${endTime}`, query);
  return [
    insertAs('Insert', query),
    openCell('Open as cell', cell, false),
    {
      label: 'Run again',
      run: async ({ panel, link }) => {
        // The kernel refuses to run it on another profile, with a message that names both.
        const isElsewhere = profile !== link?.session?.profile;
        await addCell(panel, hasVariables || isElsewhere ? `%rerun ${number}` : cell, true);
        return undefined;
      },
    },
  ];
}

/** Asks for confirmation before something is lost; Enter alone cancels, as when JupyterLab deletes files. */
async function confirmed(title: string, body: string, label: string): Promise<boolean> {
  const buttons = [Dialog.cancelButton(), Dialog.warnButton({ label })];
  return (await showDialog({ title, body, buttons, defaultButton: 0 })).button.accept;
}
