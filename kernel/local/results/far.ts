import { Field, makeData, RecordBatch, Schema, Struct, Table, tableToIPC } from 'apache-arrow';
import type { StatusMessage } from '../../api/wire.js';
import { serviceTypes } from '../../apl/catalog/entry.js';
import type { DatasetSchema, Relation } from '../../apl/plan/plan.js';
import { present } from '../../present.js';
import { decodeColumn } from '../../result/decode/column.js';
import { inSlices } from '../../result/decode/decode-slices.js';
import { JsonBytes } from '../../result/decode/json-bytes.js';
import { formatBytes, formatCount, plural } from '../../text.js';
import { asJson, type DeclaredColumn, type JsonColumns } from '../engine/engine-columns.js';
import type { ReadResult, ResultOrder } from '../engine/engine-reader.js';
import type { RequestContext } from '../engine/engine-request.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import { LocalError } from '../local-errors.js';
import type { FarPart, FarSource, RowGroup, ScanFilter } from '../sql/compiled-query.js';
import type { Dialect } from '../sql/dialect.js';
import { placeField } from '../sql/rewrite/placed.js';
import { fieldsKey, type SentTable } from './sent-arrow.js';
import { scanSql } from './sent-catalog.js';
import { type JsonColumn, jsonColumns } from './sent-json.js';
import type { ResultTables } from './tables.js';
import type { ReadableResults, UploadedResult } from './uploaded.js';

/** An external engine, which computes parts of queries. */
export interface FarEngine {
  /** Its name in messages. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Returns its datasets; their `scan` returns SELECTs in its own SQL. */
  catalog(context: RequestContext): Promise<MeasuredCatalog>;
  /**
   * Reads the first rows of a statement as JSON. The query continues with them, so reals are exact: -0.0 has its sign, and `"NaN"`,
   * `"Infinity"` and `"-Infinity"` represent reals that JSON has no number for.
   */
  read(order: FarOrder, context: RequestContext): Promise<ReadResult>;
  /** Returns local rows as the text after FROM, with the columns c0, c1, … */
  rowsSql(columns: readonly JsonColumn[]): string;
  /** Returns notices for an answer that a statement contributes to. */
  noticesOf(sql: string): readonly StatusMessage[];
}

export type FarOrder = Pick<ResultOrder, 'sql' | 'fields' | 'limit' | 'mostBytes'>;

/** Limits on reading from a far engine, and storage for its rows. */
export interface FarOptions {
  readonly tables: ResultTables;
  /** Maximum size of the cells of a part, in bytes. */
  readonly mostBytes: number;
  /** Maximum rows of a part. */
  readonly mostRows: number;
  readonly context: RequestContext;
  /** The results named in the query. */
  readonly results: ReadableResults;
}

/** Maximum characters of a result in a statement, of Trino's limit of 1,000,000: this many take half a second to plan. */
const mostSent = 250_000;

/** The datasets of a far engine, as seen by one request. Rows that it computes for the request are stored here during the run. */
export class FarSnapshot implements MeasuredCatalog {
  readonly far: FarSource;
  readonly #engine: FarEngine;
  readonly #datasets: MeasuredCatalog;
  readonly #options: FarOptions;
  /** The requested parts, by their SQL. */
  readonly #parts = new Map<string, { readonly part: FarPart; table?: UploadedResult }>();
  readonly #results: ReadonlyMap<string, { readonly name: string; readonly sent: SentTable }>;
  /** Names of results by their rows in statements. */
  readonly #written = new Map<string, string>();
  #examined = 0;

  private constructor(engine: FarEngine, datasets: MeasuredCatalog, options: FarOptions) {
    this.#engine = engine;
    this.#datasets = datasets;
    this.#options = options;
    this.#results = new Map(
      [...options.results].map(([name, { uploaded }]) => [uploaded.key, { name, sent: uploaded.sent }]),
    );
    this.far = {
      dialect: engine.dialect,
      sideOf: leaf => this.#sideOf(leaf),
      scan: (...asked) => this.#resultSql(...asked),
      mostRows: options.mostRows,
      rows: part => this.#rowsOf(part),
    };
  }

  static async open(engine: FarEngine, options: FarOptions): Promise<FarSnapshot> {
    return new FarSnapshot(engine, await engine.catalog(options.context), options);
  }

  names(): string[] {
    return this.#datasets.names();
  }

  schema(name: string): DatasetSchema | undefined {
    return this.#datasets.schema(name);
  }

  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    return this.#datasets.scan(name, fields, startNs, endNs, filter);
  }

  examined(name: string, startNs: bigint, endNs: bigint): ExaminedBlocks {
    return this.#datasets.examined(name, startNs, endNs);
  }

  rowGroups(): readonly RowGroup[] {
    return [];
  }

  rowCount(): undefined {
    return undefined;
  }

  /** Returns the rows that the engine has read for the request. */
  fetched(): ExaminedBlocks {
    return { blocks: 0, rows: this.#examined };
  }

  /** Yields the parts that have been loaded. */
  *rows(): Iterable<UploadedResult> {
    for (const { table } of this.#parts.values()) if (table !== undefined) yield table;
  }

  /** Loads the requested parts that are still missing; returns whether there were any. Throws LocalError for too many rows. */
  async load(signal: AbortSignal | undefined = this.#options.context.signal): Promise<boolean> {
    const missing = [...this.#parts.values()].filter(({ table }) => table === undefined);
    for (const each of missing) {
      signal?.throwIfAborted();
      each.table = await this.#fetch(each.part, signal);
    }
    return missing.length > 0;
  }

  /** Does nothing: marks the start of a run, as in other snapshots. */
  run(): void {}

  /** Returns the notices for an answer. */
  notices(): readonly StatusMessage[] {
    return [];
  }

  /** Returns the distinct notices for the parts. */
  farNotices(): readonly StatusMessage[] {
    const statements = [...this.#parts.keys()];
    const written = [...this.#written].filter(([rows]) => statements.some(sql => sql.includes(rows)));
    const all = [
      ...statements.flatMap(sql => this.#engine.noticesOf(sql)),
      ...written.map(([, name]) => resultSent(name, this.#engine.name)),
    ];
    return [...new Map(all.map(each => [each.msg, each])).values()];
  }

  /** Drops the rows. */
  async close(): Promise<void> {
    const tables = [...this.rows()];
    this.#parts.clear();
    for (const table of tables) await this.#options.tables.drop(table);
  }

  #sideOf(leaf: Relation): ReturnType<FarSource['sideOf']> {
    if (leaf.kind !== 'scan') return leaf.kind === 'external' ? 'here' : 'any';
    if (this.#results.has(leaf.dataset)) return 'any';
    return this.#datasets.schema(leaf.dataset) === undefined ? 'here' : 'far';
  }

  #resultSql(key: string, fields: readonly string[], filter?: ScanFilter): string | undefined {
    const result = this.#results.get(key);
    if (result === undefined) return undefined;
    const { name, sent } = result;
    // Rows without any field read are counted by their numbers.
    const columns = jsonColumns(sent, fields.length === 0 ? [placeField] : fields, mostSent);
    if (columns === undefined) throw tooLarge(name, sent, this.#engine.name);
    const rows = this.#engine.rowsSql(columns);
    this.#written.set(rows, name);
    const values = columns.map((_, index) => `c${index}`);
    const list = values.map((value, index) => `${value} AS f${index}`).join(', ');
    return `SELECT ${list} FROM ${rows}${filter === undefined ? '' : ` WHERE ${filter.sql(values)}`}`;
  }

  #rowsOf(part: FarPart): ReturnType<FarSource['rows']> {
    const known = this.#parts.get(part.sql);
    if (known === undefined) this.#parts.set(part.sql, { part });
    const table = known?.table;
    return (fields, filter) => (table === undefined ? '' : scanSql(table, fields, filter));
  }

  async #fetch(part: FarPart, signal: AbortSignal | undefined): Promise<UploadedResult> {
    const { tables, mostBytes, context } = this.#options;
    const { sql, fields, mostRows } = part;
    const order = { sql, fields, limit: mostRows, mostBytes };
    const { columns, counts, cut } = await this.#engine.read(order, { ...context, ...present({ signal }) });
    this.#examined += counts.generatedRows;
    if (cut) throw tooManyRows(this.#engine.name, part);
    const sent = await sentTable(fields, asJson(columns), signal);
    const made = await tables.make(sent);
    return {
      ...made,
      get body() {
        return tableToIPC(sent.table, 'stream');
      },
    };
  }
}

function resultSent(name: string, engine: string): StatusMessage {
  const msg = `The rows of \`${name}\` that the query reads were sent to \`${engine}\` with the query.`;
  return { priority: 'info', count: 1, code: 'result_sent', msg };
}

function tooLarge(name: string, { rows }: SentTable, engine: string): LocalError {
  return new LocalError(
    'too-large',
    'far-result',
    `The result \`${name}\` (${plural(rows, 'row')}) is too large to be sent to \`${engine}\`: the fields that the query reads exceed ${formatBytes(mostSent)}.`,
    {
      hint: `Filter or summarize it in a separate cell (\`small << ${name} | …\`), or fetch the rows of the table as a result (\`rows << ['table'] | …\`) and read the two results.`,
    },
  );
}

function tooManyRows(name: string, { mostRows, because }: FarPart): LocalError {
  const why = because === undefined ? '' : `, because ${because} is computed locally`;
  return new LocalError(
    'too-large',
    'far-rows',
    `The query would fetch more than ${formatCount(mostRows)} rows from \`${name}\`, the maximum${why}.`,
    { hint: 'Filter or summarize the rows earlier in the query, or choose a shorter range.' },
  );
}

/** Returns cells as a table like one that a kernel sends. */
async function sentTable(
  fields: readonly DeclaredColumn[],
  columns: JsonColumns,
  signal: AbortSignal | undefined,
): Promise<SentTable> {
  const { rows } = columns;
  const children = [];
  for (const [index, { name, type }] of fields.entries()) {
    const json = new JsonBytes(Buffer.concat([opening, columns.bytes(index), closing]));
    const { data, note } = await inSlices(decodeColumn(json, name, serviceTypes[type], rows), signal);
    if (note !== undefined) throw unlikeColumn(type, note);
    children.push(data);
  }
  const described = new Map([[fieldsKey, JSON.stringify(fields)]]);
  const schema = new Schema(
    children.map((data, index) => new Field(fields[index]?.name ?? '', data.type, true)),
    described,
  );
  const data = makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children });
  return { fields, rows, table: new Table([new RecordBatch(schema, data)]) };
}

const [opening, closing] = [Buffer.from('['), Buffer.from(']')];

function unlikeColumn(type: string, note: string): LocalError {
  return new LocalError(
    'failed',
    'internal-column-type',
    `A column was not computed as a ${type}: this is a bug in the local service.`,
    { hint: 'Report it with the query.', cause: new Error(note) },
  );
}
