/**
 * Arrow compares each name of a record batch with every other, which takes minutes for a hundred thousand columns. Once this module is
 * loaded, fields with the same names as a schema's replace its own.
 */
import { type Field, Schema } from 'apache-arrow';

const { assign } = Schema.prototype;

Schema.prototype.assign = function (this: Schema, ...others: Parameters<typeof assign>): Schema {
  const [fields] = others;
  if (!isSame(fields, this.fields)) return assign.apply(this, others);
  return new Schema(fields, this.metadata, this.dictionaries, this.metadataVersion);
} as typeof assign;

function isSame(fields: unknown, own: readonly Field[]): fields is Field[] {
  if (!Array.isArray(fields) || fields.length !== own.length) return false;
  return fields.every((field: Field, index) => field.name === own[index]?.name);
}
