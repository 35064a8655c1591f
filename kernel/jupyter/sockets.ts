import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Dealer, Proxy as NativeProxy, Router, type Socket, XPublisher } from 'zeromq';
import { type Connection, ConnectionFileError, endpoint } from './connection.js';

/** A bound socket that sends in order and delivers whatever arrives until it is closed. */
export interface Channel {
  send(frames: Uint8Array[]): void;
  /** Calls `receive` once per message, in order of arrival; resolves when the channel is closed. */
  listen(receive: (frames: Uint8Array[]) => void): Promise<void>;
  /** Sends what is queued, then closes the socket. */
  close(): Promise<void>;
}

/** The four message channels, bound; the heartbeat is answered without further work. */
export interface Channels {
  readonly shell: Channel;
  readonly control: Channel;
  readonly iopub: Channel;
  readonly stdin: Channel;
  /** The connection with the ports that the system chose in place of port 0. */
  readonly connection: Connection;
  close(): Promise<void>;
}

/** How long a closing socket may take to hand its last messages to the network. */
const LINGER_MS = 1_000;

/** Pause before a socket that failed to receive is tried again. */
const RETRY_MS = 100;

/**
 * A connection that sends a larger frame is closed without a word, so it is far above what is served: as long as a text can be in a
 * front end in JavaScript. A smaller one that is too large gets a reply that says so.
 */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

const MAX_PING_BYTES = 64 * 1024;

/** Binds the five sockets and starts the heartbeat; throws ConnectionFileError when an address cannot be bound. */
export async function bindChannels(connection: Connection, log: (line: string) => void): Promise<Channels> {
  // Without a high-water mark nothing is dropped, neither output on iopub nor a reply on a router.
  const options = { linger: LINGER_MS, sendHighWaterMark: 0, maxMessageSize: MAX_FRAME_BYTES };
  // Handover: a client that reconnects under its old identity takes its place instead of being ignored.
  const shell = new Router({ ...options, handover: true });
  const control = new Router({ ...options, handover: true });
  const stdin = new Router({ ...options, handover: true });
  // Each subscription is reported, also one that another client made before, and is owed a welcome.
  const iopub = new Publications({ ...options, manual: true });
  const pings = new Router({ linger: 0, maxMessageSize: MAX_PING_BYTES });
  const bind = (socket: Socket, port: number) => bindPort(socket, connection, port);
  const [shell_port, control_port, iopub_port, stdin_port, hb_port] = await allOrClose(
    [shell, control, iopub, stdin, pings],
    Promise.all([
      bind(shell, connection.shell_port),
      bind(control, connection.control_port),
      bind(iopub, connection.iopub_port),
      bind(stdin, connection.stdin_port),
      bind(pings, connection.hb_port),
    ]),
  );
  const heartbeat = await startHeartbeat(pings, log);
  const channels = {
    shell: channelOver(shell, log),
    control: channelOver(control, log),
    iopub: channelOver(iopub, log, frames => iopub.admit(frames)),
    stdin: channelOver(stdin, log),
  };
  return {
    ...channels,
    connection: { ...connection, shell_port, control_port, iopub_port, stdin_port, hb_port },
    async close() {
      await Promise.all([...Object.values(channels).map(channel => channel.close()), heartbeat.stop()]);
    },
  };
}

async function bindPort(socket: Socket, connection: Connection, port: number): Promise<number> {
  const address = endpoint(connection, port);
  try {
    await socket.bind(address);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectionFileError(`Cannot listen on ${address}: ${why}`, cause);
  }
  if (port !== 0) return port;
  return Number(/\d+$/.exec(socket.lastEndpoint ?? '')?.[0] ?? 0);
}

async function allOrClose<T>(sockets: readonly Socket[], bound: Promise<T>): Promise<T> {
  try {
    return await bound;
  } catch (cause) {
    for (const socket of sockets) socket.close();
    throw cause;
  }
}

/** Options of ØMQ that the library has no names for on this socket: http://api.zeromq.org/master:zmq-setsockopt. */
const ZMQ_SUBSCRIBE = 6;
const ZMQ_UNSUBSCRIBE = 7;

/** Publishes to a subscriber once its subscription is admitted, so that its welcome comes first. */
class Publications extends XPublisher {
  /** Carries out the subscription (1 and a topic) or its end (0 and a topic) that was received last. */
  admit([frame]: readonly Uint8Array[]): void {
    if (frame === undefined || (frame[0] !== 0 && frame[0] !== 1)) return;
    const option = frame[0] === 1 ? ZMQ_SUBSCRIBE : ZMQ_UNSUBSCRIBE;
    this.setStringOption(option, Buffer.from(frame.subarray(1)));
  }
}

/** `admit` is called in the order of what is sent, before the message is delivered and the next one received. */
function channelOver(
  socket: Router | XPublisher,
  log: (line: string) => void,
  admit?: (frames: Uint8Array[]) => void,
): Channel {
  let sent: Promise<void> = Promise.resolve();
  return {
    send(frames) {
      // Only closing can make these sends fail, and then nobody is left to tell.
      sent = sent
        .then(() => (socket.closed ? undefined : socket.send(frames)))
        .catch(cause => log(`cannot send: ${String(cause)}`));
    },
    async listen(receive) {
      while (!socket.closed) {
        try {
          const frames = await socket.receive();
          if (admit === undefined) receive(frames);
          else {
            sent = sent.then(() => (socket.closed ? undefined : admit(frames)));
            receive(frames);
            await sent;
          }
        } catch (cause) {
          if (socket.closed) return;
          log(`cannot receive: ${String(cause)}`);
          await delay(RETRY_MS);
        }
      }
    },
    async close() {
      await sent;
      socket.close();
    },
  };
}

/**
 * Echoes pings (https://jupyter-client.readthedocs.io/en/stable/messaging.html#heartbeat-for-kernels) on a thread of its own, so
 * that the kernel counts as alive while JavaScript computes: a native proxy moves each ping to a dealer that is connected to
 * itself and so hands it straight back. Takes one thread of libuv's pool.
 */
async function startHeartbeat(
  pings: Router,
  log: (line: string) => void,
): Promise<{ stop(): Promise<void> }> {
  const echo = new Dealer({ linger: 0 });
  const address = `inproc://heartbeat-${randomUUID()}`;
  await echo.bind(address);
  echo.connect(address);
  const proxy = new NativeProxy(pings, echo);
  let isRunning = true;
  const ended = proxy
    .run()
    .catch(cause => log(`the heartbeat stopped: ${String(cause)}`))
    .finally(() => {
      isRunning = false;
    });
  // Node joins its pool threads when it exits: without this a process.exit or a crash would hang.
  const terminate = () => {
    if (isRunning) proxy.terminate();
  };
  process.once('exit', terminate);
  return {
    async stop() {
      process.off('exit', terminate);
      terminate();
      await ended;
    },
  };
}
