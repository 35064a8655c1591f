import { randomUUID } from 'node:crypto';
import {
  encode,
  type Header,
  type JsonObject,
  type Message,
  PROTOCOL_VERSION,
  type Signer,
} from './jupyter-wire.js';
import type { Channels } from './sockets.js';

/** A message and the channel it arrived on, which also carries the reply. */
export interface Received {
  readonly channel: 'shell' | 'control';
  readonly message: Message;
}

/** The optional parts of a message besides its content. */
export interface Attachments {
  readonly metadata?: JsonObject;
  readonly buffers?: readonly Uint8Array[];
}

/** Sends the kernel's messages in order, adding header, parent and signature. */
export class Outbox {
  readonly id = randomUUID();
  readonly #channels: Channels;
  readonly #signer: Signer;
  #sent = 0;

  constructor(channels: Channels, signer: Signer) {
    this.#channels = channels;
    this.#signer = signer;
  }

  /** Answers `request` on its own channel. */
  reply(request: Received, type: string, content: JsonObject, metadata: JsonObject = {}): void {
    const { identities, header } = request.message;
    this.#send(request.channel, identities, type, header, content, { metadata });
  }

  /** Sends to every subscriber of iopub; `parent` is undefined if no request caused the message. */
  publish(
    parent: Header | undefined,
    type: string,
    content: JsonObject,
    attachments: Attachments = {},
  ): void {
    const topic = Buffer.from(`kernel.${this.id}.${type}`);
    this.#send('iopub', [topic], type, parent, content, attachments);
  }

  /** Publishes whether the kernel is working on `parent`. */
  status(parent: Header | undefined, state: 'starting' | 'busy' | 'idle'): void {
    this.publish(parent, 'status', { execution_state: state });
  }

  /**
   * Notifies the subscribers of `topic` that they will receive every message from now on:
   * https://jupyter.org/enhancement-proposals/65-jupyter-xpub/jupyter-xpub.html
   */
  welcome(topic: Uint8Array): void {
    const subscription = Buffer.from(topic).toString('utf8');
    this.#send('iopub', [topic], 'iopub_welcome', undefined, { subscription }, {});
  }

  /** Requests input from the client that sent `request`, and returns the message id of the input request. */
  ask(request: Received, prompt: string, password: boolean): string {
    const { identities, header } = request.message;
    return this.#send('stdin', identities, 'input_request', header, { prompt, password }, {});
  }

  #send(
    channel: 'shell' | 'control' | 'iopub' | 'stdin',
    identities: readonly Uint8Array[],
    type: string,
    parent: Header | undefined,
    content: JsonObject,
    { metadata = {}, buffers = [] }: Attachments,
  ): string {
    this.#sent += 1;
    const header: Header = {
      msg_id: `${this.id}_${this.#sent}`,
      msg_type: type,
      session: this.id,
      username: 'kernel',
      date: new Date().toISOString(),
      version: PROTOCOL_VERSION,
    };
    const parentHeader: JsonObject = parent === undefined ? {} : { ...parent };
    const message = { identities, header, parentHeader, metadata, content, buffers };
    this.#channels[channel].send(encode(message, this.#signer));
    return header.msg_id;
  }
}
