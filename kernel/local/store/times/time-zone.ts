import { plural } from '../../../text.js';
import { zoneOffsets, zoneWord } from '../../../time.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';

/** A text with a zone behind the time of day or the date, as `todatetime` reads them, or with a number since 1970. */
const zoned =
  '(?i)\\d:\\d\\d(?::\\d\\d(?:[.,:]\\d+)?)?(?:\\s*[ap]m)?\\s*(?:' +
  `${Object.keys(zoneOffsets).join('|')}|` +
  '[a-z]+/[a-z_/+-]+|[a-z]{0,4}[+-]\\d\\d(?::?\\d\\d)?)(?:[^a-z0-9]|$)' +
  '|^\\s*\\d{4}-\\d\\d-\\d\\d[+-]\\d\\d:\\d\\d\\s*$' +
  '|^\\s*(?:\\d{9,10}(?:\\.\\d+)?|\\d{13}|\\d{16}|\\d{19})\\s*$';

/** SQL of what the clocks of a zone show at a instant in UTC. */
function shown(zone: string, utc: string): string {
  return `timezone(${sqlText(zone)}, timezone('UTC', ${utc}))`;
}

/** SQL of the instant in UTC at which the clocks show a time, if they are as far ahead as they are some days away. */
function instantBy(zone: string, local: string, days: 1 | -1): string {
  const near = `(${local} + INTERVAL (${days}) DAY)`;
  return `${local} - (${shown(zone, near)} - ${near})`;
}

/**
 * Returns SQL of a TIMESTAMP_NS that was read from `text` as if in UTC, in a zone unless the text has one of its own. A time that
 * the clocks skip is null; of one that they show twice it is the first. The rule is that of `apl_event_time`.
 */
export function inZone(time: string, text: string, zone: string): string {
  const instants = `[${instantBy(zone, 't::TIMESTAMP', -1)}, ${instantBy(zone, 't::TIMESTAMP', 1)}]`;
  const instant = `list_filter(${instants}, lambda u: ${shown(zone, 'u')} = t::TIMESTAMP)[1]`;
  const shift = `epoch_us(${instant}) - epoch_us(t::TIMESTAMP)`;
  const shifted = `CASE WHEN t BETWEEN TIMESTAMP '1700-01-01' AND TIMESTAMP '2250-01-01' THEN make_timestamp_ns(epoch_ns(t) + (${shift}) * 1000) END`;
  const own = `regexp_matches(${text}, ${sqlText(zoned)})`;
  return `list_transform([${time}], lambda t: CASE WHEN ${own} THEN t ELSE ${shifted} END)[1]`;
}

/** Returns SQL of a text without the word behind its time of day that names a zone, such as IST: it has several offsets. */
export function withoutZoneWord(text: string): string {
  return `regexp_replace(${text}, '(\\d:\\d\\d(?::\\d\\d(?:[.,]\\d+)?)?)\\s*[A-Za-z]{3,5}\\b', '\\1')`;
}

/** SQL of whether a text may have a word for a zone: those that stand for several offsets have three letters. */
export function mayNameZone(text: string): string {
  return `regexp_matches(${text}, '\\d:\\d\\d(?:[.,]\\d+)? ?[A-Z]{2}')`;
}

/** Returns what to do about texts of the table `sampled` whose zone stands for several offsets: undefined if there is none. */
export async function unclearZoneHint(
  connection: Connection,
  column: string,
  field: string,
): Promise<string | undefined> {
  const word = `regexp_extract(${column}::VARCHAR, ${sqlText(`\\d:\\d\\d(?:[.,]\\d+)? ?(${zoneWord})\\b`)}, 1)`;
  const known = `[${Object.keys(zoneOffsets).map(each => sqlText(each.toUpperCase()))}]`;
  const [row = []] = await connection.run(
    `SELECT any_value(w) FROM (SELECT ${word} AS w FROM sampled) WHERE w <> '' AND NOT list_contains(${known}, w)`,
  );
  const [found] = row;
  return typeof found === 'string'
    ? `The times of \`${field}\` have the zone ${found}, which stands for several offsets: \`--zone\` names one, such as Asia/Kolkata.`
    : undefined;
}

/** Says how many times of a file lie in an hour that the clocks of a zone show again. */
export async function twiceNotes(connection: Connection, file: string, zone: string): Promise<string[]> {
  const again = instantBy(zone, 'l', 1);
  const [row] = await connection.run(
    `SELECT count(*) FROM (SELECT u, ${shown(zone, 'u')} AS l FROM (SELECT _time::TIMESTAMP AS u FROM read_parquet(${sqlText(file)})))
     WHERE ${again} > u AND ${shown(zone, `(${again})`)} = l`,
  );
  const count = Number(row?.[0]);
  return count === 0
    ? []
    : [
        `Some times are there twice, as the clocks of ${zone} are put back. In the first of the two: ${plural(count, 'row')}; a time without an offset is always read as that one.`,
      ];
}
