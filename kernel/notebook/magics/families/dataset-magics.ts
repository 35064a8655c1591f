import { ApiError } from '../../../api/api-errors.js';
import type { Listed } from '../../../api/api-notices.js';
import { localProfile } from '../../../api/profile.js';
import type { DatasetInfo, FieldMeta } from '../../../api/wire.js';
import { quotedName } from '../../../apl/syntax/tokens/quote.js';
import { typeWord } from '../../../result/display/display-text.js';
import { formatCount, plural, shownName, visible } from '../../../text.js';
import { parseTime } from '../../../time.js';
import { extentText } from '../../query/extent.js';
import type { Session } from '../../session.js';
import { daysAround, formatMinute } from '../../time-range.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { named, say, tableOutput } from '../output.js';

/** The magics about datasets, in help order. */
export const datasetMagics: readonly Magic[] = [
  {
    name: 'datasets',
    usage: '%datasets',
    options: [],
    summary: 'list the datasets',
    help: 'Queries the service again, which also refreshes completion. On the local service, also shows how many events there are, the first and last time, and the `%time` line that reads them all.',
    arity: [0, 0],
    effects: ['query'],
    run: datasets,
  },
  {
    name: 'schema',
    usage: '%schema [DATASET]',
    options: [],
    summary: 'list the fields of a dataset, or of every dataset',
    help: 'Shows names, types, units and descriptions. Without a dataset, lists the fields of the first 20 datasets.',
    arity: [0, 1],
    effects: ['query'],
    argument: 'dataset',
    run: schema,
  },
  {
    name: 'peek',
    usage: '%peek DATASET [N]',
    options: [],
    summary: 'show a few events of a dataset, 10 by default',
    help: 'Shows the newest events in the time range, with `_time` as the first field. Same as the query `DATASET | sort by _time desc | limit N`. If the range has fewer than N, a notice above them says where there are more.',
    arity: [1, 2],
    effects: ['query'],
    argument: 'dataset',
    run: peek,
  },
  {
    name: 'drop',
    usage: '%drop DATASET [--yes]',
    options: [{ name: 'yes', summary: 'do not prompt for its name' }],
    summary: 'delete a dataset of the local service',
    help: 'Prompts you to type the name before deleting anything. With `--yes`, asks only once per session, and not about a dataset that the session itself imported. A deleted dataset cannot be restored; the file that it was imported from is not affected.',
    arity: [1, 1],
    effects: ['drop'],
    argument: 'dataset',
    run: drop,
  },
];

async function datasets(_: MagicCall, { session, io }: MagicHost): Promise<void> {
  const { items: found, notices } = await session.schema.datasets(io.signal);
  const measured = found.some(each => each.rows !== undefined);
  const facts = (each: DatasetInfo) => (measured ? extentCells(each) : [each.kind ?? '']);
  const headers = [
    'dataset',
    ...(measured ? ['events', 'time range', 'from', 'to'] : ['kind']),
    'description',
  ];
  const caption =
    found.length === 0
      ? 'No datasets. `%import FILE` creates one from a file.'
      : plural(found.length, 'dataset');
  const rows = found.map(each => [each.name, ...facts(each), each.description]);
  for (const { name, problems = [] } of found) for (const each of problems) say(io, `${name}: ${each}.`);
  for (const notice of notices) say(io, notice);
  io.display(tableOutput(headers, rows, named(session, caption)));
}

/** Returns the number of events of a dataset, the `%time` line that reads them all, and their first and last time. */
function extentCells({ rows, firstTime, lastTime, problems, place }: DatasetInfo): readonly string[] {
  if (rows === undefined && problems !== undefined) return ['damaged', '', '', ''];
  if (rows === undefined && place !== undefined) return ['in a bucket', '', '', ''];
  if (rows === undefined) return ['computed for any time', '', '', ''];
  const [first, last] = [parseTime(firstTime ?? ''), parseTime(lastTime ?? '')];
  const times =
    first === undefined || last === undefined
      ? [rows === 0 ? '' : 'any: its events have no time', '', '']
      : [`%time ${daysAround(first, last)}`, formatMinute(first), formatMinute(last)];
  return [formatCount(rows), ...times];
}

const schemaDatasets = 20;

/** Lists the fields of one dataset or of the first few. */
async function schema({ words }: MagicCall, { session, io }: MagicHost): Promise<void> {
  const [name] = words;
  const { items: datasets, notices } = await (name === undefined
    ? session.schema.datasets(io.signal)
    : infoOf(name, session, io.signal));
  for (const notice of notices) say(io, notice);
  const listed = new Map(datasets.map(dataset => [dataset.name, dataset]));
  const all = name === undefined ? [...listed.keys()] : [name];
  const shown = all.slice(0, schemaDatasets);
  const fields = await Promise.all(
    shown.map(each => session.schema.fields(each, io.signal).catch(refusalOf)),
  );
  const refused = fields.filter(each => each instanceof ApiError);
  if (refused.length === shown.length && refused[0] !== undefined) throw refused[0];
  for (const [index, dataset] of shown.entries()) {
    const found = fields[index] as Listed<FieldMeta> | ApiError;
    if (found instanceof ApiError) {
      say(io, `${dataset}: ${found.message}.`);
      continue;
    }
    const { items, notices } = found;
    for (const notice of notices) say(io, `${dataset}: ${notice}`);
    const rows = items.map(field => [
      field.hidden ? `${shownName(field.name)} (hidden)` : shownName(field.name),
      typeWord(field.type),
      field.unit === 'none' ? '' : field.unit,
      field.description,
    ]);
    const info = listed.get(dataset);
    const extent = info?.rows === undefined ? '' : `; ${extentText(info)}`;
    const caption = named(session, `${dataset}: ${plural(rows.length, 'field')}${extent}`);
    io.display(tableOutput(['field', 'type', 'unit', 'description'], rows, caption));
  }
  const rest = all.length - shown.length;
  if (rest > 0) say(io, `${plural(rest, 'more dataset')} not shown; \`%schema DATASET\` shows one.`);
}

/** Catches a refusal to list the fields of one dataset, so that the remaining ones are shown. */
function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** Returns facts about a dataset other than its fields, which can be shown without them. */
async function infoOf(
  name: string,
  session: Pick<Session, 'measuredDatasets'>,
  signal: AbortSignal,
): Promise<Listed<DatasetInfo>> {
  const items = await session.measuredDatasets([name], signal).catch(() => []);
  return { items, notices: [] };
}

/** Runs a query for a few events. */
async function peek({ words, magic }: MagicCall, { show }: MagicHost): Promise<void> {
  const [dataset = '', rows = '10'] = words;
  if (!/^[1-9]\d{0,8}$/.test(rows)) throw usageError(magic, `${rows} is not a number of rows`);
  await show(`${quotedName(dataset)} | sort by _time desc | limit ${rows}`, { events: Number(rows) });
}

/** Deletes a dataset of the local service once the user has typed its name again. */
async function drop({ words, options }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io } = host;
  onlyLocal(session, 'drop');
  const [name = ''] = words;
  const [info] = await session.measuredDatasets([name], io.signal);
  // The service refuses to delete computed datasets.
  if (info?.rows !== undefined || info?.problems !== undefined)
    await askToDrop(info, options.has('yes'), host);
  await (await session.client(io.signal)).deleteDataset(name, io.signal);
  session.schema.clear();
  say(io, `Deleted ${name}${info === undefined ? '' : ` (${extentOf(info)})`}.`);
}

/** Without `--yes`, asks the user to type the name of the dataset, if input is allowed. */
async function askToDrop(
  info: DatasetInfo,
  yes: boolean,
  { session, io, consent }: MagicHost,
): Promise<void> {
  const { name } = info;
  if (yes || !io.allowStdin) {
    if (session.consents.hasMade(['dataset', name])) return;
    return consent('drop', `delete the dataset ${name}, ${extentOf(info)}`);
  }
  const typed = await io.input(
    `This deletes ${visible(name)}, ${extentOf(info)}. Type its name to continue: `,
    false,
  );
  if (typed.trim() !== name) throw new MagicError(`${name} was not deleted: the typed name does not match`);
}

/** Throws MagicError unless the session is on the local service, which the magic requires. */
export function onlyLocal(session: Pick<Session, 'profileName'>, magic: string): void {
  if (session.profileName === localProfile) return;
  throw new MagicError(
    `%${magic} works with the local service only, but the profile is ${session.profileName}`,
    'Switch to it with `%use local`, then run the cell again.',
  );
}

/** Describes the extent of a dataset. */
export function extentOf({ rows, problems }: DatasetInfo): string {
  if (problems !== undefined && rows === undefined) return 'whose files are damaged';
  return rows === undefined ? 'all of its events' : plural(rows, 'event');
}
