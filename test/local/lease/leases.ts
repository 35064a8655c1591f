import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A service in another scope, as represented by its lease of a data directory. */
export class Elsewhere {
  readonly file: string;
  readonly #dataDir: string;
  #beat = 0;

  constructor(dataDir: string, number = 1) {
    this.#dataDir = dataDir;
    this.file = `lease-${number}.json`;
  }

  /** Owner name of its private files. */
  readonly owner = 'ffffffff-7-0123456789ab';

  /** Writes the lease with the next heartbeat. */
  show(more: object = {}): void {
    const lease = {
      ...{ pid: process.pid, started: 'an hour ago', scope: 'ffffffff', owner: this.owner },
      ...{ host: 'web-1', user: 'alice', since: '2026-06-15T12:00:00.000Z', version: '1.2.3' },
      ...{ phase: 'open', url: 'http://127.0.0.1:9', takeoverMs: 600_000, beat: this.#beat++ },
    };
    writeFileSync(join(this.#dataDir, this.file), JSON.stringify({ ...lease, ...more }));
  }

  /** Keeps the heartbeat going for the rest of the test; returns a function that stops it earlier, before a hook removes the directory. */
  live(more: object = {}): () => void {
    this.show(more);
    const timer = setInterval(() => this.show(more), 30);
    const stop = () => clearInterval(timer);
    onTestFinished(stop);
    return stop;
  }
}

export const held =
  'is in use by the local service at http://127.0.0.1:9 of apl-kernel 1.2.3: process PID of alice on web-1, since 2026-06-15T12:00:00.000Z'.replace(
    'PID',
    String(process.pid),
  );

/** Returns the leases in a data directory by name, with their phases. */
export function leases(dataDir: string): Readonly<Record<string, unknown>> {
  const names = readdirSync(dataDir).filter(name => name.startsWith('lease-'));
  return Object.fromEntries(
    names.map(name => [name, JSON.parse(readFileSync(join(dataDir, name), 'utf8')).phase]),
  );
}
