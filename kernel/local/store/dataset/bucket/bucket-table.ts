import { serviceTypes, type TypeName } from '../../../../apl/catalog/entry.js';
import { sqlName, sqlText } from '../../../trino/trino-literal.js';
import type { Manifest } from './manifest.js';

/** Key, below the prefix, of the SQL that turns a published dataset into a table of a cluster. */
export const tableKey = '_apl/table.sql';

/** Meaning of a comment on a column of such a table: its field, or the day partition of the objects. */
export type ColumnNote = { readonly name: string; readonly type: TypeName } | 'day';

const dayNote = 'APL: day of _time';

/** Parses the comment on a column; returns undefined for any other comment. */
export function columnNote(comment: string): ColumnNote | undefined {
  if (comment === dayNote) return 'day';
  const [, type, name] = /^APL: (\w+) (.+)$/s.exec(comment) ?? [];
  if (name === undefined || type === undefined || !isType(type)) return undefined;
  return { name, type };
}

function isType(name: string): name is TypeName {
  return Object.hasOwn(serviceTypes, name);
}

const trinoTypes: Readonly<Record<TypeName, string>> = {
  bool: 'boolean',
  long: 'bigint',
  real: 'double',
  string: 'varchar',
  datetime: 'timestamp(9)',
  timespan: 'bigint',
  dynamic: 'varchar',
};

/** Returns the Trino statements that create a table over the objects published at an address. */
export function tableSql({ dataset, fields }: Pick<Manifest, 'dataset' | 'fields'>, place: string): string {
  const columns = fields.map(
    ({ name, type, column }) =>
      `  ${sqlName(column)} ${trinoTypes[type]} COMMENT ${sqlText(`APL: ${type} ${name}`)}`,
  );
  return `-- For Trino, in a catalog of the Hive connector with hive.timestamp-precision=NANOSECONDS and in the schema of the table.
-- The comments on columns are read by apl-kernel. When a day has been published, run the last statement again; when a field has
-- come, drop the table, which leaves the objects as they are, and run all.
CREATE TABLE ${sqlName(dataset)} (
${columns.join(',\n')},
  "day" varchar COMMENT ${sqlText(dayNote)}
) WITH (external_location = ${sqlText(place)}, format = 'PARQUET', partitioned_by = ARRAY['day']);
CALL system.sync_partition_metadata(current_schema, ${sqlText(dataset.toLowerCase())}, 'FULL');
`;
}
