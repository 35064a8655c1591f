import {
  type EditorMessage,
  type EditorUpdate,
  editorTarget,
} from '../../../../kernel/apl/editor/editor-link.js';
import type { Bench, CellRun } from '../../session.js';

/** A front-end page that shows a notebook. */
export interface NotebookPage {
  readonly client: string;
  /** All updates that the kernel has sent it. */
  readonly told: readonly EditorUpdate[];
  /** Sources of the cells that it was asked to add. */
  readonly added: string[];
  say(message: EditorMessage): Promise<void>;
  /** Runs a user's cell. */
  run(code: string, cell?: string): Promise<CellRun>;
}

/** Reactions of a page to agents' cells: whether it accepts them, and whether it runs those it receives. */
export interface Habits {
  readonly takes?: boolean;
  readonly runs?: boolean;
  /** Edits a cell as the user would before it runs. */
  readonly edit?: (source: string) => string;
  /** Awaited before a cell runs. */
  readonly before?: () => Promise<unknown>;
}

let pages = 0;

/** Opens a page that shows a notebook. */
export async function openPage(
  bench: Bench,
  name: string,
  { takes = true, runs = true, edit = source => source, before = async () => undefined }: Habits = {},
): Promise<NotebookPage> {
  const client = `page-${pages++}`;
  const told: EditorUpdate[] = [];
  const added: string[] = [];
  const say = async (message: EditorMessage) => handler?.message(message, []);
  const run = (code: string, cell = 'own') => bench.run(code, { origin: { client, cell } });
  const send = (data: unknown) => {
    const update = JSON.parse(JSON.stringify(data)) as EditorUpdate;
    told.push(update);
    if (update.tell === 'offer' && takes) void say({ ask: 'take', cell: update.cell });
    if (update.tell !== 'add') return;
    added.push(update.source);
    if (runs) void before().then(() => run(edit(update.source), update.cell));
  };
  const handler = bench.handler.commOpen(
    { id: client, target: editorTarget, send, close: () => undefined },
    {},
    [],
  );
  await say({ ask: 'write', client, name });
  return { client, told, added, say, run };
}
