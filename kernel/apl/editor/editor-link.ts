import type { ChartKind } from '../operators/drawing.js';
import type { FieldSchema } from '../plan/plan.js';
import type { KernelFacts } from './known.js';

/** Comm target registered by the kernel. */
export const editorTarget = 'apl.editor';

/** A request from a front end; answers about data depend on the session's profile and time range. */
export type EditorQuestion = DataQuestion | ListQuestion | ResultQuestion;

/** A request for data, from editors or from the panel below a dataset. */
export type DataQuestion =
  | { readonly ask: 'fields'; readonly dataset: string }
  /** Most frequent values of a string field. */
  | { readonly ask: 'values'; readonly field: string; readonly dataset: string }
  /** Keys of a map; `path` is the field and the keys that lead to it. */
  | { readonly ask: 'keys'; readonly path: string[]; readonly dataset: string }
  /** Most frequent values of a field of any type, or of a map key, with their counts. */
  | { readonly ask: 'top'; readonly path: string[]; readonly dataset: string };

/** The panel's lists by name, each with its row type. */
export interface ListRows {
  readonly profiles: ProfileRow;
  readonly datasets: DatasetRow;
  readonly results: ResultRow;
  readonly stars: StarRow;
  readonly history: HistoryRow;
}

/** Name of a list in the panel. */
export type ListName = keyof ListRows;

/** A request for a list of the panel; for the history, only queries that contain `text`, in any case. */
export interface ListQuestion {
  readonly ask: ListName;
  readonly text?: string;
}

/** A request for the chart kinds that fit a result, or its URL in a console; `result` is the id in its output. */
export interface ResultQuestion {
  readonly ask: 'kinds' | 'link';
  readonly result: string;
}

/**
 * A message from a front end: a request; a request to query the service again, for everything or for datasets created elsewhere; an offer
 * to write cells into the notebook of this name, below those that a protocol client runs or below the last; a request for an agent's cell,
 * granted to the first page; an agent's cell that was not run; or the end of cells by agents.
 */
export type EditorMessage =
  | EditorQuestion
  | { readonly ask: 'refresh' }
  | { readonly ask: 'renew' }
  | { readonly ask: 'write'; readonly client: string; readonly name: string }
  | { readonly ask: 'take'; readonly cell: string }
  | { readonly ask: 'give up'; readonly cell: string }
  | { readonly ask: 'no agents' };

/** A message from a kernel: its session and facts, when the comm opens and after each cell, answers, and cells to write. */
export type EditorUpdate =
  | { readonly tell: 'session'; readonly session: SessionFacts }
  | { readonly tell: 'facts'; readonly facts: KernelFacts }
  | WrittenCells
  /** An agent's cell is waiting for a page to accept it. */
  | { readonly tell: 'offer'; readonly cell: string }
  | AddedCell
  | Answer;

/** One answer per request. */
export type Answer =
  | { readonly tell: 'fields'; readonly question: EditorQuestion; readonly fields: readonly FieldSchema[] }
  | { readonly tell: 'texts'; readonly question: EditorQuestion; readonly texts: readonly string[] }
  | { readonly tell: 'top'; readonly question: EditorQuestion; readonly top: readonly CountedValue[] }
  | ListAnswer
  /** Undefined if the kernel does not have the result. */
  | {
      readonly tell: 'kinds';
      readonly question: EditorQuestion;
      readonly kinds: readonly ChartKind[] | undefined;
    }
  /** Undefined if the kernel does not have the result, or its profile has no known console. */
  | { readonly tell: 'link'; readonly question: EditorQuestion; readonly url: string | undefined }
  /** Reason why the kernel could not answer, and what to do. */
  | {
      readonly tell: 'failed';
      readonly question: EditorQuestion;
      readonly message: string;
      readonly hint?: string;
    };

/** Rows of one list of the panel. */
export type ListAnswer<K extends ListName = ListName> = {
  readonly [N in K]: {
    readonly tell: N;
    readonly question: EditorQuestion;
    readonly rows: readonly ListRows[N][];
  };
}[K];

/** A cell written by the kernel. */
export interface WrittenCell {
  readonly kind: 'code' | 'markdown';
  readonly source: string;
}

/** Cells to write below the cell with the id `below`, replacing those written before. */
export interface WrittenCells {
  readonly tell: 'cells';
  readonly below: string;
  readonly cells: readonly WrittenCell[];
}

/** An agent's cell, with its id, to add below the last cell and run. */
export interface AddedCell {
  readonly tell: 'add';
  readonly cell: string;
  readonly source: string;
}

/** Session state shown in a toolbar. */
export interface SessionFacts {
  readonly profile: string;
  /** True for the service on this machine. */
  readonly isLocal: boolean;
  /** In the user's words, as `%time` shows it, and as absolute times as of now. */
  readonly range: {
    readonly label: string;
    readonly startTime: string;
    readonly endTime: string;
    /** True if the window is the same at every use. */
    readonly isFrozen: boolean;
  };
  /** True while a cell runs. */
  readonly isRunning: boolean;
  /** True while agents may add cells to its notebook. */
  readonly takesAgents: boolean;
  /** Changes whenever this session writes or deletes a starred query. */
  readonly stars: number;
}

/** A value as a string, null for rows without one, and the number of rows with it. */
export interface CountedValue {
  readonly text: string | null;
  readonly count: number;
}

export interface ProfileRow {
  readonly name: string;
  /** Absent for the local service. */
  readonly address?: string;
  readonly hasToken: boolean;
  /** Reason why it cannot be used. */
  readonly problem?: string;
}

export interface DatasetRow {
  readonly name: string;
  readonly description: string;
  /** Absent if the service does not report it, for example for data computed for any time. */
  readonly rows?: number;
  /** First and last event, RFC 3339; absent if there is none. */
  readonly firstTime?: string;
  readonly lastTime?: string;
  /** Argument of `%time` that covers all of it. */
  readonly range?: string;
  /** Problem with its files. */
  readonly problem?: string;
}

export interface ResultRow {
  /** `_` is the last result; empty for results of earlier outputs. */
  readonly names: readonly string[];
  readonly rows: number;
  readonly columns: number;
  readonly bytes: number;
  readonly startTime: string;
  readonly endTime: string;
  readonly profile: string;
  readonly query: string;
}

export interface StarRow {
  readonly id: string;
  readonly name: string;
  readonly dataset?: string;
  /** Argument of `%time`; absent if it was saved without one. */
  readonly range?: string;
  readonly query: string;
}

export interface HistoryRow {
  /** Argument of `%rerun`. */
  readonly number: number;
  readonly at: string;
  readonly profile: string;
  readonly query: string;
  readonly startTime: string;
  readonly endTime: string;
  /** Absent on failure, when `error` holds the code. */
  readonly rows?: number;
  readonly error?: string;
  readonly elapsedMs: number;
  /** True if it was sent with variables, whose values are not in the query. */
  readonly hasVariables: boolean;
}

/** Returns a message from a front end, or undefined for anything else. */
export function readMessage(data: unknown): EditorMessage | undefined {
  const members = (data ?? {}) as Readonly<Record<string, unknown>>;
  const { ask, dataset, field, path, text, result, client, name, cell } = members;
  switch (ask) {
    case 'refresh':
    case 'renew':
    case 'profiles':
    case 'datasets':
    case 'results':
    case 'stars':
    case 'no agents':
      return { ask };
    case 'write':
      return typeof client === 'string' ? { ask, client, name: String(name ?? '') } : undefined;
    case 'take':
    case 'give up':
      return typeof cell === 'string' ? { ask, cell } : undefined;
    case 'history':
      return typeof text === 'string' ? { ask, text } : undefined;
    case 'kinds':
    case 'link':
      return typeof result === 'string' ? { ask, result } : undefined;
  }
  if (typeof dataset !== 'string') return undefined;
  if (ask === 'fields') return { ask, dataset };
  if (ask === 'values' && typeof field === 'string') return { ask, dataset, field };
  const isPath = Array.isArray(path) && path.length > 0 && path.every(part => typeof part === 'string');
  return (ask === 'keys' || ask === 'top') && isPath ? { ask, dataset, path } : undefined;
}
