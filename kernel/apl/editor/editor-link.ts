import type { ChartKind } from '../operators/drawing.js';
import type { FieldSchema } from '../plan/plan.js';
import type { KernelFacts } from './known.js';

/** The comm target of the kernel's end. */
export const editorTarget = 'apl.editor';

/** A question of a front end; answers about data depend on the session's profile and time range. */
export type EditorQuestion = DataQuestion | ListQuestion | ResultQuestion;

/** A question about the data, from editors or from the panel below a dataset. */
export type DataQuestion =
  | { readonly ask: 'fields'; readonly dataset: string }
  /** The most frequent values of a text field. */
  | { readonly ask: 'values'; readonly field: string; readonly dataset: string }
  /** The keys of a map; `path` is the field and the keys that lead to it. */
  | { readonly ask: 'keys'; readonly path: string[]; readonly dataset: string }
  /** The most frequent values of a field of any type, or of a key in a map, with their counts. */
  | { readonly ask: 'top'; readonly path: string[]; readonly dataset: string };

/** The lists of the panel by name, each with what one of its rows is. */
export interface ListRows {
  readonly profiles: ProfileRow;
  readonly datasets: DatasetRow;
  readonly results: ResultRow;
  readonly stars: StarRow;
  readonly history: HistoryRow;
}

/** The name of a list of the panel. */
export type ListName = keyof ListRows;

/** A question for a list of the panel; of the history, only the queries that hold `text`, in any case. */
export interface ListQuestion {
  readonly ask: ListName;
  readonly text?: string;
}

/** Which charts a result can be drawn as, or its address in a console; `result` is the id that its output names. */
export interface ResultQuestion {
  readonly ask: 'kinds' | 'link';
  readonly result: string;
}

/**
 * A message of a front end: a question; the request to ask the service again, for everything or for datasets made elsewhere; the
 * offer to write cells into the notebook of this name, below those that a client of the protocol runs or below the last; the request
 * for a cell of an agent, which the first page gets; a cell of an agent that was not run; or the end of cells by agents.
 */
export type EditorMessage =
  | EditorQuestion
  | { readonly ask: 'refresh' }
  | { readonly ask: 'renew' }
  | { readonly ask: 'write'; readonly client: string; readonly name: string }
  | { readonly ask: 'take'; readonly cell: string }
  | { readonly ask: 'give up'; readonly cell: string }
  | { readonly ask: 'no agents' };

/** A message of a kernel: its session and facts, when the comm opens and after each cell, answers, and cells to write. */
export type EditorUpdate =
  | { readonly tell: 'session'; readonly session: SessionFacts }
  | { readonly tell: 'facts'; readonly facts: KernelFacts }
  | WrittenCells
  /** A cell of an agent waits for the page that takes it. */
  | { readonly tell: 'offer'; readonly cell: string }
  | AddedCell
  | Answer;

/** One answer to each question. */
export type Answer =
  | { readonly tell: 'fields'; readonly question: EditorQuestion; readonly fields: readonly FieldSchema[] }
  | { readonly tell: 'texts'; readonly question: EditorQuestion; readonly texts: readonly string[] }
  | { readonly tell: 'top'; readonly question: EditorQuestion; readonly top: readonly CountedValue[] }
  | ListAnswer
  /** Undefined if the kernel does not hold the result. */
  | {
      readonly tell: 'kinds';
      readonly question: EditorQuestion;
      readonly kinds: readonly ChartKind[] | undefined;
    }
  /** Undefined if the kernel does not hold the result, or its profile has no console that is known. */
  | { readonly tell: 'link'; readonly question: EditorQuestion; readonly url: string | undefined }
  /** The kernel could not answer: why, and what to do. */
  | {
      readonly tell: 'failed';
      readonly question: EditorQuestion;
      readonly message: string;
      readonly hint?: string;
    };

/** The rows of one list of the panel. */
export type ListAnswer<K extends ListName = ListName> = {
  readonly [N in K]: {
    readonly tell: N;
    readonly question: EditorQuestion;
    readonly rows: readonly ListRows[N][];
  };
}[K];

/** A cell that the kernel writes. */
export interface WrittenCell {
  readonly kind: 'code' | 'markdown';
  readonly source: string;
}

/** Cells to write below the cell with the id `below`, in place of those that it had written before. */
export interface WrittenCells {
  readonly tell: 'cells';
  readonly below: string;
  readonly cells: readonly WrittenCell[];
}

/** A cell of an agent to add below the last, with its id, and to run. */
export interface AddedCell {
  readonly tell: 'add';
  readonly cell: string;
  readonly source: string;
}

/** The state of a session that a toolbar shows. */
export interface SessionFacts {
  readonly profile: string;
  /** True for the service on this machine. */
  readonly isLocal: boolean;
  /** In the user's words, as `%time` shows it, and as times as of now. */
  readonly range: {
    readonly label: string;
    readonly startTime: string;
    readonly endTime: string;
    /** True if it is the same window at every use. */
    readonly isFrozen: boolean;
  };
  /** True while a cell runs. */
  readonly isRunning: boolean;
  /** True while agents may add cells to its notebook. */
  readonly takesAgents: boolean;
  /** Changes whenever this session has written or deleted a starred query. */
  readonly stars: number;
}

/** A value as text, null if rows have none, and how many rows hold it. */
export interface CountedValue {
  readonly text: string | null;
  readonly count: number;
}

export interface ProfileRow {
  readonly name: string;
  /** Absent for the local service. */
  readonly address?: string;
  readonly hasToken: boolean;
  /** The reason why it cannot be used. */
  readonly problem?: string;
}

export interface DatasetRow {
  readonly name: string;
  readonly description: string;
  /** Absent if the service does not report it, as for data that is computed for any time. */
  readonly rows?: number;
  /** The first and the last event, RFC 3339; absent without either. */
  readonly firstTime?: string;
  readonly lastTime?: string;
  /** The argument of `%time` that covers all of it. */
  readonly range?: string;
  /** What is wrong with its files. */
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
  /** As `%time` takes it; absent if it was saved without one. */
  readonly range?: string;
  readonly query: string;
}

export interface HistoryRow {
  /** The argument of `%rerun`. */
  readonly number: number;
  readonly at: string;
  readonly profile: string;
  readonly query: string;
  readonly startTime: string;
  readonly endTime: string;
  /** Absent when it failed; then `error` has the code. */
  readonly rows?: number;
  readonly error?: string;
  readonly elapsedMs: number;
  /** True if it was sent with values that the text does not hold. */
  readonly hasVariables: boolean;
}

/** Returns a message of a front end, or undefined for anything else. */
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
