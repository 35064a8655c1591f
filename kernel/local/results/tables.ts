import type { Engine } from '../engine/duckdb.js';
import type { SentTable } from './sent-arrow.js';

/** A table of results: its names in the catalog and the engine, and its rows. */
export interface ResultTable {
  /** A name that no dataset can have. */
  readonly key: string;
  readonly table: string;
  readonly sent: SentTable;
}

/** Tables of results in the memory of an engine, which opens with the first one. */
export class ResultTables {
  readonly #engine: () => Promise<Engine>;
  #next = 0;

  constructor(engine: () => Promise<Engine>) {
    this.#engine = engine;
  }

  /** Creates a table of rows. */
  async make(sent: SentTable): Promise<ResultTable> {
    const number = this.#next++;
    const made = { key: `\0result ${number}`, table: `r${number}`, sent };
    const { fillTable } = await import('./fill.js');
    const engine = await this.#engine();
    await engine.withConnection(connection => fillTable(connection, made.table, sent));
    return made;
  }

  /** Drops a table; never rejects. A closing engine cannot drop it, but forgets all tables anyway. */
  async drop({ table, sent }: ResultTable): Promise<void> {
    try {
      const { dropTable } = await import('./fill.js');
      const engine = await this.#engine();
      await engine.withConnection(connection => dropTable(connection, table, sent));
    } catch {
      // Its rows stay until the engine closes.
    }
  }
}
