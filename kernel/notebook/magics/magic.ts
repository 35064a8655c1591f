import type { RequestOptions } from '../../api/wire.js';
import type { WrittenCell } from '../../apl/editor/editor-link.js';
import type { ChartOptions } from '../../apl/operators/drawing.js';
import type { Span } from '../../apl/syntax/ast.js';
import type { CellQuery } from '../../apl/syntax/cell.js';
import type { MagicArguments, MagicOption } from '../../apl/syntax/syntax-magic.js';
import type { CellIo } from '../../jupyter/message.js';
import type { QueryResult } from '../../result/result.js';
import type { Fetch } from '../query/fetch.js';
import type { QueryOrder } from '../query/query-run.js';
import type { CachedResult } from '../results/result-cache.js';
import type { Session } from '../session.js';
import type { TimeRange } from '../time-range.js';
import type { Agents } from './agents/agents.js';
import type { AskedEffect, Effect } from './effects/effects.js';
import type { MagicName } from './magic-lines.js';

/** A span of the cell's text and its replacement. */
export interface Rewrite extends Span {
  readonly text: string;
}

/** The effects of a cell's magics on its queries; a fresh one per cell. */
export interface CellPlan {
  readonly queries: readonly CellQuery[];
  range: TimeRange;
  rowLimit: number | undefined;
  /** Sent with each query. */
  request: RequestOptions;
  /** Whether queries are fetched page by page. */
  fetch: Fetch | undefined;
  shownRows: number | undefined;
  retains: boolean;
  /** An agent gets the results too. */
  readonly isForAgent: boolean;
  /** How charts are asked for at the top of the cell. */
  readonly chart: ChartOptions;
  /** False when the queries are not to be run. */
  run: boolean;
  /** True once an interrupt has ended what goes on until then: the cell has succeeded. */
  isStopped: boolean;
  /** New texts for lines of the cell, which the front end is asked to show once the cell has succeeded. */
  readonly rewrites: Rewrite[];
  /** Called in order once every query of the cell has succeeded, with the results, if they were run. */
  readonly afterRun: ((results: readonly CachedResult[]) => Promise<void>)[];
}

/** What a query may have other than its cell. */
export type QuerySettings = Partial<Omit<QueryOrder, 'query'>>;

/** The facilities that a cell gives to its magics. */
export interface CellHost {
  readonly session: Session;
  readonly io: CellIo;
  readonly plan: CellPlan;
  readonly agents: Agents;
  /** Runs APL with the settings of the cell, overridden by those given, and shows its result. */
  readonly show: (text: string, settings?: QuerySettings) => Promise<void>;
  /** Runs APL with the settings of the cell, overridden by those given, and shows nothing. */
  readonly run: (text: string, settings?: QuerySettings) => Promise<QueryResult>;
  /** Runs APL like `run`, but as a question that is asked again and again: it is not logged, and shows no progress. */
  readonly ask: (text: string, settings?: QuerySettings) => Promise<QueryResult>;
  /** Keeps a result as the last one, also after an interrupt, and returns how it is kept. */
  readonly keepLast: (result: QueryResult) => Promise<CachedResult>;
  /** Keeps a result as the last one and shows its table instead of an earlier output, also after an interrupt. */
  readonly showInstead: (displayId: string, result: QueryResult) => Promise<void>;
  /** Keeps a result as the last one and shows it; the chart shows `drawn`; without it there is one only if the cell asks for it. */
  readonly showResult: (result: QueryResult, drawn?: QueryResult) => Promise<void>;
  /** Has the front end write cells below this one, in place of those that it wrote before; false if it cannot. */
  readonly writeCells: (cells: readonly WrittenCell[]) => boolean;
  /** Markdown about a language element; undefined when there is none by that name. */
  readonly describe: (name: string) => Promise<string | undefined>;
  /** The names that `describe` knows. */
  readonly languageNames: () => Promise<readonly string[]>;
}

/** The facilities that a magic may use. */
export interface MagicHost extends CellHost {
  /** Every magic, in the order in which help lists them. */
  readonly magics: readonly Magic[];
  /** Asks for an effect of the magic before what `what` says is done, as in "would replace a.csv"; throws MagicError if it may not be. */
  readonly consent: (effect: AskedEffect, what: string) => Promise<void>;
}

/** One magic: its texts for help, completion and the reference, and its action. */
export interface Magic {
  /** A row of {@link magicLines} has it too. */
  readonly name: MagicName;
  readonly usage: string;
  readonly options: readonly MagicOption[];
  /** One line, without a full stop. */
  readonly summary: string;
  /** Markdown: what it does, in full, with examples. */
  readonly help: string;
  readonly arity: readonly [number, number];
  /** What it may do beyond showing something; what is asked for goes through {@link MagicHost.consent}. */
  readonly effects: readonly Effect[];
  /** What completion offers for its first argument. */
  readonly argument?:
    | 'profile'
    | 'dataset'
    | 'range'
    | 'topic'
    | 'star'
    | 'star reference'
    | 'file'
    | 'result';
  /** True: the rest of the line is text, quotes and dashes included. */
  readonly verbatim?: boolean;
  readonly run: (call: MagicCall, host: MagicHost) => void | Promise<void>;
}

export interface MagicCall extends MagicArguments {
  /** Where the line stands in the cell. */
  readonly line: Span;
  readonly magic: Magic;
  /** Written with `%%`. */
  readonly cell: boolean;
}
