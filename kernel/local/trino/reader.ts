import { type DeclaredColumn, JsonColumns } from '../engine/columns.js';
import type { Reader, ReaderSource, ReadResult, ResultOrder } from '../engine/reader.js';
import type { Visit } from '../engine/visit.js';
import { LocalError } from '../errors.js';
import { withFunctions } from './program.js';
import { appendRows, cutTimeOf, type Page, type PageHead } from './protocol/pages.js';
import type { Statements } from './protocol/statement.js';

/** Returns the readers of a deployment, whose statements may take so many milliseconds. */
export function clusterReaders(statements: Statements, limitMs: number): ReaderSource {
  return {
    reading: (work, temporary, visit = {}) => {
      if (temporary !== undefined) throw new RangeError('a cluster has no temporary tables');
      return work(new ClusterReader(statements, visit, limitMs));
    },
  };
}

class ClusterReader implements Reader {
  readonly #statements: Statements;
  readonly #visit: Visit;
  readonly #limitMs: number;

  constructor(statements: Statements, visit: Visit, limitMs: number) {
    this.#statements = statements;
    this.#visit = visit;
    this.#limitMs = limitMs;
  }

  execute(): never {
    throw new RangeError('a cluster is only read');
  }

  load(): never {
    throw new RangeError('a cluster is only read');
  }

  async read({ sql, fields, limit, mostBytes, time }: ResultOrder): Promise<ReadResult> {
    let read = new Answer(fields, limit, mostBytes);
    await this.#statements.run(
      withFunctions(sql),
      () => {
        read = new Answer(fields, limit, mostBytes);
        return page => read.take(page);
      },
      { ...this.#visit, limitMs: this.#limitMs },
    );
    return read.result(time);
  }
}

/** The rows of one run of a statement. */
class Answer {
  readonly #fields: readonly DeclaredColumn[];
  readonly #columns: JsonColumns;
  readonly #limit: number;
  #cut: readonly string[] | undefined;
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
    const { cut } = appendRows(rows, this.#fields, this.#columns, this.#limit - this.#columns.rows);
    this.#cut ??= cut;
  }

  result(time: number): ReadResult {
    // Which rows passed the filters is known to the cluster alone: those that came did.
    const { rows } = this.#columns;
    const counts = { generatedRows: this.#examined, matchedRows: rows, unscanned: false };
    const cutTime = time < 0 ? undefined : cutTimeOf(this.#cut?.[time]);
    const read = { columns: this.#columns, counts, cut: this.#cut !== undefined };
    return cutTime === undefined ? read : { ...read, cutTime };
  }

  /** Of another type than the one declared, the cells would be read as something else. */
  #check({ columns }: PageHead): void {
    if (this.#checked || columns === undefined) return;
    for (const [index, { name, type }] of this.#fields.entries()) {
      const found = columns[index]?.type ?? 'none';
      if (!cellTypes[type].test(found))
        throw new LocalError(
          'failed',
          'internal-column-type',
          `The field \`${name}\` was not computed as a ${type}: this is a fault of the local service.`,
          {
            hint: `Convert it, for example with to${type}(…), and report the query.`,
            cause: new Error(found),
          },
        );
    }
    this.#checked = true;
  }
}

const text = /^(?:varchar(?:\(\d+\))?|unknown)$/;
const integer = /^(?:bigint|unknown)$/;

/** What Trino calls the type of the cells of each of ours. */
const cellTypes: Readonly<Record<DeclaredColumn['type'], RegExp>> = {
  bool: /^(?:boolean|unknown)$/,
  long: integer,
  timespan: integer,
  datetime: integer,
  real: /^(?:double|unknown)$/,
  string: text,
  dynamic: text,
};
