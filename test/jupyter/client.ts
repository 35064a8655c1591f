import { createHmac, randomUUID } from 'node:crypto';
import { curveKeyPair, Dealer, Request, Subscriber } from 'zeromq';
import { type Connection, endpoint } from '../../kernel/jupyter/connection.js';
import type { JsonObject } from '../../kernel/jupyter/jupyter-wire.js';
import { freePort } from '../setup/free-port.js';

/** A message as a client receives it. */
export interface Seen {
  readonly channel: 'shell' | 'control' | 'stdin' | 'iopub';
  readonly id: string;
  readonly type: string;
  readonly parent: string | undefined;
  readonly metadata: JsonObject;
  readonly content: JsonObject;
  readonly buffers: readonly Buffer[];
}

type Asking = 'shell' | 'control' | 'stdin';

/** Header fields and message parts to send in place of those of a well-behaved client. */
export interface Unusual {
  readonly header?: JsonObject;
  readonly parent?: JsonObject;
  readonly metadata?: JsonObject;
  readonly buffers?: readonly Uint8Array[];
}

/** A front end over bare ZeroMQ sockets, with its own framing and signatures, independent of the kernel's code. */
export class Client {
  readonly seen: Seen[] = [];
  readonly #connection: Connection;
  readonly #sockets: Readonly<Record<Asking, Dealer>>;
  readonly #iopub: Subscriber;
  #waiters: (() => void)[] = [];

  constructor(connection: Connection, identity: string = randomUUID()) {
    this.#connection = connection;
    const encryption = encryptionOf(connection);
    this.#iopub = new Subscriber({ linger: 0, ...encryption });
    const dealer = () => new Dealer({ linger: 0, routingId: identity, ...encryption });
    this.#sockets = { shell: dealer(), control: dealer(), stdin: dealer() };
    for (const channel of ['shell', 'control', 'stdin'] as const) {
      this.#sockets[channel].connect(endpoint(connection, connection[`${channel}_port`]));
      void this.#collect(channel, this.#sockets[channel]);
    }
    this.#iopub.connect(endpoint(connection, connection.iopub_port));
    void this.#collect('iopub', this.#iopub);
  }

  /** Subscribes to iopub and waits for the kernel's welcome message. */
  async subscribe(topic = ''): Promise<Seen> {
    this.#iopub.subscribe(topic);
    return this.next(message => message.type === 'iopub_welcome' && message.content.subscription === topic);
  }

  /** Sends a message and returns its id. */
  async send(channel: Asking, type: string, content: JsonObject, unusual: Unusual = {}): Promise<string> {
    const id = randomUUID();
    await this.sendFrames(channel, this.frames(id, type, content, unusual));
    return id;
  }

  /** Returns the signed frames of a message. */
  frames(
    id: string,
    type: string,
    content: JsonObject,
    { header, parent, metadata, buffers }: Unusual = {},
  ): Uint8Array[] {
    const fields = {
      msg_id: id,
      msg_type: type,
      session: 's',
      username: 'u',
      date: '',
      version: '5.4',
      ...header,
    };
    return this.sign(
      [fields, parent ?? {}, metadata ?? {}, content].map(part => JSON.stringify(part)),
      buffers,
    );
  }

  /** Returns the parts framed with a valid signature, whatever they contain. */
  sign(parts: readonly string[], buffers: readonly Uint8Array[] = []): Uint8Array[] {
    const signature = createHmac('sha256', this.#connection.key).update(parts.join('')).digest('hex');
    return ['<IDS|MSG>', signature, ...parts]
      .map(part => Buffer.from(part))
      .concat(buffers.map(b => Buffer.from(b)));
  }

  async sendFrames(channel: Asking, frames: readonly Uint8Array[]): Promise<void> {
    await this.#sockets[channel].send([...frames]);
  }

  /** Sends a request and returns its reply. */
  async request(
    channel: Asking,
    type: string,
    content: JsonObject = {},
    unusual: Unusual = {},
  ): Promise<Seen> {
    return this.reply(await this.send(channel, type, content, unusual));
  }

  /** Returns the reply on shell or control to the request with this id. */
  reply(id: string): Promise<Seen> {
    return this.next(
      ({ parent, channel }) => parent === id && (channel === 'shell' || channel === 'control'),
    );
  }

  /** Runs a cell; resolves with its reply and its iopub messages up to idle. */
  async execute(
    code: string,
    options: JsonObject = {},
  ): Promise<{ readonly reply: Seen; readonly outputs: Seen[] }> {
    const id = await this.send('shell', 'execute_request', { code, ...options });
    return { reply: await this.reply(id), outputs: await this.outputs(id) };
  }

  /** Returns the iopub messages of a request once idle has arrived. */
  async outputs(id: string): Promise<Seen[]> {
    await this.next(({ parent, content }) => parent === id && content.execution_state === 'idle');
    return this.seen.filter(({ channel, parent }) => channel === 'iopub' && parent === id);
  }

  /** Returns the first message, received or yet to come, that `matches`. */
  async next(matches: (message: Seen) => boolean): Promise<Seen> {
    for (let unread = 0; ; ) {
      const found = this.seen.slice(unread).find(matches);
      if (found) return found;
      unread = this.seen.length;
      await new Promise<void>(resolve => this.#waiters.push(resolve));
    }
  }

  /** Pings the heartbeat and returns the reply. */
  async ping(text: string): Promise<string> {
    const socket = new Request({ linger: 0, ...encryptionOf(this.#connection) });
    socket.connect(endpoint(this.#connection, this.#connection.hb_port));
    await socket.send(text);
    const [answer] = await socket.receive();
    socket.close();
    return String(answer);
  }

  close(): void {
    for (const socket of [...Object.values(this.#sockets), this.#iopub]) socket.close();
  }

  async #collect(channel: Seen['channel'], socket: Dealer | Subscriber): Promise<void> {
    while (!socket.closed) {
      const frames = await socket.receive().catch(cause => {
        if (!socket.closed) throw cause;
      });
      if (frames) this.seen.push(this.#read(channel, frames));
      for (const waiter of this.#waiters.splice(0)) waiter();
    }
  }

  #read(channel: Seen['channel'], frames: readonly Buffer[]): Seen {
    const at = frames.findIndex(frame => frame.toString() === '<IDS|MSG>');
    const parts = frames.slice(at + 2, at + 6);
    const signature = createHmac('sha256', this.#connection.key).update(Buffer.concat(parts)).digest('hex');
    if (frames[at + 1]?.toString() !== signature) throw new Error('the kernel signed a message wrongly');
    const [header, parent, metadata, content] = parts.map(part => JSON.parse(part.toString()));
    return {
      channel,
      id: header.msg_id,
      type: header.msg_type,
      parent: parent.msg_id,
      metadata,
      content,
      buffers: frames.slice(at + 6),
    };
  }
}

/** Returns the socket options of a client that knows the kernel's public key, and has a key pair of its own. */
function encryptionOf({ curve }: Connection) {
  if (curve === undefined) return {};
  const { publicKey, secretKey } = curveKeyPair();
  return { curveServerKey: curve.publicKey, curvePublicKey: publicKey, curveSecretKey: secretKey };
}

/** A connection on ports chosen by the system. */
export const LOCAL: Connection = {
  transport: 'tcp',
  ip: '127.0.0.1',
  key: '6b1f-key',
  shell_port: 0,
  control_port: 0,
  iopub_port: 0,
  stdin_port: 0,
  hb_port: 0,
};

/** Resolves with five ports that were free a moment ago. */
export async function freeConnection(): Promise<Connection> {
  const names = ['shell_port', 'control_port', 'iopub_port', 'stdin_port', 'hb_port'] as const;
  const ports = new Set<number>();
  while (ports.size < names.length) ports.add(await freePort());
  return { ...LOCAL, ...Object.fromEntries([...ports].map((port, index) => [names[index] ?? '', port])) };
}
