import type { Header, JsonObject, Message } from './jupyter-wire.js';
import type { Comm, CommHandler, KernelHandler } from './message.js';
import type { Outbox } from './outbox.js';

/** The comms that front ends have opened, by id: https://jupyter-client.readthedocs.io/en/stable/messaging.html#custom-messages */
export class Comms {
  readonly #outbox: Outbox;
  readonly #log: (line: string) => void;
  readonly #open = new Map<string, OpenComm>();

  constructor(outbox: Outbox, log: (line: string) => void) {
    this.#outbox = outbox;
    this.#log = log;
  }

  /** Returns the open comms, all or those of one target, in the format of comm_info_reply. */
  list(target: string | undefined): JsonObject {
    const open = [...this.#open].filter(([, comm]) => target === undefined || comm.target === target);
    return Object.fromEntries(open.map(([id, comm]) => [id, { target_name: comm.target }]));
  }

  /** Opens a comm; closes it at once if the handler does not know its target. */
  open(handler: KernelHandler, message: Message, id: string, target: string, data: unknown): void {
    if (this.#open.has(id)) {
      this.#log('ignored a comm_open: a comm with this id is open');
      return;
    }
    const entry: OpenComm = { target, parent: message.header, handler: undefined };
    this.#open.set(id, entry);
    try {
      entry.handler = handler.commOpen(this.#comm(id, entry), data, message.buffers);
    } catch (cause) {
      this.#log(`opening a comm failed: ${String(cause)}`);
    }
    // The handler may have closed the comm while opening it.
    if (!entry.handler && this.#open.delete(id)) {
      this.#outbox.publish(message.header, 'comm_close', { comm_id: id, data: {} });
    }
  }

  /** Passes a front end's message to the comm's handler and waits for it; logs an unknown id. */
  async message(message: Message, id: string, data: unknown): Promise<void> {
    const entry = this.#known(message, id);
    if (!entry) return;
    entry.parent = message.header;
    try {
      await entry.handler?.message(data, message.buffers);
    } catch (cause) {
      this.#log(`a comm's handler failed: ${String(cause)}`);
    }
  }

  /** Removes a comm that the front end closed; logs an unknown id. */
  close(message: Message, id: string, data: unknown): void {
    const entry = this.#known(message, id);
    if (!entry) return;
    this.#open.delete(id);
    try {
      entry.handler?.close(data);
    } catch (cause) {
      this.#log(`a comm's handler failed: ${String(cause)}`);
    }
  }

  #known(message: Message, id: string): OpenComm | undefined {
    const entry = this.#open.get(id);
    if (!entry) this.#log(`ignored a ${message.header.msg_type}: no comm with this id is open`);
    return entry;
  }

  #comm(id: string, entry: OpenComm): Comm {
    const isOpen = () => this.#open.get(id) === entry;
    return {
      id,
      target: entry.target,
      send: (data, metadata = {}, buffers = []) => {
        if (!isOpen()) return this.#log('dropped a message to a closed comm');
        this.#outbox.publish(entry.parent, 'comm_msg', { comm_id: id, data }, { metadata, buffers });
      },
      close: (data = {}) => {
        if (!isOpen()) return;
        this.#open.delete(id);
        this.#outbox.publish(entry.parent, 'comm_close', { comm_id: id, data });
      },
    };
  }
}

interface OpenComm {
  readonly target: string;
  /** The front end's latest message on this comm, the parent of replies. */
  parent: Header;
  handler: CommHandler | undefined;
}
