import { type DeclaredColumn, JsonColumns } from '../engine/engine-columns.js';
import type { ReadResult } from '../engine/engine-reader.js';
import { LocalError } from '../local-errors.js';
import type { FarOrder } from '../results/far.js';
import type { StatementOptions, Statements } from './protocol/statement.js';
import { appendRows, type Page, type PageHead } from './protocol/trino-pages.js';
import { withFunctions } from './trino-program.js';

/** Reads the first rows of a statement exactly. */
export async function readRows(
  statements: Statements,
  { sql, fields, limit, mostBytes }: FarOrder,
  options: StatementOptions,
): Promise<ReadResult> {
  let read = new Answer(fields, limit, mostBytes);
  await statements.run(
    withFunctions(sql),
    () => {
      read = new Answer(fields, limit, mostBytes);
      return page => read.take(page);
    },
    options,
  );
  return read.result();
}

/** The rows of one run of a statement. */
class Answer {
  readonly #fields: readonly DeclaredColumn[];
  readonly #columns: JsonColumns;
  readonly #limit: number;
  #cut = false;
  #examined = 0;
  #checked = false;

  constructor(fields: readonly DeclaredColumn[], limit: number, mostBytes: number) {
    this.#fields = fields;
    this.#limit = limit;
    this.#columns = new JsonColumns(fields, mostBytes);
  }

  take({ head, rows }: Page): void {
    this.#check(head);
    this.#examined = Math.max(this.#examined, head.stats?.processedRows ?? 0);
    if (rows === undefined) return;
    const most = this.#limit - this.#columns.rows;
    if (appendRows(rows, this.#fields, this.#columns, most) > most) this.#cut = true;
  }

  result(): ReadResult {
    // Only the cluster knows which rows passed the filters; the ones that arrived did.
    const { rows } = this.#columns;
    const counts = { generatedRows: this.#examined, matchedRows: rows, unscanned: false };
    return { columns: this.#columns, counts, cut: this.#cut };
  }

  /** Checks the column types: cells of another type than declared would be misread. */
  #check({ columns }: PageHead): void {
    if (this.#checked || columns === undefined) return;
    for (const [index, { name, type }] of this.#fields.entries()) {
      const found = columns[index]?.type ?? 'none';
      if (!cellTypes[type].test(found))
        throw new LocalError(
          'failed',
          'internal-column-type',
          `The field \`${name}\` was not computed as a ${type}: this is a bug in the local service.`,
          {
            hint: `As a workaround, convert it, for example with to${type}(…), and report the query.`,
            cause: new Error(found),
          },
        );
    }
    this.#checked = true;
  }
}

const text = /^(?:varchar(?:\(\d+\))?|unknown)$/;
const integer = /^(?:bigint|unknown)$/;

/** Trino's types for the cells of each of our types. */
const cellTypes: Readonly<Record<DeclaredColumn['type'], RegExp>> = {
  bool: /^(?:boolean|unknown)$/,
  long: integer,
  timespan: integer,
  datetime: integer,
  real: /^(?:double|unknown)$/,
  string: text,
  dynamic: text,
};
