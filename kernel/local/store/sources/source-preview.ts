import { stat } from 'node:fs/promises';
import type { ImportPreview, PreviewField } from '../../../api/api-preview.js';
import { fileFormats, plainText } from '../../../api/logs/log-formats.js';
import type { ImportRequest } from '../../../api/wire.js';
import { serviceTypes } from '../../../apl/catalog/entry.js';
import { present } from '../../../present.js';
import { cut } from '../../../text.js';
import { formatDuration, formatTime } from '../../../time.js';
import { sqlName, sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import type { FileField } from '../../engine/engine-parquet.js';
import type { RequestContext } from '../../engine/engine-request.js';
import { whileFiles } from '../bounds/bounded-names.js';
import { drafted, loadOf, openSource, type Source, type Stored } from '../import.js';
import { damageOf, emptyFile } from './source-formats.js';

/** Maximum size of a file decompressed completely, to detect damage, in bytes; for a larger one, the import reports it. */
const unpackedBytes = 64 * 2 ** 20;

/** Number of rows read for a preview. */
const rowsRead = 1_000;
/** Number of rows with values in the preview. */
const rowsShown = 5;
/** Maximum length of a value, in characters. */
const longestValue = 200;

/** Returns how a file would be imported, by running an import over its first rows; nothing is stored. Throws LocalError. */
export async function previewFile(
  dataDir: string,
  request: ImportRequest,
  nowNs: bigint,
  context: RequestContext = {},
): Promise<ImportPreview> {
  const source = await openSource(dataDir, request, context.signal);
  try {
    return await whileFiles(
      () => source.originals.files,
      context.signal,
      signal => previewSource(source, request, nowNs, { ...context, signal }),
    );
  } finally {
    await source.engine.close();
  }
}

async function previewSource(
  source: Source,
  request: ImportRequest,
  nowNs: bigint,
  context: RequestContext,
): Promise<ImportPreview> {
  const { size } = await stat(source.file);
  const damage = size > unpackedBytes ? undefined : () => damageOf(source.file, context.signal);
  const load = { ...loadOf(source, request, nowNs), atMost: rowsRead, ...present({ damage }) };
  const use = async (stored: Stored, draft: string) => {
    if (stored.rows === 0) throw emptyFile(source.name);
    const work = (connection: Connection) => valuesIn(connection, draft, stored.fields, nowNs);
    return previewOf(source, request.dataset, stored, await source.engine.withConnection(work, context));
  };
  return drafted(source.engine, load, use, context);
}

function previewOf(
  { name, format, notes }: Source,
  dataset: string,
  stored: Stored,
  fields: readonly PreviewField[],
): ImportPreview {
  const { rows, about, timeField = '', refusal } = stored;
  const { log = plainText, kind } = format;
  const file = fileFormats.find(each => each.kind === kind && format.log === undefined);
  return {
    ...{ file: name, dataset },
    format: { name: file?.names[0] ?? log.name, label: file?.label ?? log.label },
    ...{ rows, isWhole: rows < rowsRead, about: rows < rowsRead ? rows : about },
    ...{ fields, timeField },
    notes: [...notes, ...stored.notes],
    ...present({ problem: refusal && { message: refusal.message, ...present({ hint: refusal.hint }) } }),
  };
}

/** Returns the fields with the values of the first rows; the time of the import is shown as null. */
async function valuesIn(
  connection: Connection,
  draft: string,
  fields: readonly FileField[],
  nowNs: bigint,
): Promise<readonly PreviewField[]> {
  const shown = fields.filter(({ name }) => name !== '_sysTime');
  const columns = shown.map(({ column, type }) => {
    const value = sqlName(column);
    if (type === 'datetime') return `nullif(epoch_ns(${value}), ${nowNs})`;
    return `left(${value}::VARCHAR, ${longestValue + 1})`;
  });
  const rows = await connection.run(
    `SELECT ${columns.join(', ')} FROM read_parquet(${sqlText(draft)}) LIMIT ${rowsShown}`,
  );
  return shown.map(({ name, type }, index) => ({
    ...{ name, type: serviceTypes[type] },
    values: rows.map(row => textOf(type, row[index])),
  }));
}

function textOf(type: FileField['type'], value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (type === 'datetime') return formatTime(BigInt(String(value)), 'fewest');
  if (type === 'timespan') return formatDuration(BigInt(String(value)));
  return cut(String(value), longestValue);
}
