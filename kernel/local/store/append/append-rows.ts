import { writeFile } from 'node:fs/promises';
import type { TypeName } from '../../../apl/catalog/entry.js';
import { sqlName, sqlText } from '../../duckdb/duckdb-literal.js';
import { sqlTypes } from '../../duckdb/duckdb-types.js';
import type { Engine } from '../../engine/duckdb.js';
import { columnNames, copyToParquet } from '../../engine/engine-parquet.js';
import type { Batch, BatchField } from './append-batch.js';

type UnionField = Pick<BatchField, 'name' | 'type'> & { readonly empty?: boolean };

/** The union of the fields of batches or files, which are compatible unless a field has two types. */
export class FieldUnion {
  readonly #types = new Map<string, TypeName>();
  #timeless: boolean | undefined;

  /** Adds the fields of a batch; returns false, and adds none, if a type differs or only one side has times. */
  add({ fields, timeless }: { readonly fields: readonly UnionField[]; readonly timeless: boolean }): boolean {
    if (this.#timeless !== undefined && this.#timeless !== timeless) return false;
    if (!fields.every(field => this.#fits(field))) return false;
    this.#timeless = timeless;
    for (const { name, type, empty } of fields) if (!empty) this.#types.set(name, type);
    return true;
  }

  /** Returns the type of a field, string until a value has been seen. */
  typeOf(name: string): TypeName {
    return this.#types.get(name) ?? 'string';
  }

  #fits({ name, type, empty = false }: UnionField): boolean {
    return empty || (this.#types.get(name) ?? type) === type;
  }
}

/** The output file, and a scratch file for intermediate data, which the caller removes. */
export interface BatchFiles {
  readonly scratch: string;
  readonly target: string;
}

/** Writes batches with compatible fields as one Parquet file, sorted by time. */
export async function writeBatches(
  engine: Engine,
  batches: readonly Batch[],
  { scratch, target }: BatchFiles,
): Promise<void> {
  const union = new FieldUnion();
  const names = [...new Set(batches.flatMap(batch => batch.fields.map(field => field.name)))];
  for (const batch of batches) if (!union.add(batch)) throw new RangeError('the batches do not fit together');
  await writeFile(scratch, linesOf(batches, names), { mode: 0o600 });
  const system = ['_time', '_sysTime'];
  const columns = columnNames([...system, ...names]);
  const types = names.map(name => union.typeOf(name));
  const fields = [...system, ...names].map((name, index) => ({
    name,
    type: types[index - system.length] ?? ('datetime' as const),
    column: columns[index] ?? name,
  }));
  const read = types.map(
    (type, index) => `c${index}: ${sqlText(type === 'dynamic' ? 'JSON' : sqlTypes[type])}`,
  );
  const values = types.map((type, index) => (type === 'dynamic' ? `c${index}::VARCHAR` : `c${index}`));
  const own = values.map((value, index) => `${value} AS ${sqlName(columns[index + system.length] ?? '')}`);
  const source = `read_json(${sqlText(scratch)}, format = 'newline_delimited', columns = {${["t: 'BIGINT'", "s: 'BIGINT'", "n: 'BIGINT'", ...read].join(', ')}}, maximum_object_size = ${largestEventBytes})`;
  const select = `SELECT ${['make_timestamp_ns(t) AS _time', 'make_timestamp_ns(s) AS "_sysTime"', ...own].join(', ')} FROM ${source} ORDER BY t, n`;
  await engine.run(copyToParquet(select, target, { fields, timeless: batches[0]?.timeless === true }));
}

/** Larger than any body that is appended as a batch. */
const largestEventBytes = 16 * 2 ** 20;

/** Returns one JSON object per event: its time t, its time of arrival s, its number n, and the value c_i of each field i. */
function linesOf(batches: readonly Batch[], names: readonly string[]): string {
  const places = new Map(names.map((name, index) => [name, index]));
  let number = 0;
  const lines = batches.flatMap(({ fields, events, nowNs }) => {
    const keys = fields.map(field => places.get(field.name));
    return events.map(({ time, cells }) => {
      const members = cells.flatMap((cell, index) =>
        cell === undefined ? [] : [`"c${keys[index]}":${cell}`],
      );
      return `{${[`"t":${time}`, `"s":${nowNs}`, `"n":${number++}`, ...members].join(',')}}\n`;
    });
  });
  return lines.join('');
}
