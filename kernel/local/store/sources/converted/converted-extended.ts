/**
 * Returns a document of MongoDB in extended JSON (https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/) without the
 * objects around its values, as a line: dates are texts, integers and decimals numbers, but for those of more digits than a real has. What
 * has no type of JSON stays an object.
 */
export function extendedLines(text: string): readonly string[] {
  return [
    text.replace(
      token,
      (whole, name?: string, value = '') => (name ? plainValue(name, value) : undefined) ?? whole,
    ),
  ];
}

/** An object around one value, or a string, which may hold what looks like one. */
const token =
  /\{\s*"\$(oid|uuid|symbol|date|numberInt|numberLong|numberDouble|numberDecimal)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+|\{\s*"\$numberLong"\s*:\s*"-?\d+"\s*\})\s*\}|"(?:[^"\\]|\\.)*"/g;

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const boundless = /^(?:NaN|-?Infinity)$/;

/** The text of a value in JSON, or as the engine reads it beyond that; undefined if it has none. */
function plainValue(name: string, value: string): string | undefined {
  if (name === 'date') return dateOf(value);
  if (!value.startsWith('"')) return undefined;
  if (!name.startsWith('number')) return value;
  const digits = value.slice(1, -1);
  if (name === 'numberDecimal' && exceedsReal(digits)) return value;
  return number.test(digits) || boundless.test(digits) ? digits : undefined;
}

/** Whether a decimal has more digits than a real keeps, or is beyond all of these: it stays a text. */
function exceedsReal(digits: string): boolean {
  const [mantissa = ''] = digits.split(/[eE]/);
  return (
    number.test(digits) && (mantissa.replace(/^[-0.]+|\./g, '').length > 15 || !isWithin(Number(digits)))
  );
}

function isWithin(value: number): boolean {
  return value === 0 || (Number.isFinite(value) && Math.abs(value) >= 2 ** -1022);
}

/** A date as the relaxed form has it, and `mongoexport`; one that no year of four digits has stays the number that it is. */
function dateOf(value: string): string | undefined {
  if (value.startsWith('"')) return value;
  const date = new Date(Number(/-?\d+/.exec(value.replace('$numberLong', ''))?.[0]));
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? JSON.stringify(date.toISOString().replace('.000Z', 'Z')) : undefined;
}
