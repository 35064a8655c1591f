import { plural } from '../../../text.js';
import { zoneOffsets, zoneWord } from '../../../time.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';

/** A text with a zone after the time of day or the date, in the forms that `todatetime` reads, or a number since 1970. */
const zoned =
  '(?i)\\d:\\d\\d(?::\\d\\d(?:[.,:]\\d+)?)?(?:\\s*[ap]m)?\\s*(?:' +
  `${Object.keys(zoneOffsets).join('|')}|` +
  '[a-z]+/[a-z_/+-]+|[a-z]{0,4}[+-]\\d\\d(?::?\\d\\d)?)(?:[^a-z0-9]|$)' +
  '|^\\s*\\d{4}-\\d\\d-\\d\\d[+-]\\d\\d:\\d\\d\\s*$' +
  '|^\\s*(?:\\d{9,10}(?:\\.\\d+)?|\\d{13}|\\d{16}|\\d{19})\\s*$';

/** Returns the SQL of the local time in a zone at an instant in UTC. */
function shown(zone: string, utc: string): string {
  return `timezone(${sqlText(zone)}, timezone('UTC', ${utc}))`;
}

/** Returns the SQL of the instant in UTC of a local time, using the zone's offset some days away. */
function instantBy(zone: string, local: string, days: 1 | -1): string {
  const near = `(${local} + INTERVAL (${days}) DAY)`;
  return `${local} - (${shown(zone, near)} - ${near})`;
}

/**
 * Returns the SQL of a TIMESTAMP_NS, parsed from `text` as UTC, converted from a zone unless the text has its own. A time skipped by the
 * clocks is null; of one that occurs twice, it is the first. `apl_event_time` has the same rule.
 */
export function inZone(time: string, text: string, zone: string): string {
  const instants = `[${instantBy(zone, 't::TIMESTAMP', -1)}, ${instantBy(zone, 't::TIMESTAMP', 1)}]`;
  const instant = `list_filter(${instants}, lambda u: ${shown(zone, 'u')} = t::TIMESTAMP)[1]`;
  const shift = `epoch_us(${instant}) - epoch_us(t::TIMESTAMP)`;
  const shifted = `CASE WHEN t BETWEEN TIMESTAMP '1700-01-01' AND TIMESTAMP '2250-01-01' THEN make_timestamp_ns(epoch_ns(t) + (${shift}) * 1000) END`;
  const own = `regexp_matches(${text}, ${sqlText(zoned)})`;
  return `list_transform([${time}], lambda t: CASE WHEN ${own} THEN t ELSE ${shifted} END)[1]`;
}

/** Returns the SQL of a text without a zone abbreviation after the time of day, such as IST, which is ambiguous. */
export function withoutZoneWord(text: string): string {
  return `regexp_replace(${text}, '(\\d:\\d\\d(?::\\d\\d(?:[.,]\\d+)?)?)\\s*[A-Za-z]{3,5}\\b', '\\1')`;
}

/** Returns the SQL of whether a text may have a zone abbreviation: the ambiguous ones have three letters. */
export function mayNameZone(text: string): string {
  return `regexp_matches(${text}, '\\d:\\d\\d(?:[.,]\\d+)? ?[A-Z]{2}')`;
}

/** Returns a hint about ambiguous zone abbreviations in the table `sampled`, undefined if there are none. */
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
    ? `Times in \`${field}\` have the zone ${found}, which is ambiguous: set one such as Asia/Kolkata with \`--zone\`.`
    : undefined;
}

/** Returns a note on the number of times within an hour that occurs twice in a zone. */
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
        `Times repeat when the clocks of ${zone} are set back. Read as the first of the two: ${plural(count, 'row')}.`,
      ];
}
