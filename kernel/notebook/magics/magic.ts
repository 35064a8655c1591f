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

/** A span of the cell's source and its replacement. */
export interface Rewrite extends Span {
  readonly text: string;
}

/** Effects of a cell's magics on its queries; a new one for each cell. */
export interface CellPlan {
  readonly queries: readonly CellQuery[];
  range: TimeRange;
  rowLimit: number | undefined;
  /** Options sent with each query. */
  request: RequestOptions;
  /** Whether queries are fetched page by page. */
  fetch: Fetch | undefined;
  shownRows: number | undefined;
  retains: boolean;
  /** Whether an agent receives the results too. */
  readonly isForAgent: boolean;
  /** Chart options set at the top of the cell. */
  readonly chart: ChartOptions;
  /** False if the queries should not run. */
  run: boolean;
  /** Whether an interrupt has ended a magic that runs until then: the cell has succeeded. */
  isStopped: boolean;
  /** Replacements of lines of the cell, to be shown by the front end once the cell has succeeded. */
  readonly rewrites: Rewrite[];
  /** Called in order once every query of the cell has succeeded, with any results. */
  readonly afterRun: ((results: readonly CachedResult[]) => Promise<void>)[];
}

/** Settings of a query that may differ from its cell's. */
export type QuerySettings = Partial<Omit<QueryOrder, 'query'>>;

/** The facilities that a cell provides to its magics. */
export interface CellHost {
  readonly session: Session;
  readonly io: CellIo;
  readonly plan: CellPlan;
  readonly agents: Agents;
  /** Runs APL with the cell's settings and these overrides, and shows its result. */
  readonly show: (text: string, settings?: QuerySettings) => Promise<void>;
  /** Runs APL with the cell's settings and these overrides, and shows nothing. */
  readonly run: (text: string, settings?: QuerySettings) => Promise<QueryResult>;
  /** Like `run`, for a query that is repeated: it is not logged, and shows no progress. */
  readonly ask: (text: string, settings?: QuerySettings) => Promise<QueryResult>;
  /** Caches a result as the last one, also after an interrupt, and returns it as cached. */
  readonly keepLast: (result: QueryResult) => Promise<CachedResult>;
  /** Caches a result as the last one and replaces an earlier output with its table, also after an interrupt. */
  readonly showInstead: (displayId: string, result: QueryResult) => Promise<void>;
  /** Caches a result as the last one and shows it. The chart shows `drawn`; without it there is a chart only if the cell requests one. */
  readonly showResult: (result: QueryResult, drawn?: QueryResult) => Promise<void>;
  /** Asks the front end to write cells below this one, replacing those it wrote before; returns false if it cannot. */
  readonly writeCells: (cells: readonly WrittenCell[]) => boolean;
  /** Returns Markdown about a language element; undefined if there is none of that name. */
  readonly describe: (name: string) => Promise<string | undefined>;
  /** Returns the names that `describe` accepts. */
  readonly languageNames: () => Promise<readonly string[]>;
}

/** The facilities available to a magic. */
export interface MagicHost extends CellHost {
  /** Every magic, in help order. */
  readonly magics: readonly Magic[];
  /** Requests consent for an effect before `what` is done, as in "would replace a.csv"; throws MagicError if refused. */
  readonly consent: (effect: AskedEffect, what: string) => Promise<void>;
}

/** One magic: its description for help, completion and the reference, and its action. */
export interface Magic {
  /** Also a row of {@link magicLines}. */
  readonly name: MagicName;
  readonly usage: string;
  readonly options: readonly MagicOption[];
  /** One line, without a period. */
  readonly summary: string;
  /** Markdown: its full description, with examples. */
  readonly help: string;
  readonly arity: readonly [number, number];
  /** Effects beyond showing something; those that need consent go through {@link MagicHost.consent}. */
  readonly effects: readonly Effect[];
  /** Kind of completions for its first argument. */
  readonly argument?:
    | 'profile'
    | 'dataset'
    | 'range'
    | 'topic'
    | 'star'
    | 'star reference'
    | 'file'
    | 'result';
  /** Whether the rest of the line is text, including quotes and dashes. */
  readonly verbatim?: boolean;
  readonly run: (call: MagicCall, host: MagicHost) => void | Promise<void>;
}

export interface MagicCall extends MagicArguments {
  /** Position of the line in the cell. */
  readonly line: Span;
  readonly magic: Magic;
  /** Whether it is written with `%%`. */
  readonly cell: boolean;
}
