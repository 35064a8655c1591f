/** What a number in a cell of a workbook is, by its style: days since 1900 are a date or a time of day there. */
export type NumberKind = 'number' | 'date' | 'time';

/** Returns what numbers are in cells with a format: one of Excel's own by its number, or a code such as `yyyy-mm-dd`. */
export function kindOfNumber(format: number, code?: string): NumberKind {
  if (code === undefined) {
    if ((format >= 14 && format <= 17) || format === 22 || (format >= 27 && format <= 36)) return 'date';
    if (format >= 50 && format <= 58) return 'date';
    return (format >= 18 && format <= 21) || (format >= 45 && format <= 47) ? 'time' : 'number';
  }
  // Texts, colors and places of money are not part of a date, but [h] is one of a time.
  const letters = code.replace(/"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]/gi, '').toLowerCase();
  if (/general|[0#?]/.test(letters.replace(/s\.0+/g, 's'))) return 'number';
  if (/[yd]/.test(letters)) return 'date';
  return /[hs]/.test(letters) ? 'time' : /m/.test(letters) ? 'date' : 'number';
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** A larger number in a format of hours is a date of which only the hours are shown. */
const mostDays = 10_000;

/** The day before 1 January 1970 of the serial number 0, as days after 28 February 1900 count: Excel has a 29th. */
const epochDay = 25_569;
const daysTo1904 = 1462;

/** Returns a number as text: a date as RFC 3339 to the millisecond, without a zone if it is `local`, and a time of day with its hours. */
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

/** Hours, minutes, seconds and milliseconds; there may be more than 24 hours. */
function hours(ms: number): string {
  const size = Math.abs(ms);
  const minutes = new Date(size)
    .toISOString()
    .slice(14, -1)
    .replace(/\.000$/, '');
  return `${ms < 0 ? '-' : ''}${String(Math.floor(size / hourMs)).padStart(2, '0')}:${minutes}`;
}
