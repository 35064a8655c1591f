import type { ServerResponse } from 'node:http';

/** Counts the connections that keep a managed service alive, and calls `onIdle` once none has been open for `idleMs`. */
export class KeepAlive {
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  readonly #open = new Set<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(idleMs: number, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
    this.#wait();
  }

  /** Responds with a stream that stays open; its end shows either side that the other is gone. */
  hold(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
    clearTimeout(this.#timer);
    this.#open.add(response);
    response.writeHead(200, { ...headers, 'content-type': 'application/x-ndjson' });
    response.write('{"alive":true}\n');
    const beat = setInterval(() => response.write('{"alive":true}\n'), beatMs);
    response.once('close', () => {
      clearInterval(beat);
      this.#open.delete(response);
      if (this.#open.size === 0) this.#wait();
    });
  }

  /** Returns whether no client holds the service, which then counts as idle at once. */
  leave(): boolean {
    if (this.#open.size > 0) return false;
    this.#onIdle();
    return true;
  }

  /** Ends every stream and the idle timer. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const response of this.#open) response.destroy();
  }

  #wait(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(this.#onIdle, this.#idleMs);
  }
}

/** Frequent enough to notice a connection that died silently. */
const beatMs = 15_000;
