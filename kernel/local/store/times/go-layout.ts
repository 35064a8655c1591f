import { sqlText } from '../../duckdb/duckdb-literal.js';

/** Tokens of Go layouts with their strptime equivalents; of two with a common prefix, the longer one comes first. */
const goLayout: readonly (readonly [string, string])[] = [
  ['January', '%B'],
  ['Monday', '%A'],
  ['2006', '%Y'],
  ['Z07:00', '%z'],
  ['-07:00', '%z'],
  ['-0700', '%z'],
  ['Z0700', '%z'],
  ['-07', '%z'],
  ['Jan', '%b'],
  ['Mon', '%a'],
  ['MST', '%Z'],
  ['PM', '%p'],
  ['pm', '%p'],
  ['002', '%j'],
  ['01', '%m'],
  ['02', '%d'],
  ['15', '%H'],
  ['03', '%I'],
  ['04', '%M'],
  ['05', '%S'],
  ['06', '%y'],
  ['_2', '%-d'],
  ['1', '%-m'],
  ['2', '%-d'],
  ['3', '%-I'],
  ['4', '%-M'],
  ['5', '%-S'],
];

/** Fractional seconds, which Go parses even if the layout has none. */
const fraction = '(:\\d{2})[.,](\\d{1,9})';

/**
 * Returns the SQL of the time in a text by a layout of Go's [reference time](https://pkg.go.dev/time#pkg-constants); null if it does not
 * match.
 */
export function goTimeSql(text: string, layout: string): string {
  if (!layout.includes(':05')) return strptimeSql(text, strptimeOf(layout));
  const whole = `regexp_replace(${text}, ${sqlText(fraction)}, '\\1')`;
  // The engine does not parse the Z for UTC that such a layout allows.
  const zoned = /Z07:?00/.test(layout) ? `regexp_replace(${whole}, 'Z$', '+00:00')` : whole;
  const seconds = strptimeSql(zoned, strptimeOf(layout.replace(/(:05)[.,](0+|9+)(?!\d)/, '$1')));
  const nanos = `rpad(regexp_extract(${text}, ${sqlText(fraction)}, 2), 9, '0')::HUGEINT`;
  return `make_timestamp_ns(TRY_CAST(epoch_ns(${seconds}) + ${nanos} AS BIGINT))`;
}

/** Returns the SQL of the time in a text by a strptime format; null if it does not match. */
export function strptimeSql(text: string, format: string): string {
  return `TRY_CAST(try_strptime(${text}, ${sqlText(format)}) AS TIMESTAMP_NS)`;
}

function strptimeOf(layout: string): string {
  const pattern = new RegExp(`[.,](?:0+|9+)(?!\\d)|${goLayout.map(([token]) => token).join('|')}`, 'g');
  return layout.replace(pattern, token =>
    /^[.,]/.test(token) ? `${token[0]}%f` : (goLayout.find(([go]) => go === token)?.[1] ?? token),
  );
}
