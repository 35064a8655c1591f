import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { AplKernelError } from '../errors.js';
import { cut, oneLine } from '../text.js';
import { Comms } from './comms.js';
import type { Connection } from './connection.js';
import { describeFailure, ExecutionQueue } from './execution.js';
import { History } from './history.js';
import { parseRequest, type Request, toCodePoints } from './jupyter-requests.js';
import {
  createSigner,
  decode,
  type JsonObject,
  PROTOCOL_VERSION,
  SeenSignatures,
  type Signer,
} from './jupyter-wire.js';
import type { KernelHandler, KernelInfo } from './message.js';
import { Outbox, type Received } from './outbox.js';
import { bindChannels, type Channels } from './sockets.js';
import { InputExchange } from './stdin.js';
import { Usage } from './usage.js';

/** Options of a kernel. */
export interface KernelOptions {
  /** The reply to kernel_info_request; if absent, that request waits for the handler. */
  readonly info?: KernelInfo;
  /** Logs one line, without its line break; default: to stderr. */
  readonly log?: (line: string) => void;
  /** File that retains executed cells across sessions; default: none. */
  readonly historyFile?: string;
  /** Milliseconds by which a signal may arrive before its cell, as the two take different routes. Default: 50. */
  readonly signalLeadMs?: number;
}

const SIGNAL_LEAD_MS = 50;

/** A kernel that is listening. */
export interface RunningKernel {
  /** The connection with the actual ports. */
  readonly connection: Connection;
  /** Handles a signal like an interrupt_request, except that it may arrive just before the cell that it is meant for. */
  interrupt(): Promise<void>;
  /** Aborts the running cell, lets the handler clean up, closes the sockets. */
  shutdown(restart: boolean): Promise<void>;
  /** Settles when the kernel has shut down, for whatever reason. */
  readonly closed: Promise<{ readonly restart: boolean }>;
}

/**
 * Binds the sockets and listens; throws ConnectionFileError on failure. Creates the handler after the first kernel_info_reply or
 * when a request needs it, whichever comes first; if that fails, the kernel answers every request with the reason.
 */
export async function startKernel(
  connection: Connection,
  createHandler: () => KernelHandler | Promise<KernelHandler>,
  options: KernelOptions = {},
): Promise<RunningKernel> {
  const log = safeLog(options.log ?? (line => process.stderr.write(`[apl-kernel] ${line}\n`)));
  const channels = await bindChannels(connection, log);
  if (connection.key === '') log('the connection has no key: messages are neither signed nor checked');
  const server = new KernelServer(channels, createHandler, options, log);
  await server.listen();
  return server;
}

/** How long a shutdown waits for the running cell, and then again for the handler. */
const SHUTDOWN_GRACE_MS = 2_000;

class KernelServer implements RunningKernel {
  readonly connection: Connection;
  readonly closed: Promise<{ readonly restart: boolean }>;
  readonly #channels: Channels;
  readonly #log: (line: string) => void;
  readonly #signer: Signer;
  readonly #seen = new SeenSignatures();
  readonly #outbox: Outbox;
  readonly #history: History;
  readonly #input: InputExchange;
  readonly #comms: Comms;
  readonly #usage = new Usage();
  readonly #cells: ExecutionQueue;
  readonly #createHandler: () => KernelHandler | Promise<KernelHandler>;
  readonly #info: KernelInfo | undefined;
  readonly #signalLeadMs: number;
  #handler: Promise<KernelHandler> | undefined;
  #settleClosed: (outcome: { readonly restart: boolean }) => void = () => undefined;
  #ending: Promise<void> | undefined;

  constructor(
    channels: Channels,
    createHandler: () => KernelHandler | Promise<KernelHandler>,
    { info, historyFile, signalLeadMs = SIGNAL_LEAD_MS }: KernelOptions,
    log: (line: string) => void,
  ) {
    this.connection = channels.connection;
    this.#channels = channels;
    this.#log = log;
    this.#signer = createSigner(channels.connection.key);
    this.#outbox = new Outbox(channels, this.#signer);
    this.#history = new History(historyFile, log);
    this.#input = new InputExchange(this.#outbox, log);
    this.#comms = new Comms(this.#outbox, log);
    this.#createHandler = createHandler;
    this.#info = info;
    this.#signalLeadMs = signalLeadMs;
    this.#cells = new ExecutionQueue({
      outbox: this.#outbox,
      handler: () => this.#getHandler(),
      history: this.#history,
      input: this.#input,
      log,
    });
    this.closed = new Promise(resolve => {
      this.#settleClosed = resolve;
    });
  }

  async listen(): Promise<void> {
    const { shell, control, stdin, iopub } = this.#channels;
    // Clients that waited for the kernel have already subscribed: they are welcomed before anything else is published.
    void iopub.listen(frames => this.#greetSubscriber(frames));
    await nextTurn();
    this.#outbox.status(undefined, 'starting');
    void shell.listen(frames => this.#takeRequest('shell', frames));
    void control.listen(frames => this.#takeRequest('control', frames));
    void stdin.listen(frames => this.#takeInput(frames));
  }

  interrupt(): Promise<void> {
    return this.#cells.interrupt(this.#signalLeadMs);
  }

  shutdown(restart: boolean): Promise<void> {
    this.#ending ??= this.#end(restart);
    return this.#ending;
  }

  async #end(restart: boolean): Promise<void> {
    await atMost(SHUTDOWN_GRACE_MS, this.#cells.close());
    const cleanUp = this.#handler?.then(handler => handler.shutdown(restart));
    await atMost(
      SHUTDOWN_GRACE_MS,
      Promise.resolve(cleanUp).catch(cause =>
        this.#log(`the shutdown was not clean: ${describeFailure(cause).evalue}`),
      ),
    );
    await this.#channels.close();
    this.#settleClosed({ restart });
  }

  #takeRequest(channel: Received['channel'], frames: Uint8Array[]): void {
    const decoded = decode(frames, this.#signer, this.#seen);
    if (decoded.kind === 'message') this.#dispatch({ channel, message: decoded.message });
    else if (decoded.message === undefined) this.#dropped(channel, decoded);
    else this.#fail({ channel, message: decoded.message }, new OversizedRequestError(decoded.reason));
  }

  #takeInput(frames: Uint8Array[]): void {
    const decoded = decode(frames, this.#signer, this.#seen);
    if (decoded.kind === 'rejected') {
      this.#dropped('stdin', decoded);
      return;
    }
    const { message } = decoded;
    if (message.header.msg_type === 'input_reply') this.#input.receive(message);
    else
      this.#log(
        `ignored a message on stdin: its type ${quote(message.header.msg_type)} does not belong there`,
      );
  }

  #dropped(channel: string, { code, reason }: { readonly code: string; readonly reason: string }): void {
    this.#log(`dropped a message on ${channel}: ${code}: ${reason}`);
  }

  /** A subscription is one frame: 1 and the topic to subscribe, 0 and the topic to unsubscribe. */
  #greetSubscriber([frame]: Uint8Array[]): void {
    if (frame?.[0] === 1) this.#outbox.welcome(frame.subarray(1));
    else if (frame?.[0] !== 0) this.#log('ignored a message on iopub: it is not a subscription');
  }

  #dispatch(received: Received): void {
    const { header, content } = received.message;
    let request: Request | undefined;
    try {
      checkSubshell(received);
      request = parseRequest(header.msg_type, content);
    } catch (cause) {
      this.#fail(received, cause);
      return;
    }
    if (request?.kind === 'execute') this.#cells.submit(received, request);
    else void this.#untilIdle(received, request, () => this.#perform(received, request));
  }

  #fail(received: Received, cause: unknown): void {
    void this.#untilIdle(received, undefined, () => Promise.reject(cause));
  }

  /** Publishes no busy status for comm messages: front ends redraw when a kernel is busy, and scrolling a result sends many a second. */
  async #untilIdle(
    received: Received,
    request: Immediate | undefined,
    work: () => Promise<void>,
  ): Promise<void> {
    const { header } = received.message;
    if (request?.kind !== 'comm_msg') this.#outbox.status(header, 'busy');
    try {
      await work();
    } catch (cause) {
      this.#replyFailure(received, cause);
    }
    this.#outbox.status(header, 'idle');
  }

  async #perform(received: Received, request: Immediate | undefined): Promise<void> {
    const { message } = received;
    const reply = (content: JsonObject) => this.#outbox.reply(received, `${request?.kind}_reply`, content);
    switch (request?.kind) {
      case undefined:
        throw new UnknownTypeError(message.header.msg_type);
      case 'kernel_info':
        reply(infoContent(this.#info ?? (await this.#getHandler()).info));
        // Front ends wait for this reply before they send anything else: now is the time to load the rest.
        void nextTurn().then(() => this.#getHandler().catch(() => undefined));
        return;
      case 'usage':
        return reply(this.#usage.content());
      case 'connect':
        return reply(ports(this.connection));
      case 'complete':
        return reply(await completeContent(await this.#getHandler(), request));
      case 'inspect':
        return reply(await inspectContent(await this.#getHandler(), request));
      case 'is_complete':
        return reply((await this.#getHandler()).isComplete(request.code));
      case 'history':
        return reply(historyContent(this.#history, request));
      case 'comm_info':
        return reply({ status: 'ok', comms: this.#comms.list(request.target) });
      case 'comm_open':
        return this.#comms.open(await this.#getHandler(), message, request.id, request.target, request.data);
      case 'comm_msg':
        await this.#getHandler(); // As in comm_open, so as not to overtake it.
        return this.#comms.message(message, request.id, request.data);
      case 'comm_close':
        await this.#getHandler();
        return this.#comms.close(message, request.id, request.data);
      case 'interrupt':
        await this.#cells.interrupt();
        return reply({ status: 'ok' });
      case 'shutdown':
        reply({ status: 'ok', restart: request.restart });
        this.#outbox.publish(message.header, 'shutdown_reply', { status: 'ok', restart: request.restart });
        // Not before this request's idle status is sent.
        void nextTurn().then(() => this.shutdown(request.restart));
    }
  }

  /** Returns the handler, creating it on first use. */
  #getHandler(): Promise<KernelHandler> {
    if (!this.#handler) {
      this.#handler = Promise.resolve().then(this.#createHandler);
      this.#handler.catch(cause =>
        this.#log(`the kernel cannot run cells: ${describeFailure(cause).evalue}`),
      );
    }
    return this.#handler;
  }

  /** A client that waits for a reply gets one, whatever fails. */
  #replyFailure(received: Received, cause: unknown): void {
    const { header } = received.message;
    const { msg_type } = header;
    const { ename, evalue } = describeFailure(cause);
    this.#log(`a message of the type ${quote(msg_type)} failed: ${evalue}`);
    // A comm message has no reply, even if it fails; the sender of an unknown type may wait for one.
    if (!msg_type.endsWith('_request') && !(cause instanceof UnknownTypeError)) return;
    const failure = { ename, evalue, traceback: [`${ename}: ${evalue}`] };
    if (msg_type === 'execute_request') this.#outbox.publish(header, 'error', failure);
    const content =
      msg_type === 'is_complete_request' ? { status: 'unknown' } : { status: 'error', ...failure };
    const rest = { execution_count: this.#cells.count, user_expressions: {}, payload: [] };
    this.#outbox.reply(received, `${msg_type.replace(/_request$/, '')}_reply`, {
      ...content,
      ...(msg_type === 'execute_request' ? rest : {}),
    });
  }
}

/** A request whose type is not in the protocol or not supported by this kernel (`request-unknown`). */
class UnknownTypeError extends AplKernelError {
  constructor(type: string) {
    super('request-unknown', `This kernel does not answer messages of the type ${quote(type)}`);
  }
}

/**
 * A request for a subshell, which this kernel does not support (`subshell-unknown`):
 * https://jupyter.org/enhancement-proposals/91-kernel-subshells/kernel-subshells.html
 */
class UnknownSubshellError extends AplKernelError {
  constructor(id: string) {
    super(
      'subshell-unknown',
      `This kernel has no subshell ${quote(id)}: it runs every cell in its main shell`,
    );
  }
}

/** Throws UnknownSubshellError for a request addressed to a subshell. */
function checkSubshell({ channel, message: { header } }: Received): void {
  const { subshell_id: id } = header as { readonly subshell_id?: unknown };
  const isRequest = channel === 'shell' && header.msg_type.endsWith('_request');
  if (isRequest && typeof id === 'string') throw new UnknownSubshellError(id);
}

/** A signed request that is too large to read (`request-too-large`). */
class OversizedRequestError extends AplKernelError {
  constructor(reason: string) {
    super('request-too-large', `The message is too large: ${reason}`);
  }
}

function infoContent(info: KernelInfo): JsonObject {
  return { status: 'ok', protocol_version: PROTOCOL_VERSION, ...info, debugger: false };
}

function ports({ shell_port, control_port, iopub_port, stdin_port, hb_port }: Connection): JsonObject {
  return { status: 'ok', shell_port, control_port, iopub_port, stdin_port, hb_port };
}

/** The requests answered while a cell runs: all but the cells themselves. */
type Immediate = Exclude<Request, { readonly kind: 'execute' }>;

type Asked<K extends Request['kind']> = Extract<Request, { readonly kind: K }>;

async function completeContent(
  handler: KernelHandler,
  { code, cursor }: Asked<'complete'>,
): Promise<JsonObject> {
  const { items, from, to } = await handler.complete(code, cursor);
  const start = toCodePoints(code, from);
  const end = toCodePoints(code, to);
  const typed = items.map(({ text, type, signature = '' }) => ({ text, type, signature, start, end }));
  return {
    status: 'ok',
    matches: items.map(item => item.text),
    cursor_start: start,
    cursor_end: end,
    metadata: { _jupyter_types_experimental: typed },
  };
}

async function inspectContent(handler: KernelHandler, asked: Asked<'inspect'>): Promise<JsonObject> {
  const found = await handler.inspect(asked.code, asked.cursor, asked.detail);
  return {
    status: 'ok',
    found: found !== undefined,
    data: found?.data ?? {},
    metadata: found?.metadata ?? {},
  };
}

function historyContent(history: History, { query, output }: Asked<'history'>): JsonObject {
  const rows = history.list(query).map(entry => {
    const { session, line, source } = entry;
    return [session, line, output ? [source, history.outputOf(entry) ?? null] : source];
  });
  return { status: 'ok', history: rows };
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  const done = new AbortController();
  const late = delay(ms, undefined, { signal: done.signal }).catch(() => undefined);
  await Promise.race([work.finally(() => done.abort()), late]);
}

/** Returns a sender's text safe for a log line: short, without control characters. */
function quote(text: string): string {
  return JSON.stringify(cut(text, 60));
}

/** Writes one line per call: a message's text can neither forge another line nor control a terminal. */
function safeLog(sink: (line: string) => void): (line: string) => void {
  return line => sink(oneLine(line));
}
