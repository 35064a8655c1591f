/** Meaning of a number in a workbook cell, by its style: dates and times of day are days since 1900. */
export type NumberKind = 'number' | 'date' | 'time';

/** Returns the meaning of numbers in cells with a format: a built-in one by its number, or a code such as `yyyy-mm-dd`. */
export function kindOfNumber(format: number, code?: string): NumberKind {
  if (code === undefined) {
    if ((format >= 14 && format <= 17) || format === 22 || (format >= 27 && format <= 36)) return 'date';
    if (format >= 50 && format <= 58) return 'date';
    return (format >= 18 && format <= 21) || (format >= 45 && format <= 47) ? 'time' : 'number';
  }
  // Strips literals, colors and padding, which are not part of a date; [h] is part of a time.
  const letters = code.replace(/"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]/gi, '').toLowerCase();
  if (/general|[0#?]/.test(letters.replace(/s\.0+/g, 's'))) return 'number';
  if (/[yd]/.test(letters)) return 'date';
  return /[hs]/.test(letters) ? 'time' : /m/.test(letters) ? 'date' : 'number';
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Limit in days: a larger number with an hour format is a date that shows only hours. */
const mostDays = 10_000;

/** Serial number of 1 January 1970, valid for days after 28 February 1900: Excel has a 29th. */
const epochDay = 25_569;
const daysTo1904 = 1462;

/** Returns a number as a string: a date as RFC 3339 with milliseconds, without a zone if `local`, and a time of day starting with hours. */
export function textOfNumber(
  value: number,
  kind: NumberKind,
  { from1904, local }: { readonly from1904: boolean; readonly local: boolean },
): string {
  if (kind === 'time' && Math.abs(value) < mostDays) return hours(Math.round(value * dayMs));
  if (kind === 'number') return String(value);
  const days = value + (from1904 ? daysTo1904 : 0);
  const ms = Math.round((days - epochDay + (days < 60 ? 1 : 0)) * dayMs);
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(value);
  return local ? date.toISOString().slice(0, -1) : date.toISOString();
}

/** Formats hours, minutes, seconds and milliseconds; there may be more than 24 hours. */
function hours(ms: number): string {
  const size = Math.abs(ms);
  const minutes = new Date(size)
    .toISOString()
    .slice(14, -1)
    .replace(/\.000$/, '');
  return `${ms < 0 ? '-' : ''}${String(Math.floor(size / hourMs)).padStart(2, '0')}:${minutes}`;
}
