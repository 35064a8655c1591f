import type { TypeName } from '../../apl/catalog/entry.js';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { present } from '../../present.js';
import { sqlText } from '../duckdb/duckdb-literal.js';
import type { BuiltinDataset } from '../sql/compiled-query.js';
import { slices } from './sample-slices.js';

/** A field of a sample: its type, the SQL of its value, and its description for the service. */
export interface SampleField {
  readonly type: TypeName;
  readonly sql: string;
  readonly unit?: string;
  readonly description?: string;
}

/**
 * Returns 64 bits that depend only on `seed` and `salt`. They are hashed twice: with a single hash, two pairs that differ only in salt
 * differ by a constant.
 */
export function bits(seed: string, salt: number): string {
  return `hash(hash(${seed}, ${salt}))`;
}

/** Returns a number in [0, 1) that depends only on `seed` and `salt`, as SQL of a double. */
export function uniform(seed: string, salt: number): string {
  return `((${bits(seed, salt)} >> 11)::DOUBLE / 9007199254740992.0)`;
}

/** Returns a number from the standard normal distribution (Box–Muller). */
export function normal(seed: string, salt: number): string {
  return `(sqrt(-2 * ln(greatest(${uniform(seed, salt)}, 1e-12))) * cos(2 * pi() * ${uniform(seed, salt + 1)}))`;
}

/** Returns one of `items`, all equally likely: repeat an item to make it more likely. */
export function pick(items: readonly string[], chance: string): string {
  return `[${items.map(sqlText).join(', ')}][1 + floor(${chance} * ${items.length})::BIGINT]`;
}

/** Returns `items` repeated by weight, for {@link pick}. */
export function weighted(items: Readonly<Record<string, number>>): string[] {
  return Object.entries(items).flatMap(([item, weight]) => Array.from({ length: weight }, () => item));
}

/** Returns the value, or null once in a hundred rows. */
export function sometimesNull(seed: string, salt: number, sql: string): string {
  return `CASE WHEN ${uniform(seed, salt)} >= 0.01 THEN ${sql} END`;
}

/** Returns 16 hexadecimal digits. */
export function hex16(seed: string, salt: number): string {
  return `lpad(lower(to_hex(${bits(seed, salt)})), 16, '0')`;
}

/** Returns the load at a time, 0.1 to 1: a daily wave that peaks in the afternoon (UTC), and quieter weekends. */
export function rhythm(ns: string): string {
  const hour = `((${ns}) % 86400000000000) / 3.6e12`;
  const weekend = `CASE WHEN ((${ns}) // 86400000000000 + 4) % 7 IN (0, 6) THEN 0.65 ELSE 1 END`;
  return `(${weekend} * (0.62 + 0.30 * sin(2 * pi() * (${hour} - 9) / 24) + 0.06 * sin(2 * pi() * ${hour} / 3)))`;
}

/**
 * Returns whether a time is during an incident: each `period` has one with probability `chance`, at a random time, lasting from `shortest`
 * to `longest`; in nanoseconds.
 */
export function incident(
  ns: string,
  salt: number,
  period: number,
  chance: number,
  shortest: number,
  longest: number,
): string {
  const block = `((${ns}) // ${period})`;
  const length = `(${shortest} + ${uniform(block, salt + 1)} * ${longest - shortest})`;
  const start = `(${uniform(block, salt + 2)} * (${period - longest}))`;
  const offset = `((${ns}) % ${period})`;
  return `(${uniform(block, salt)} < ${chance} AND ${offset} >= ${start} AND ${offset} < ${start} + ${length})`;
}

/**
 * Returns a dataset whose rows come from `rows` for a window, about one per `spacingNs`; each field is an expression over their columns.
 */
export function sampleDataset(
  name: string,
  description: string,
  fields: Readonly<Record<string, SampleField>>,
  rows: (startNs: bigint, endNs: bigint) => string,
  spacingNs: bigint,
): BuiltinDataset {
  return {
    schema: {
      name,
      open: false,
      fields: Object.entries(fields).map(([field, value]) => schemaField(field, value)),
    },
    description,
    rowGroups: (startNs, endNs) => slices(startNs, endNs, spacingNs),
    scan: (wanted, startNs, endNs, filter) => {
      const columns = wanted.map((field, index) => `${fields[field]?.sql ?? 'NULL'} AS f${index}`);
      const select = `SELECT ${columns.length === 0 ? '1 AS f0' : columns.join(', ')} FROM (${rows(startNs, endNs)})`;
      return filter === undefined
        ? select
        : `SELECT * FROM (${select}) WHERE ${filter.sql(wanted.map((_, index) => `f${index}`))}`;
    },
  };
}

function schemaField(name: string, field: SampleField): FieldSchema {
  const { type, unit, description } = field;
  return {
    name,
    type,
    ...present({ unit, description }),
  };
}
