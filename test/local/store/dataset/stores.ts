import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { Engine, type EngineOptions } from '../../../../kernel/local/engine/duckdb.js';
import { DatasetStore } from '../../../../kernel/local/store/datasets.js';

/** A dataset store over an engine of its own. */
export interface StoreParts {
  readonly dataDir: string;
  readonly engine: Engine;
  readonly store: DatasetStore;
}

type StoreArguments = ConstructorParameters<typeof DatasetStore>;

/** Creates a dataset store that is closed after the test: until then it writes to its directory in the background. */
export function testStore(...parts: StoreArguments): DatasetStore {
  return closedAfterTest(new DatasetStore(...parts));
}

/** Creates such a store without merges, for a test that removes files behind its back. */
export function stillStore(...parts: StoreArguments): DatasetStore {
  return closedAfterTest(new StillStore(...parts));
}

class StillStore extends DatasetStore {
  override mergeLater(): void {}
}

function closedAfterTest(store: DatasetStore): DatasetStore {
  onTestFinished(() => store.close());
  return store;
}

/** Shares one store, filled by `prepare`, between all tests of a file. */
export function sharedStore(
  prepare?: (parts: StoreParts) => Promise<void>,
  options: Omit<EngineOptions, 'dataDir'> = {},
): () => StoreParts {
  let shared: StoreParts | undefined;
  beforeAll(async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
    const engine = await Engine.open({ ...options, dataDir });
    shared = { dataDir, engine, store: new DatasetStore(dataDir, engine) };
    await prepare?.(shared);
  });
  afterAll(async () => {
    await shared?.store.close();
    await shared?.engine.close();
    await rm(shared?.dataDir ?? '', { recursive: true, force: true });
  });
  return () => {
    if (!shared) throw new Error('the store is not open yet');
    return shared;
  };
}
