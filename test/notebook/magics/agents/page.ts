import {
  type EditorMessage,
  type EditorUpdate,
  editorTarget,
} from '../../../../kernel/apl/editor/editor-link.js';
import type { Bench, CellRun } from '../../session.js';

/** A page of a front end that shows a notebook. */
export interface NotebookPage {
  readonly client: string;
  /** What the kernel has told it of cells of agents, and the last session. */
  readonly told: readonly EditorUpdate[];
  /** The sources of the cells that it was given to add. */
  readonly added: string[];
  say(message: EditorMessage): Promise<void>;
  /** Runs a cell of the user. */
  run(code: string, cell?: string): Promise<CellRun>;
}

/** What a page does about cells of agents: takes them, and runs those that it is given. */
export interface Habits {
  readonly takes?: boolean;
  readonly runs?: boolean;
  /** What the user makes of a cell before it runs. */
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
