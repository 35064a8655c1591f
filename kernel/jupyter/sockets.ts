import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Dealer, Proxy as NativeProxy, Router, type Socket, type SocketOptions, XPublisher } from 'zeromq';
import { type Connection, ConnectionFileError, endpoint } from './connection.js';

/** A bound socket that sends in order and delivers incoming messages until it is closed. */
export interface Channel {
  send(frames: Uint8Array[]): void;
  /** Calls `receive` once per message, in order of arrival; resolves when the channel is closed. */
  listen(receive: (frames: Uint8Array[]) => void): Promise<void>;
  /** Sends what is queued, then closes the socket. */
  close(): Promise<void>;
}

/** The four message channels, bound; the heartbeat is answered automatically. */
export interface Channels {
  readonly shell: Channel;
  readonly control: Channel;
  readonly iopub: Channel;
  readonly stdin: Channel;
  /** The connection with the actual ports instead of port 0. */
  readonly connection: Connection;
  close(): Promise<void>;
}

/** How long a closing socket may take to flush its last messages. */
const LINGER_MS = 1_000;

/** Pause before retrying a socket that failed to receive. */
const RETRY_MS = 100;

/**
 * A connection that sends a larger frame is closed silently, so the limit is far above what is served: the maximum string length of
 * a front end in JavaScript. A smaller frame that is still too large gets an error reply.
 */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

const MAX_PING_BYTES = 64 * 1024;

/** Binds the five sockets and starts the heartbeat; throws ConnectionFileError if an address cannot be bound. */
export async function bindChannels(connection: Connection, log: (line: string) => void): Promise<Channels> {
  // Without a high-water mark nothing is dropped: no output on iopub, no reply on a router.
  const options = {
    linger: LINGER_MS,
    sendHighWaterMark: 0,
    maxMessageSize: MAX_FRAME_BYTES,
    ...encryption(connection),
  };
  // Handover: a client that reconnects under its old identity replaces the old connection instead of being ignored.
  const shell = new Router({ ...options, handover: true });
  const control = new Router({ ...options, handover: true });
  const stdin = new Router({ ...options, handover: true });
  // Reports every subscription, even a duplicate of another client's: each needs a welcome.
  const iopub = new Publications({ ...options, manual: true });
  const pings = new Router({ linger: 0, maxMessageSize: MAX_PING_BYTES, ...encryption(connection) });
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

/** Returns the options of a socket that accepts only clients that know the public key, if the connection has keys. */
function encryption({ curve }: Connection): Pick<SocketOptions<Router>, 'curveServer' | 'curveSecretKey'> {
  return curve === undefined ? {} : { curveServer: true, curveSecretKey: curve.secretKey };
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

/** ØMQ options that the library does not name for this socket: http://api.zeromq.org/master:zmq-setsockopt. */
const ZMQ_SUBSCRIBE = 6;
const ZMQ_UNSUBSCRIBE = 7;

/** Publishes to a subscriber once its subscription is admitted, so that its welcome comes first. */
class Publications extends XPublisher {
  /** Applies the last received subscription (1 and a topic) or its end (0 and a topic). */
  admit([frame]: readonly Uint8Array[]): void {
    if (frame === undefined || (frame[0] !== 0 && frame[0] !== 1)) return;
    const option = frame[0] === 1 ? ZMQ_SUBSCRIBE : ZMQ_UNSUBSCRIBE;
    this.setStringOption(option, Buffer.from(frame.subarray(1)));
  }
}

/** `admit` runs in order with the sends, before the message is delivered and the next one received. */
function channelOver(
  socket: Router | XPublisher,
  log: (line: string) => void,
  admit?: (frames: Uint8Array[]) => void,
): Channel {
  let sent: Promise<void> = Promise.resolve();
  return {
    send(frames) {
      // Sends fail only if the socket is closing, and then nobody is left to notify.
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
 * Echoes pings (https://jupyter-client.readthedocs.io/en/stable/messaging.html#heartbeat-for-kernels) on a separate thread, so that
 * the kernel counts as alive while JavaScript computes: a native proxy moves each ping to a dealer that is connected to itself and
 * so returns it at once. Occupies one thread of libuv's pool.
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
  // Node joins its pool threads on exit: without this, process.exit or a crash would hang.
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
