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

/** A table of the schema of a deployment: what is read of it. */
interface Table {
  readonly schema: DatasetSchema;
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** The column with the days of the objects, by which those outside of a range are not read. */
  readonly day?: string;
}

interface TableColumn {
  readonly column: string;
  readonly reading: ColumnReading;
}

/** How long the columns of tables are known, in milliseconds. */
const freshMs = 60_000;

/** Tables that were read so long ago are read again for a query that names what there is not. */
const oldMs = 5_000;

/** The name of the time of an event. */
const timeField = '_time';

/** The tables of a deployment, which are read again after a while and when one is found to have changed. */
export class Tables {
  readonly #statements: Statements;
  readonly #now: () => number;
  #known: { readonly at: number; readonly tables: Promise<ReadonlyMap<string, Table>> } | undefined;

  constructor(statements: Statements, now: () => number = Date.now) {
    this.#statements = statements;
    this.#now = now;
  }

  /** Forgets what is known of the tables. */
  forget(): void {
    this.#known = undefined;
  }

  /** Whether they may have changed since they were read. */
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
    // The comments may be out of reach for who may read the tables.
    if (!(error instanceof ClusterError && error.errorName === 'PERMISSION_DENIED')) throw error;
    return [];
  });
  // A catalog that is missing has no comments, and is named when it is asked itself.
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
      // Names alone: no number is among them.
      if (page.rows !== undefined) rows.push(...(JSON.parse(page.rows.toString('utf8')) as ColumnRow[]));
    };
  };
  await statements.run(sql, begin, options);
  return rows;
}

/** What was published from a dataset says in comments which fields its columns hold. */
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

/** The column that is the time of an event: the one that the deployment names, `_time`, or the first that holds times. */
function timeOf(readable: readonly TableColumn[], wanted = timeField) {
  const timed = readable.filter(({ reading }) => reading.within !== undefined);
  return (
    timed.find(({ column }) => column === wanted.toLowerCase()) ??
    timed.find(({ column }) => column === timeField) ??
    timed[0]
  );
}

/** The tables as they were read. A table without a time is read whole, whatever the range. */
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
      throw new LocalError('not-found', 'dataset-not-found', `There is no table \`${name}\`.`);
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

  /** What a table holds is known to the cluster alone. */
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

/** A field that a table does not have is a null. */
function fieldSql(table: Table, field: string): string {
  const found = table.columns.get(field);
  return found === undefined ? 'CAST(NULL AS varchar)' : found.reading.read(sqlName(found.column));
}
