import type { DatasetSchema, FieldSchema } from '../../apl/plan/plan.js';
import { present } from '../../present.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import { LocalError } from '../local-errors.js';
import type { ScanFilter } from '../sql/compiled-query.js';
import { columnNote } from '../store/dataset/bucket/bucket-table.js';
import type { Deployment, StatementOptions, Statements } from './protocol/statement.js';
import { ClusterError } from './protocol/trino-failure.js';
import { sqlName, sqlText } from './trino-literal.js';
import { type ColumnReading, readAs, readingOf, withinDays } from './trino-types.js';

/** A table in the schema of a deployment: the parts that are read. */
interface Table {
  readonly schema: DatasetSchema;
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** Column with the days of the objects, used to skip those outside the range. */
  readonly day?: string;
}

interface TableColumn {
  readonly column: string;
  readonly reading: ColumnReading;
}

/** How long table columns are cached, in milliseconds. */
const freshMs = 60_000;

/** Age from which tables are read again for a query with an unknown name, in milliseconds. */
const oldMs = 5_000;

/** The field with the time of an event. */
const timeField = '_time';

/** The tables of a deployment, read again after a while or when one turns out to have changed. */
export class Tables {
  readonly #statements: Statements;
  readonly #now: () => number;
  #known: { readonly at: number; readonly tables: Promise<ReadonlyMap<string, Table>> } | undefined;

  constructor(statements: Statements, now: () => number = Date.now) {
    this.#statements = statements;
    this.#now = now;
  }

  /** Drops the cached tables. */
  forget(): void {
    this.#known = undefined;
  }

  /** Whether the tables may have changed since they were read. */
  get isOld(): boolean {
    return this.#known !== undefined && this.#now() - this.#known.at > oldMs;
  }

  async catalog(options: StatementOptions): Promise<ClusterCatalog> {
    if (this.#known === undefined || this.#now() - this.#known.at > freshMs) {
      const tables = readTables(this.#statements, options);
      const known = { at: this.#now(), tables };
      this.#known = known;
      tables.catch(() => {
        if (this.#known === known) this.#known = undefined;
      });
    }
    return new ClusterCatalog(this.#statements.deployment, await this.#known.tables);
  }
}

async function readTables(
  statements: Statements,
  options: StatementOptions,
): Promise<ReadonlyMap<string, Table>> {
  const { engine } = statements.deployment;
  const [catalog, schema] = [sqlText(engine.catalog), sqlText(engine.schema.toLowerCase())];
  const commented = `SELECT table_name, column_name, type_name, remarks FROM system.jdbc.columns WHERE table_cat = ${catalog} AND table_schem = ${schema} ORDER BY table_name, ordinal_position`;
  const plain = `SELECT table_name, column_name, data_type, NULL FROM ${sqlName(engine.catalog)}.information_schema.columns WHERE table_schema = ${schema} ORDER BY table_name, ordinal_position`;
  const found = await rowsOf(statements, commented, options).catch(error => {
    // A user may have access to the tables but not to their comments.
    if (!(error instanceof ClusterError && error.errorName === 'PERMISSION_DENIED')) throw error;
    return [];
  });
  // A missing catalog has no comments, and the plain query reports it.
  const rows = found.length > 0 ? found : await rowsOf(statements, plain, options);
  const names = new Map<string, ColumnRow[]>();
  for (const row of rows) names.set(row[0], [...(names.get(row[0]) ?? []), row]);
  return new Map([...names].map(([name, columns]) => [name, tableOf(name, columns, engine.timeColumn)]));
}

type ColumnRow = readonly [table: string, column: string, type: string, comment: string | null];

async function rowsOf(statements: Statements, sql: string, options: StatementOptions): Promise<ColumnRow[]> {
  let rows: ColumnRow[] = [];
  const begin = () => {
    rows = [];
    return (page: { readonly rows: Buffer | undefined }) => {
      // The cells are strings only, so JSON.parse loses no digits.
      if (page.rows !== undefined) rows.push(...(JSON.parse(page.rows.toString('utf8')) as ColumnRow[]));
    };
  };
  await statements.run(sql, begin, options);
  return rows;
}

/** Tables published from a dataset have comments about which fields their columns contain. */
function tableOf(name: string, rows: readonly ColumnRow[], wanted: string | undefined): Table {
  const notes = new Map(rows.map(([, column, , comment]) => [column, columnNote(comment ?? '')]));
  const day = rows.find(([, column]) => notes.get(column) === 'day')?.[1];
  const readable = rows.flatMap(([, column, type]): (TableColumn & { readonly name: string })[] => {
    const note = notes.get(column);
    const reading = readingOf(type);
    if (reading === undefined || note === 'day') return [];
    const noted = note && readAs(reading, note.type);
    return [{ column, name: note && noted ? note.name : column, reading: noted ?? reading }];
  });
  const columns = new Map<string, TableColumn>(readable.map(each => [each.name, each]));
  const time = timeOf(readable, wanted);
  const fields: FieldSchema[] = readable.map(each => ({ name: each.name, type: each.reading.type }));
  if (time !== undefined && time.column !== timeField) {
    columns.set(timeField, time);
    fields.unshift({
      name: timeField,
      type: 'datetime',
      description: `the column ${time.column}`,
    });
  }
  return { schema: { name, fields, open: false }, columns, ...present({ day }) };
}

/** Returns the time column of a table: the one configured for the deployment, `_time`, or the first column of times. */
function timeOf(readable: readonly TableColumn[], wanted = timeField) {
  const timed = readable.filter(({ reading }) => reading.within !== undefined);
  return (
    timed.find(({ column }) => column === wanted.toLowerCase()) ??
    timed.find(({ column }) => column === timeField) ??
    timed[0]
  );
}

/** A snapshot of the tables. A table without a time is read in full, whatever the range. */
export class ClusterCatalog implements MeasuredCatalog {
  readonly #deployment: Deployment;
  readonly #tables: ReadonlyMap<string, Table>;

  constructor(deployment: Deployment, tables: ReadonlyMap<string, Table>) {
    this.#deployment = deployment;
    this.#tables = tables;
  }

  names(): string[] {
    return [...this.#tables.keys()];
  }

  schema(name: string): DatasetSchema | undefined {
    return this.#tables.get(name)?.schema;
  }

  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const table = this.#tables.get(name);
    if (table === undefined)
      throw new LocalError('not-found', 'dataset-not-found', `Table \`${name}\` does not exist.`);
    const values = fields.map(field => fieldSql(table, field));
    const time = table.columns.get(timeField);
    const within = time?.reading.within?.(sqlName(time.column), startNs, endNs);
    const days = table.day === undefined ? undefined : withinDays(sqlName(table.day), startNs, endNs);
    const conditions = Object.values(present({ days, within, filter: filter?.sql(values) }));
    const columns = values.length === 0 ? ['1 AS f0'] : values.map((value, index) => `${value} AS f${index}`);
    const { catalog, schema } = this.#deployment.engine;
    const from = [catalog, schema, name].map(sqlName).join('.');
    return `SELECT ${columns.join(', ')} FROM ${from}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`;
  }

  /** Returns zero: only the cluster knows the contents of a table. */
  examined(): ExaminedBlocks {
    return { blocks: 0, rows: 0 };
  }

  rowGroups(): [] {
    return [];
  }

  rowCount(): undefined {
    return undefined;
  }
}

/** Returns the SQL of a field; null if the table does not have it. */
function fieldSql(table: Table, field: string): string {
  const found = table.columns.get(field);
  return found === undefined ? 'CAST(NULL AS varchar)' : found.reading.read(sqlName(found.column));
}
