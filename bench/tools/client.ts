import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { Dealer, Subscriber } from 'zeromq';
import {
  createSigner,
  decode,
  encode,
  type JsonObject,
  type Message,
  PROTOCOL_VERSION,
  SeenSignatures,
  type Signer,
} from '../../kernel/jupyter/jupyter-wire.js';

/** The addresses on which a kernel listens, from its connection file. */
export interface Connection {
  readonly key: string;
  readonly shell_port: number;
  readonly control_port: number;
  readonly iopub_port: number;
}

/** The client half of the protocol, as far as the measurements need it. Several requests may be in flight. */
export class Client {
  readonly #signer: Signer;
  readonly #seen = new SeenSignatures();
  readonly #shell = new Dealer({ reconnectInterval: 2, linger: 0 });
  readonly #control = new Dealer({ reconnectInterval: 2, linger: 0 });
  readonly #iopub = new Subscriber({ reconnectInterval: 2, linger: 0 });
  readonly #replies = new Map<string, (content: JsonObject) => void>();
  readonly #idles = new Map<string, () => void>();

  constructor({ key, shell_port, control_port, iopub_port }: Connection) {
    this.#signer = createSigner(key);
    this.#shell.connect(`tcp://127.0.0.1:${shell_port}`);
    this.#control.connect(`tcp://127.0.0.1:${control_port}`);
    this.#iopub.subscribe();
    this.#iopub.connect(`tcp://127.0.0.1:${iopub_port}`);
    for (const socket of [this.#shell, this.#control, this.#iopub]) void this.#listen(socket);
  }

  /** Returns the content of the reply. */
  async request(
    type: string,
    content: JsonObject,
    channel: 'shell' | 'control' = 'shell',
  ): Promise<JsonObject> {
    return (await this.#send(type, content, channel)).reply;
  }

  /** Runs a cell; resolves once the kernel has replied and is idle again. */
  async execute(content: JsonObject): Promise<JsonObject> {
    const { id, reply } = await this.#send('execute_request', content, 'shell');
    const idle = new Promise<void>(settle => this.#idles.set(id, settle));
    await idle;
    return reply;
  }

  close(): void {
    for (const socket of [this.#shell, this.#control, this.#iopub]) socket.close();
  }

  async #listen(socket: Dealer | Subscriber): Promise<void> {
    for await (const frames of socket) this.#take(this.#read(frames));
  }

  #take({ header, parentHeader, content }: Message): void {
    const id = String(parentHeader.msg_id);
    if (header.msg_type.endsWith('_reply')) this.#replies.get(id)?.(content);
    else if (header.msg_type === 'status' && content.execution_state === 'idle') this.#idles.get(id)?.();
  }

  async #send(
    type: string,
    content: JsonObject,
    channel: 'shell' | 'control',
  ): Promise<{ readonly id: string; readonly reply: Promise<JsonObject> }> {
    const header = {
      msg_id: randomUUID(),
      msg_type: type,
      session: 'bench',
      username: 'bench',
      date: new Date().toISOString(),
      version: PROTOCOL_VERSION,
    };
    const message = { identities: [], header, parentHeader: {}, metadata: {}, content, buffers: [] };
    const { msg_id: id } = header;
    const reply = new Promise<JsonObject>(settle => this.#replies.set(id, settle));
    const socket = channel === 'shell' ? this.#shell : this.#control;
    await socket.send(encode(message, this.#signer) as Buffer[]);
    return { id, reply };
  }

  #read(frames: Uint8Array[]): Message {
    const decoded = decode(frames, this.#signer, this.#seen);
    if (decoded.kind === 'rejected') throw new Error(`the kernel sent a message with ${decoded.reason}`);
    return decoded.message;
  }
}

/** Returns the content of a connection file with free ports. */
export async function connectionOnFreePorts(): Promise<Connection> {
  const servers = await Promise.all(Array.from({ length: 5 }, () => listen()));
  const [shell_port = 0, iopub_port = 0, control_port = 0, stdin_port, hb_port] = servers.map(portOf);
  await Promise.all(servers.map(server => new Promise(settle => server.close(settle))));
  const fixed = { transport: 'tcp', ip: '127.0.0.1', signature_scheme: 'hmac-sha256', key: randomUUID() };
  return { ...fixed, shell_port, iopub_port, control_port, ...{ stdin_port, hb_port } };
}

function listen(): Promise<Server> {
  return new Promise(settle => {
    const server = createServer().listen(0, '127.0.0.1', () => settle(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Returns the content of an `execute_request` that runs a cell. */
export function executed(code: string): JsonObject {
  return {
    code,
    silent: false,
    store_history: false,
    user_expressions: {},
    allow_stdin: false,
    stop_on_error: true,
  };
}
