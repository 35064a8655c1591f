import type { CompiledField } from '../kernel/local/sql/compiled-query.js';

interface Expected {
  readonly query: string;
  readonly output?: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
  readonly output_json?: unknown;
}

export type Comparison = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Compares a result with a printed output, if the output follows from the query alone: queries that start with `print`
 * or `datatable`. Values are compared as strings, numbers to 9 digits. Undefined if there is nothing exact to compare.
 */
export function checkOutput(
  line: Expected,
  fields: readonly CompiledField[],
  rows: readonly (readonly unknown[])[],
): Comparison | undefined {
  if (!/^\s*(print|datatable)\b/.test(line.query) || line.query.includes('rand(')) return undefined;
  const { output } = line;
  if (output === undefined) return undefined;
  for (const [column, name] of output.columns.entries()) {
    const index = fields.findIndex(field => field.name === name);
    if (index < 0) continue;
    for (const [row, values] of output.rows.entries()) {
      const [wanted, given] = [values[column], rows[row]?.[index]];
      if (!sameValue(wanted, given))
        return { ok: false, reason: `${name}: printed ${normal(wanted)}, computed ${normal(given)}` };
    }
  }
  return { ok: true };
}

/** Returns whether two values match; a printed number matches all that round to it. */
function sameValue(wanted: unknown, given: unknown): boolean {
  const decimals = /^-?\d+\.(\d+)$/.exec(String(wanted))?.[1]?.length;
  if (decimals !== undefined && typeof given === 'number') return given.toFixed(decimals) === String(wanted);
  return normal(wanted) === normal(given);
}

function normal(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const plain = text.replace(/`/g, '').trim();
  try {
    return JSON.stringify(rounded(JSON.parse(plain)));
  } catch {
    return plain;
  }
}

function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(9));
  if (Array.isArray(value)) return value.map(rounded);
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value)
        .sort()
        .map(([key, item]) => [key, rounded(item)]),
    );
  return value;
}
