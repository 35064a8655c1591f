import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { importChoices } from '../../api/imports.js';
import { AccessToken, type Endpoint, localProfile, ProfileError } from '../../api/profile.js';
import { type DatasetInfo, datasetNameOf, type ImportReport, type QueryProgress } from '../../api/wire.js';
import { quotedName } from '../../apl/syntax/tokens/quote.js';
import type { CellIo } from '../../jupyter/message.js';
import { present } from '../../present.js';
import { codeWords } from '../../result/display/summary.js';
import {
  cutWords,
  formatCount,
  partRead,
  plural,
  shownName,
  visible,
  visibleLines,
  withoutTokens,
} from '../../text.js';
import { parseTime } from '../../time.js';
import { extentText } from '../query/extent.js';
import type { Session } from '../session.js';
import {
  daysAround,
  defaultRange,
  everything,
  formatMinute,
  freezeRange,
  isFrozen,
  parseRange,
  rangeLine,
  resolveRange,
  type TimeRange,
  TimeRangeError,
} from '../time-range.js';
import { MagicError, misuse } from './arguments.js';
import { pathOf } from './files.js';
import type { MagicCall, MagicHost } from './magic.js';
import { tableOutput, textOutput } from './output.js';

/** Shows, sets, freezes or clears the time range. */
export function time(call: MagicCall, { session, io, plan }: MagicHost): void {
  const { words, options, cell } = call;
  const now = session.now();
  if (options.has('clear') && (words.length > 0 || options.has('freeze')))
    throw misuse(call.magic, '--clear stands alone');
  const asked = options.has('clear')
    ? defaultRange
    : words.length > 0
      ? readRange(words.join(' '), session.range)
      : plan.range;
  const range = options.has('freeze') ? freezeRange(asked, now) : asked;
  const { startTime, endTime } = resolveRange(range, now);
  plan.range = range;
  if (options.has('freeze')) plan.rewrites.push({ ...call.line, text: rangeLine(range, now, cell) });
  if (cell) return;
  session.range = range;
  const kind = isFrozen(range) ? '' : 'now ';
  const window = `${kind}${startTime} to ${endTime}, end exclusive`;
  const meaning = range === everything ? 'from the first event to the last of what a query reads' : window;
  say(io, `Time range: ${range.label} (${meaning})`);
}

/** The range that a text spells; an error about it names the range that stays in effect. */
function readRange(text: string, held: TimeRange): TimeRange {
  try {
    return parseRange(text);
  } catch (error) {
    if (!(error instanceof TimeRangeError)) throw error;
    throw new TimeRangeError(error.message, `${error.hint} The time range is still \`${held.label}\`.`);
  }
}

/** Shows, sets or clears the row limit. */
export function limit(call: MagicCall, { session, io, plan }: MagicHost): void {
  const { cell } = call;
  plan.rowLimit = rowCount(call, plan.rowLimit);
  if (cell) return;
  session.rowLimit = plan.rowLimit;
  const rows = plan.rowLimit;
  say(io, rows === undefined ? "Row limit: the service's own (1,000)" : `Row limit: ${formatCount(rows)}`);
}

/** Shows or sets how many rows of a result are written into the notebook. */
export function rows(call: MagicCall, { session, io, plan }: MagicHost): void {
  plan.shownRows = rowCount(call, plan.shownRows);
  if (call.cell) return;
  session.shownRows = plan.shownRows;
  const shown =
    plan.shownRows === undefined
      ? 'all of 100, 30 of more, as far as they are small'
      : formatCount(plan.shownRows);
  say(io, `Rows written into the notebook: ${shown}`);
}

/** Shows or sets whether outputs hold the data of results. */
export function retain({ words, cell, magic }: MagicCall, { session, io, plan }: MagicHost): void {
  const [word] = words;
  if (word !== undefined && word !== 'on' && word !== 'off')
    throw misuse(magic, `it is on or off, not ${word}`);
  if (word !== undefined) plan.retains = word === 'on';
  if (cell) return;
  session.retains = plan.retains;
  say(io, plan.retains ? 'Outputs hold the data of results' : 'Outputs hold no data, only sizes and fields');
}

/** The number of rows that a magic is given, undefined for `--clear`; without either, the present one. */
function rowCount({ words, options, magic }: MagicCall, held: number | undefined): number | undefined {
  const [word] = words;
  if (options.has('clear') && word !== undefined) throw misuse(magic, '--clear stands alone');
  if (word === undefined) return options.has('clear') ? undefined : held;
  const digits = word.replaceAll(/[_,]/g, '');
  if (!/^[1-9]\d{0,8}$/.test(digits)) throw misuse(magic, `${word} is not a number of rows`);
  return Number(digits);
}

/** Lists the profiles or changes to one; asks for a token where the profile has none and the front end can ask. */
export async function use(call: MagicCall, host: MagicHost): Promise<void> {
  const [name] = call.words;
  const { session, io } = host;
  const warning = await session.takeProfileWarning();
  if (warning !== undefined) io.stream('stderr', `${warning}\n`);
  if (name === undefined) {
    if (call.options.has('token')) throw misuse(call.magic, '--token needs the name of a profile');
    return listProfiles(host);
  }
  const endpoint = await session.readEndpoint(name);
  if (!session.replays) await askToSend(endpoint, host);
  const asks = call.options.has('token') || (endpoint?.token === undefined && io.allowStdin);
  if (endpoint !== undefined && asks) session.keepToken(name, await askToken(endpoint, io));
  await session.use(name);
  say(io, `Using ${name} (${endpoint === undefined ? 'the local service' : endpoint.url})`);
}

/** Asks before queries can reach this service, unless it is local or the one that the session started on. */
export async function askToSend(
  endpoint: Endpoint | undefined,
  { session, io, consent }: MagicHost,
): Promise<void> {
  // A choice in the front end is the user's yes.
  if (!io.storeHistory) session.consents.give('profile');
  if (endpoint === undefined || endpoint.profileName === session.startedOn) return;
  const { profileName, url, edgeUrl } = endpoint;
  const where = [url, ...(edgeUrl === undefined ? [] : [edgeUrl])].join(' and ');
  await consent('profile', `send queries to ${profileName} (${where}), with your token`);
}

async function askToken({ profileName, url }: Endpoint, io: CellIo): Promise<AccessToken> {
  const typed = (await io.input(`Token for ${visible(profileName)} (${url}): `, true)).trim();
  if (/^[\x21-\x7e]+$/.test(typed)) return new AccessToken(typed);
  throw new MagicError(
    typed === '' ? 'no token was given' : 'the text has characters that no token has',
    'The profile is as it was. Tokens start with xaat- or xapt-.',
  );
}

async function listProfiles({ session, io }: MagicHost): Promise<void> {
  const active = session.profileName;
  const rows = (await session.profileNames()).map(async each => {
    const endpoint = await session.endpoint(each).catch(refusalOf);
    if (endpoint instanceof ProfileError) return [each, `cannot be used: ${endpoint.message}`, ''];
    const token = endpoint?.token === undefined ? 'none' : `${endpoint.token.kind} token`;
    const address = endpoint === undefined ? ['the local service', 'its own'] : [endpoint.url, token];
    return [each === active ? `${each} (in use)` : each, ...address];
  });
  io.display(tableOutput(['profile', 'address', 'token'], await Promise.all(rows), 'Profiles'));
}

function refusalOf(error: unknown): ProfileError {
  if (error instanceof ProfileError) return error;
  throw error;
}

/** Shows profile, address and user. */
export async function whoami(_: MagicCall, { session, io }: MagicHost): Promise<void> {
  const client = await session.client(io.signal);
  const { endpoint } = client;
  const facts: string[][] = [
    ['profile', endpoint.profileName],
    ['address', endpoint.url],
  ];
  if (endpoint.edgeUrl !== undefined) facts.push(['queries go to', endpoint.edgeUrl]);
  if (endpoint.orgId !== undefined) facts.push(['organisation', endpoint.orgId]);
  const user = await client.currentUser(io.signal).catch(error => {
    if (error.code !== 'forbidden') throw error;
    return undefined;
  });
  if (user === undefined) facts.push(['user', 'this token may not read its user']);
  else facts.push(['user', [user.name, user.email, user.id].filter(Boolean).join(', ')]);
  io.display(tableOutput(['', ''], facts, 'Who and where'));
}

/** Lists the datasets. */
export async function datasets(_: MagicCall, { session, io }: MagicHost): Promise<void> {
  const found = await session.schema.datasets(io.signal);
  const measured = found.some(each => each.rows !== undefined);
  const facts = (each: DatasetInfo) => (measured ? extentCells(each) : [each.kind ?? '']);
  const headers = [
    'dataset',
    ...(measured ? ['events', 'time range', 'from', 'to'] : ['kind']),
    'description',
  ];
  const caption =
    found.length === 0
      ? 'There are no datasets. `%import FILE` makes one from a file.'
      : plural(found.length, 'dataset');
  const rows = found.map(each => [each.name, ...facts(each), each.description]);
  for (const { name, problems = [] } of found) for (const each of problems) say(io, `${name}: ${each}.`);
  io.display(tableOutput(headers, rows, named(session, caption)));
}

/** The number of events of a dataset, the `%time` line that reads them all, and their first and last time. */
function extentCells({ rows, firstTime, lastTime, problems }: DatasetInfo): readonly string[] {
  if (rows === undefined && problems !== undefined) return ['damaged', '', '', ''];
  if (rows === undefined) return ['computed for any time', '', '', ''];
  const [first, last] = [parseTime(firstTime ?? ''), parseTime(lastTime ?? '')];
  const times =
    first === undefined || last === undefined
      ? [rows === 0 ? '' : 'any: its events have no time', '', '']
      : [`%time ${daysAround(first, last)}`, formatMinute(first), formatMinute(last)];
  return [formatCount(rows), ...times];
}

/** Returns the caption, with the profile in front unless that is the service on this machine. */
export function named(session: Session, caption: string): string {
  return session.profileName === localProfile ? caption : `profile ${session.profileName}: ${caption}`;
}

const schemaDatasets = 20;

/** Lists the fields of one dataset or of the first few. */
export async function schema({ words }: MagicCall, { session, io }: MagicHost): Promise<void> {
  const [name] = words;
  const datasets = await (name === undefined
    ? session.schema.datasets(io.signal)
    : // The fields can be shown without it.
      session.measuredDatasets([name], io.signal).catch(() => []));
  const listed = new Map(datasets.map(dataset => [dataset.name, dataset]));
  const all = name === undefined ? [...listed.keys()] : [name];
  const shown = all.slice(0, schemaDatasets);
  const fields = await Promise.all(shown.map(each => session.schema.fields(each, io.signal)));
  for (const [index, dataset] of shown.entries()) {
    const rows = (fields[index] ?? []).map(field => [
      field.hidden ? `${shownName(field.name)} (hidden)` : shownName(field.name),
      field.type,
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

/** Runs a query for a few events. */
export async function peek({ words, magic }: MagicCall, { show }: MagicHost): Promise<void> {
  const [dataset = '', rows = '10'] = words;
  if (!/^[1-9]\d{0,8}$/.test(rows)) throw misuse(magic, `${rows} is not a number of rows`);
  await show(`${quotedName(dataset)} | sort by _time desc | limit ${rows}`, { events: Number(rows) });
}

/** Has the local service make a dataset from a file. */
export async function importFile({ words, options, magic }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io } = host;
  onlyLocal(session, 'import');
  const [file = ''] = words;
  const path = pathOf(session.options, file);
  const choices = importChoices(
    ({ name }) => options.get(name),
    ({ name, wanted }, value) => {
      throw misuse(magic, `${value} cannot be the value of --${name}: give ${wanted}`);
    },
  );
  const request = {
    path,
    dataset: options.get('dataset') ?? datasetNameOf(path),
    ...choices,
    ...present({ replace: options.has('replace') || undefined }),
  };
  if (options.has('replace')) await askToReplace(request.dataset, path, host);
  const client = await session.client(io.signal);
  const id = randomUUID();
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  await withProgress(io, `Importing ${basename(path)} into ${request.dataset}`, async tell => {
    // A failed question about the progress says nothing about the import.
    const ask = () => client.progress(id, io.signal).then(found => tell(partOf(size, found)), ignore);
    const timer = setInterval(ask, progressMs);
    try {
      const report = await client.importFile(request, io.signal, id);
      await noteImport(session, path, report, options.has('replace'));
      return reportOutput(report);
    } finally {
      clearInterval(timer);
    }
  });
  session.schema.clear();
}

/** The rows that an import replaces are lost, unless the session made them or they are those of the same file. */
async function askToReplace(
  dataset: string,
  path: string,
  { session, io, consent }: MagicHost,
): Promise<void> {
  const { consents } = session;
  if (session.replays || consents.has('drop') || consents.hasMade(['dataset', dataset])) return;
  const held = await session.localDataset(dataset, io.signal);
  if (held === undefined || held.rows === 0) return;
  if (await session.options.importLog?.isImportOf(dataset, path, held)) return;
  await consent(
    'drop',
    `replace ${extentOf(held)} of the dataset ${dataset}, which this session did not import`,
  );
}

async function noteImport(
  session: Session,
  path: string,
  { dataset, rowsBefore, rowsNow, ...span }: ImportReport,
  replaced: boolean,
): Promise<void> {
  const isAll = replaced || rowsBefore === 0;
  if (isAll) session.consents.made(['dataset', dataset]);
  if (!session.replays)
    await session.options.importLog?.note(dataset, isAll ? path : undefined, { ...span, rows: rowsNow });
}

function onlyLocal(session: Session, magic: string): void {
  if (session.profileName === localProfile) return;
  throw new MagicError(
    `%${magic} works with the local service only, and the profile is ${session.profileName}`,
    'Change to it with `%use local`, then run the cell again.',
  );
}

/** Deletes a dataset of the local service once the user has typed its name again. */
export async function drop({ words, options }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io } = host;
  onlyLocal(session, 'drop');
  const [name = ''] = words;
  const [info] = await session.measuredDatasets([name], io.signal);
  // The service refuses to delete what it computes.
  if (info?.rows !== undefined || info?.problems !== undefined)
    await askToDrop(info, options.has('yes'), host);
  await (await session.client(io.signal)).deleteDataset(name, io.signal);
  session.schema.clear();
  say(io, `Deleted ${name}${info === undefined ? '' : ` (${extentOf(info)})`}.`);
}

/** Without `--yes` each dataset is asked for by its name, if somebody can be asked. */
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
    `This deletes ${visible(name)}, ${extentOf(info)}. Type its name to go on: `,
    false,
  );
  if (typed.trim() !== name) throw new MagicError(`${name} was not deleted: what was typed is not its name`);
}

function extentOf({ rows, problems }: DatasetInfo): string {
  if (problems !== undefined && rows === undefined) return 'whose files are damaged';
  return rows === undefined ? 'all of its events' : plural(rows, 'event');
}

const progressMs = 1_000;

/** The part of a file that has been read, as far as the service knows. */
function partOf(size: number, progress: QueryProgress): string {
  const { share = 0, rows } = progress.state === 'running' ? progress : { rows: 0 };
  return partRead(share, size, rows);
}

function ignore(): void {}

/**
 * Shows progress with the elapsed time and the text that `work` reports, then replaces it with the output that `work` returns.
 */
export async function withProgress(
  io: CellIo,
  words: string,
  work: (say: (done: string) => void) => Promise<ReturnType<typeof tableOutput>>,
): Promise<void> {
  const what = cutWords(words);
  const displayId = randomUUID();
  const started = performance.now();
  const seconds = () => Math.floor((performance.now() - started) / 1_000);
  let done = '';
  io.display({ ...textOutput(`${what} \u2026`), displayId });
  const timer = setInterval(
    () => io.updateDisplay({ ...textOutput(`${what} \u2026 ${done}${seconds()} s`), displayId }),
    progressMs,
  );
  try {
    const output = await work(text => {
      done = `${text}, `;
    });
    clearInterval(timer);
    io.updateDisplay({ ...output, displayId });
  } catch (error) {
    io.updateDisplay({ ...textOutput(`${what}: failed`), displayId });
    throw error;
  } finally {
    clearInterval(timer);
  }
}

function reportOutput(report: ImportReport): ReturnType<typeof tableOutput> {
  const { dataset, rows, rowsBefore, rowsNow, timeField, notes } = report;
  const time = timeField === '' ? '' : `, time from ${codeWords(timeField)}`;
  const added = rowsBefore > 0 && rowsNow === rowsBefore + rows;
  const lines = [
    `${dataset}: ${plural(rows, 'row')}, ${plural(report.fields.length, 'field')}${time}`,
    ...(added
      ? [
          `It held ${plural(rowsBefore, 'row')} before; the rows were added. \`--replace\` replaces the old rows instead.`,
        ]
      : []),
    `It holds ${extentText({ ...report, rows: rowsNow })}`,
    ...notes,
  ];
  return tableOutput(
    ['field', 'type'],
    report.fields.map(field => [shownName(field.name), field.type]),
    lines.join('\n'),
  );
}

/** Prints the rest of the line, on stderr with `--stderr`. */
export function echo({ raw }: MagicCall, { io }: MagicHost): void {
  const text = raw.replace(/^--stderr(?:[ \t]+|$)/, '');
  io.stream(text === raw ? 'stdout' : 'stderr', `${withoutTokens(text)}\n`);
}

/** Prints one line. */
export function say(io: CellIo, text: string): void {
  io.stream('stdout', `${withoutTokens(visibleLines(text))}\n`);
}
