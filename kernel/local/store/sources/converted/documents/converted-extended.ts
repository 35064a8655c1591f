/**
 * Returns a MongoDB document in extended JSON (https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/) as a line with plain
 * values: dates as strings, integers and decimals as numbers, except those with more digits than a double. Values without a JSON type
 * remain objects.
 */
export function extendedLines(text: string): readonly string[] {
  return [
    text.replace(
      token,
      (whole, name?: string, value = '') => (name ? plainValue(name, value) : undefined) ?? whole,
    ),
  ];
}

/** An object around one value, or a string, which may contain something similar. */
const token =
  /\{\s*"\$(oid|uuid|symbol|date|numberInt|numberLong|numberDouble|numberDecimal)"\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*"|-?\d+|\{\s*"\$numberLong"\s*:\s*"-?\d+"\s*\})\s*\}|"[^"\\]*(?:\\.[^"\\]*)*"/g;

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const boundless = /^(?:NaN|-?Infinity)$/;

/** Returns the JSON source of a value, or an extension that the engine reads; undefined if there is none. */
function plainValue(name: string, value: string): string | undefined {
  if (name === 'date') return dateOf(value);
  if (!value.startsWith('"')) return undefined;
  if (!name.startsWith('number')) return value;
  const digits = value.slice(1, -1);
  if (name === 'numberDecimal' && exceedsReal(digits)) return value;
  return number.test(digits) || boundless.test(digits) ? digits : undefined;
}

/** Whether a decimal exceeds the precision or range of a double: it stays a string. */
function exceedsReal(digits: string): boolean {
  const [mantissa = ''] = digits.split(/[eE]/);
  return (
    number.test(digits) && (mantissa.replace(/^[-0.]+|\./g, '').length > 15 || !isWithin(Number(digits)))
  );
}

function isWithin(value: number): boolean {
  return value === 0 || (Number.isFinite(value) && Math.abs(value) >= 2 ** -1022);
}

/** Returns a date as in relaxed mode and `mongoexport`; undefined for one outside four-digit years, which stays a number. */
function dateOf(value: string): string | undefined {
  if (value.startsWith('"')) return value;
  const date = new Date(Number(/-?\d+/.exec(value.replace('$numberLong', ''))?.[0]));
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? JSON.stringify(date.toISOString().replace('.000Z', 'Z')) : undefined;
}
