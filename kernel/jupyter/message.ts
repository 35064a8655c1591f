/** MIME type -> payload: a string, or JSON for `application/json` and `+json` types. */
export type MimeBundle = Readonly<Record<string, unknown>>;

/** One output to show; `displayId` lets a later updateDisplay replace it. */
export interface DisplayData {
  readonly data: MimeBundle;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly displayId?: string;
}

/** A cell of a notebook by its id, and the client of the protocol that runs it by that of its session. */
export interface CellOrigin {
  readonly client: string;
  readonly cell: string;
}

/** What one executing cell may do besides returning: every call is published on iopub in order, under the cell's parent header. */
export interface CellIo {
  readonly executionCount: number;
  readonly silent: boolean;
  readonly storeHistory: boolean;
  readonly allowStdin: boolean;
  /** The cell of a notebook that runs; absent if the front end does not name it. */
  readonly origin?: CellOrigin;
  /** Aborted by an interrupt or a shutdown. */
  readonly signal: AbortSignal;
  stream(name: 'stdout' | 'stderr', text: string): void;
  display(output: DisplayData): void;
  updateDisplay(output: DisplayData & { readonly displayId: string }): void;
  /** Published as execute_result with the cell's execution count. */
  result(output: DisplayData): void;
  clearOutput(wait: boolean): void;
  /** Shows this, instead of an earlier passing output, until there is another output or the cell ends. */
  passing(output: DisplayData): void;
  /** Has the front end put a text into the cell that ran, or into a new one below it; the last call counts, and some front ends do neither. */
  nextInput(text: string, replace: boolean): void;
  /** Has a console end once the cell has, and its kernel with it; other front ends do nothing. */
  leave(): void;
  /** Asks the front end for a line on stdin; rejects when the front end does not allow it or the cell is interrupted. */
  input(prompt: string, password: boolean): Promise<string>;
}

/** A cell to run, and expressions to evaluate after it, by the client's names for them. */
export interface ExecuteRequest {
  readonly code: string;
  readonly userExpressions: Readonly<Record<string, string>>;
}

/** How a cell ended; each user expression yields its own status with data or an error. */
export type ExecuteOutcome =
  | { readonly status: 'ok'; readonly userExpressions: Readonly<Record<string, unknown>> }
  | {
      readonly status: 'error';
      readonly ename: string;
      readonly evalue: string;
      readonly traceback: readonly string[];
    };

/** One proposal; `type` is a kind such as `function` or `keyword`, shown as an icon. */
export interface CompletionItem {
  readonly text: string;
  readonly type: string;
  readonly signature?: string;
}

/** Offsets at this interface are UTF-16 indices into `code`; the server converts from and to code points. */
export interface CompleteOutcome {
  readonly items: readonly CompletionItem[];
  readonly from: number;
  readonly to: number;
}

/** An open comm; messages sent after it was closed are dropped with a log line. */
export interface Comm {
  readonly id: string;
  readonly target: string;
  send(data: unknown, metadata?: Readonly<Record<string, unknown>>, buffers?: readonly Uint8Array[]): void;
  close(data?: unknown): void;
}

/** The kernel's end of one comm; a promise from `message` holds back the `idle` of the request until it settles. */
export interface CommHandler {
  message(data: unknown, buffers: readonly Uint8Array[]): void | Promise<void>;
  close(data: unknown): void;
}

/** What kernel_info_reply says besides the protocol's version; field names are the protocol's. */
export interface KernelInfo {
  readonly implementation: string;
  readonly implementation_version: string;
  readonly language_info: Readonly<Record<string, unknown>>;
  readonly banner: string;
  readonly help_links: readonly { readonly text: string; readonly url: string }[];
}

/** The language side of the kernel, driven by `jupyter-server.ts`. Only `execute` runs one at a time, the rest may run meanwhile. */
export interface KernelHandler {
  readonly info: KernelInfo;
  execute(request: ExecuteRequest, io: CellIo): Promise<ExecuteOutcome>;
  complete(code: string, cursor: number): Promise<CompleteOutcome>;
  inspect(code: string, cursor: number, detail: 0 | 1): Promise<DisplayData | undefined>;
  isComplete(code: string): {
    readonly status: 'complete' | 'incomplete' | 'invalid';
    readonly indent?: string;
  };
  /** Returns the text of a cell as it may be kept: without access tokens. */
  withoutSecrets(code: string): Promise<string>;
  /** Undefined: the target is unknown, the server closes the comm. */
  commOpen(comm: Comm, data: unknown, buffers: readonly Uint8Array[]): CommHandler | undefined;
  shutdown(restart: boolean): Promise<void>;
}
