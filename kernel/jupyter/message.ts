/** MIME type -> payload: a string, or JSON for `application/json` and `+json` types. */
export type MimeBundle = Readonly<Record<string, unknown>>;

/** One output to show; `displayId` lets a later updateDisplay replace it. */
export interface DisplayData {
  readonly data: MimeBundle;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly displayId?: string;
}

/** The id of a notebook cell, and the session id of the client that runs it. */
export interface CellOrigin {
  readonly client: string;
  readonly cell: string;
}

/** The interface of a running cell: every call is published on iopub in order, under the cell's parent header. */
export interface CellIo {
  readonly executionCount: number;
  readonly silent: boolean;
  readonly storeHistory: boolean;
  readonly allowStdin: boolean;
  /** The running cell of a notebook; absent if the front end does not identify it. */
  readonly origin?: CellOrigin;
  /** Aborted by an interrupt or a shutdown. */
  readonly signal: AbortSignal;
  stream(name: 'stdout' | 'stderr', text: string): void;
  display(output: DisplayData): void;
  updateDisplay(output: DisplayData & { readonly displayId: string }): void;
  /** Published as execute_result with the cell's execution count. */
  result(output: DisplayData): void;
  clearOutput(wait: boolean): void;
  /** Shows a temporary output, which replaces the previous one, until there is another output or the cell ends. */
  passing(output: DisplayData): void;
  /**
   * Asks the front end to put a text into the cell that ran, or into a new cell below it. The last call wins; some front ends
   * support neither.
   */
  nextInput(text: string, replace: boolean): void;
  /** Ends a console and its kernel once the cell has ended; other front ends ignore it. */
  leave(): void;
  /** Requests a line on stdin from the front end; rejects if the front end does not allow it or the cell is interrupted. */
  input(prompt: string, password: boolean): Promise<string>;
}

/** A cell to run, and expressions to evaluate after it, by the client's names. */
export interface ExecuteRequest {
  readonly code: string;
  readonly userExpressions: Readonly<Record<string, string>>;
}

/** Outcome of a cell; each user expression has its own status with data or an error. */
export type ExecuteOutcome =
  | { readonly status: 'ok'; readonly userExpressions: Readonly<Record<string, unknown>> }
  | {
      readonly status: 'error';
      readonly ename: string;
      readonly evalue: string;
      readonly traceback: readonly string[];
    };

/** One completion; `type` is a kind such as `function` or `keyword`, shown as an icon. */
export interface CompletionItem {
  readonly text: string;
  readonly type: string;
  readonly signature?: string;
}

/** Offsets here are UTF-16 indices into `code`; the server converts them to and from code points. */
export interface CompleteOutcome {
  readonly items: readonly CompletionItem[];
  readonly from: number;
  readonly to: number;
}

/** An open comm; messages sent after it is closed are dropped and logged. */
export interface Comm {
  readonly id: string;
  readonly target: string;
  send(data: unknown, metadata?: Readonly<Record<string, unknown>>, buffers?: readonly Uint8Array[]): void;
  close(data?: unknown): void;
}

/** The kernel's end of one comm; if `message` returns a promise, the request's `idle` waits for it. */
export interface CommHandler {
  message(data: unknown, buffers: readonly Uint8Array[]): void | Promise<void>;
  close(data: unknown): void;
}

/** Content of kernel_info_reply besides the protocol's version; field names are the protocol's. */
export interface KernelInfo {
  readonly implementation: string;
  readonly implementation_version: string;
  readonly language_info: Readonly<Record<string, unknown>>;
  readonly banner: string;
  readonly help_links: readonly { readonly text: string; readonly url: string }[];
}

/**
 * The language side of the kernel, driven by `jupyter-server.ts`. Calls of `execute` run one at a time; the remaining methods may
 * run concurrently.
 */
export interface KernelHandler {
  readonly info: KernelInfo;
  execute(request: ExecuteRequest, io: CellIo): Promise<ExecuteOutcome>;
  complete(code: string, cursor: number): Promise<CompleteOutcome>;
  inspect(code: string, cursor: number, detail: 0 | 1): Promise<DisplayData | undefined>;
  isComplete(code: string): {
    readonly status: 'complete' | 'incomplete' | 'invalid';
    readonly indent?: string;
  };
  /** Returns a cell's source without access tokens, for storage. */
  withoutSecrets(code: string): Promise<string>;
  /** Returns undefined for an unknown target, and the server closes the comm. */
  commOpen(comm: Comm, data: unknown, buffers: readonly Uint8Array[]): CommHandler | undefined;
  shutdown(restart: boolean): Promise<void>;
}
