import { readdir } from 'node:fs/promises';
import { relative } from 'node:path';
import { formatBytes, plural } from '../../../text.js';
import { formatTime } from '../../../time.js';
import type { RecordingMode } from '../../recording/recording.js';
import type { AnswerStore } from '../../recording/recording-store.js';
import type { Session } from '../../session.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { pathOf } from '../magic-files.js';
import { say } from '../output.js';
import { askToSend } from '../profiles/profiles.js';

/** The magic that records and replays responses of services. */
export const cacheMagics: readonly Magic[] = [
  {
    name: 'cache',
    usage: '%cache [record|replay|auto DIR | off]',
    options: [],
    summary: 'record the answers of the service in a directory, or take them from there',
    help: [
      '- `%cache record DIR` asks the service, and keeps every answer; those of an earlier recording in the directory are deleted',
      '- `%cache replay DIR` takes every answer from the directory and sends nothing; what is not there is an error',
      '- `%cache auto DIR` takes the answers that are there, and asks for and keeps the others; the local service is asked again if a dataset has changed',
      '- `%cache off` stops either; `%cache` alone shows what is in use',
      '',
      'An answer is found by everything that determines it: the query without its comments, its time range, parameters and limits, the results that it reads, and the address of the profile. A recording has one time, when it was begun: `last 1h` and every other range relative to now count from there, so that a notebook gives the same outputs again, with no service at all. Requests that change something, such as `%star`, are answered from a replay too, and change nothing.',
      '',
      'The directory holds no token, and neither queries nor parameters in plain text, but all data that the queries returned. It takes up to 256 MB; an answer beyond that is not kept, and a line above its result says so. An answer that was changed on the disk is refused. `apl-kernel run --cache DIR` replays what a directory holds, and records when it holds nothing.',
    ].join('\n'),
    arity: [0, 2],
    effects: ['profile', 'write', 'overwrite'],
    run: cache,
  },
];

async function cache({ words, magic }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io } = host;
  const [mode, given] = words;
  if (mode === undefined) return say(io, stateText(session));
  if (mode === 'off') {
    if (given !== undefined) throw usageError(magic, 'off takes no directory');
    await askToEndReplay(host);
    await session.record(undefined);
    return say(io, 'Answers are neither recorded nor replayed.');
  }
  if (mode !== 'record' && mode !== 'replay' && mode !== 'auto')
    throw usageError(magic, `${mode} is not record, replay, auto or off`);
  if (given === undefined) throw usageError(magic, `${mode} needs a directory`);
  const { Recording } = await import('../../recording/recording.js');
  const directory = pathOf(session.options, given);
  if (mode !== 'replay') await askToEndReplay(host);
  if (mode === 'record') await askToReplace(directory, host);
  const store = await storeFor(mode, directory, session.options.now());
  if (mode !== 'replay') session.consents.made(['recording', store.directory]);
  await session.record(new Recording(mode, store));
  say(io, stateText(session));
}

/** Requests consent: a replay sends nothing, so any profile could be chosen without it. */
async function askToEndReplay(host: MagicHost): Promise<void> {
  const { session } = host;
  if (session.replays) await askToSend(await session.endpoint(session.profileName), host);
}

/** Requests consent: recording deletes the responses in the directory, and replaces the file that marks it as a recording. */
async function askToReplace(directory: string, { session, consent }: MagicHost): Promise<void> {
  if (session.consents.hasMade(['recording', directory])) return;
  const names = await readdir(directory).catch((): string[] => []);
  if (names.includes('recording.json'))
    await consent('overwrite', `delete the recording in ${directory}, which no cell of this session made`);
}

async function storeFor(mode: RecordingMode, directory: string, now: bigint): Promise<AnswerStore> {
  const { AnswerStore } = await import('../../recording/recording-store.js');
  const begunAt = { nanos: now, text: formatTime(now) };
  if (mode === 'record') return AnswerStore.begin(directory, begunAt);
  const found = await AnswerStore.open(directory);
  if (found !== undefined) return found;
  if (mode === 'auto') return AnswerStore.begin(directory, begunAt);
  throw new MagicError(
    `%cache: ${directory} holds no recording`,
    'Make one with `%cache record DIR`, where the service can be reached.',
  );
}

function stateText({ recording, options }: Pick<Session, 'options' | 'recording'>): string {
  if (recording === undefined)
    return 'Answers are neither recorded nor replayed. `%cache record DIR` records them.';
  const { mode, store } = recording;
  const size = `${plural(store.answers, 'answer')}, ${formatBytes(store.bytes)} of at most ${formatBytes(store.maxBytes)}`;
  const below = relative(options.workDir, store.directory);
  const where = below.startsWith('..') ? store.directory : below || '.';
  return `${DOES[mode]} ${where}, as of ${formatTime(store.begunAt)} (${size})`;
}

const DOES: Readonly<Record<RecordingMode, string>> = {
  record: 'Recording answers in',
  replay: 'Replaying answers from',
  auto: 'Replaying what there is, and recording the rest, in',
};
