import type { Kernel } from '@jupyterlab/services';
import { tableFromIPC } from 'apache-arrow';
import {
  type ErrorReply,
  type OpenData,
  type PageReply,
  type ProfileReply,
  RESULTS_TARGET,
  type Reply,
  type Request,
  type View,
} from '../../../../kernel/notebook/results/result-protocol.js';
import { withComms } from '../../link/link-comms.js';
import { type Page, type Profile, type RowSource, SourceError } from './grid-source.js';

/** Distributes over the members of a union, unlike Omit. */
type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'id'> : never;

/** States of a kernel that has lost its results; the server restarts a killed kernel automatically. */
const ENDED: ReadonlySet<Kernel.Status> = new Set(['dead', 'restarting', 'autorestarting', 'terminating']);

/** Outside of functions, since a function retains all that is in the scope of its neighbors. */
const ignore = (): void => undefined;

const UNREADABLE = 'The rows from the kernel cannot be read.';

type Answered = PageReply | ProfileReply;
type Bytes = ArrayBuffer | ArrayBufferView | undefined;

interface Waiting {
  readonly request: Unnumbered<Request>;
  resolve(reply: Answered, buffer: Bytes): void;
  reject(error: SourceError): void;
}

/**
 * Reads the rows of a result from the kernel that holds it, by requests over a comm. Resolves once the kernel has confirmed that
 * it holds the result; rejects with a SourceError if it does not, or is gone. `lost` is called when the kernel loses the result.
 */
export async function kernelRows(
  kernel: Kernel.IKernelConnection,
  result: string,
  lost: (error: SourceError) => void,
): Promise<RowSource> {
  const carrier = withComms(kernel);
  const comm = carrier.createComm(RESULTS_TARGET);
  const waiting = new Map<number, Waiting>();
  let next = 1;
  let isReady = () => {};
  let isRefused = (_error: SourceError) => {};
  const ready = new Promise<void>((resolve, reject) => {
    isReady = resolve;
    isRefused = reject;
  });
  let isGone = false;
  const gone = () => {
    if (isGone) return;
    isGone = true;
    const error = new SourceError('The kernel no longer has this result.', true);
    isRefused(error);
    for (const each of waiting.values()) each.reject(error);
    waiting.clear();
    lost(error);
  };
  comm.onClose = gone;
  comm.onMsg = ({ content, buffers }) => {
    const reply = content.data as unknown as Reply;
    if (reply.kind === 'ready') return isReady();
    if (reply.kind === 'error' && reply.id === undefined) return isRefused(failure(reply));
    if (reply.id === undefined) return;
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.kind === 'error') asked?.reject(failure(reply));
    else asked?.resolve(reply, buffers?.[0]);
  };
  const send = (id: number, request: Unnumbered<Request>) =>
    comm.send({ ...request, id } as unknown as Parameters<typeof comm.send>[0]);
  const unfollow = follow({ kernel, carrier, comm }, gone, () => {
    // Requests or responses sent just before a connection broke may be lost; reading twice is harmless.
    if (!isGone) for (const [id, { request }] of waiting) send(id, request);
  });
  comm.open({ result } satisfies OpenData);
  try {
    await ready;
  } catch (error) {
    unfollow();
    throw error;
  }

  const ask = <Answer>(
    request: Unnumbered<Request>,
    read: (reply: Answered, buffer: Bytes) => Answer,
    signal?: AbortSignal,
  ) =>
    new Promise<Answer>((resolve, reject) => {
      if (comm.isDisposed || kernel.isDisposed)
        return reject(new SourceError('The kernel has stopped.', true));
      const id = next++;
      const cancel = () => waiting.has(id) && send(next++, { op: 'cancel', of: id });
      const end = () => signal?.removeEventListener('abort', cancel);
      waiting.set(id, { request, ...settling(read, resolve, reject, end) });
      send(id, request);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  return {
    canCompute: true,
    canArrange: true,
    page: (view: View, offset, limit, signal): Promise<Page> => {
      const read = (reply: Answered, buffer: Bytes) => {
        if (reply.kind !== 'page' || buffer === undefined)
          throw new SourceError('The kernel sent no rows.', false);
        return { table: tableFromIPC(bytesOf(buffer)), offset: reply.offset, rows: reply.rows };
      };
      return ask({ op: 'page', offset, limit, ...view }, read, signal);
    },
    prepare: () => {
      if (!isGone && !comm.isDisposed && !kernel.isDisposed) send(next++, { op: 'prepare' });
    },
    profile: (view, column): Promise<Profile> =>
      ask({ op: 'profile', column, ...view }, reply => {
        if (reply.kind !== 'profile') throw new SourceError('The kernel sent no profile.', false);
        return reply;
      }),
    close: () => {
      // A restarting kernel accepts no messages.
      if (!isGone && !comm.isDisposed && !kernel.isDisposed) comm.close();
      unfollow();
    },
  };
}

interface Connections {
  readonly kernel: Kernel.IKernelConnection;
  /** The connection to it with comms. */
  readonly carrier: Kernel.IKernelConnection;
  readonly comm: Kernel.IComm;
}

/** Calls back when the kernel is gone or connected again, until the returned function ends that and listening to the comm. */
function follow({ kernel, carrier, comm }: Connections, gone: () => void, connected: () => void): () => void {
  const onStatus = () => {
    if (kernel.isDisposed || ENDED.has(kernel.status)) gone();
  };
  const onConnection = (_kernel: unknown, status: Kernel.ConnectionStatus) => {
    if (status === 'connected') connected();
  };
  carrier.connectionStatusChanged.connect(onConnection);
  kernel.statusChanged.connect(onStatus);
  kernel.disposed.connect(gone);
  return () => {
    carrier.connectionStatusChanged.disconnect(onConnection);
    kernel.statusChanged.disconnect(onStatus);
    kernel.disposed.disconnect(gone);
    // JupyterLab 4.6 retains a closed comm as long as its kernel, and with it whatever listens.
    comm.onClose = ignore;
    comm.onMsg = ignore;
  };
}

/** Returns the two ways to end a request: an unreadable reply ends it with an error. */
function settling<Answer>(
  read: (reply: Answered, buffer: Bytes) => Answer,
  resolve: (answer: Answer) => void,
  reject: (error: SourceError) => void,
  end: () => void,
): Pick<Waiting, 'resolve' | 'reject'> {
  return {
    resolve: (reply, buffer) => {
      end();
      try {
        resolve(read(reply, buffer));
      } catch (error) {
        reject(error instanceof SourceError ? error : new SourceError(UNREADABLE, false));
      }
    },
    reject: error => {
      end();
      reject(error);
    },
  };
}

function failure({ code, message, hint }: ErrorReply): SourceError {
  return new SourceError(hint === undefined ? message : `${message} ${hint}`, code === 'gone');
}

function bytesOf(buffer: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
}
