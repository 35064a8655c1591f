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
    summary: 'record the responses of the service in a directory, or replay them',
    help: [
      '- `%cache record DIR` queries the service and records every response; an earlier recording in the directory is deleted',
      '- `%cache replay DIR` takes every response from the directory and sends nothing; a missing response is an error',
      '- `%cache auto DIR` replays recorded responses, and requests and records the others; the local service is queried again if a dataset has changed',
      '- `%cache off` stops recording and replaying; `%cache` alone shows what is in effect',
      '',
      'A response is identified by everything that determines it: the query without its comments, its time range, parameters and limits, the results that it reads, and the address of the profile. The current time of a recording is the time at which it was started: `last 1h` and all other relative ranges count from there, so a notebook produces the same outputs again without any service. Requests that change something, such as `%star`, are replayed too, and change nothing.',
      '',
      'The directory contains all data that the queries returned, but no token, and neither queries nor parameters in plain text. It can grow to 256 MB; a response beyond that is not recorded, and a notice above its result says so. A response that was modified on disk is rejected. `apl-kernel run --cache DIR` replays the recording in a directory, or records if there is none.',
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
    return say(io, 'Responses are neither recorded nor replayed.');
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
    await consent('overwrite', `delete the recording in ${directory}, which no cell of this session created`);
}

async function storeFor(mode: RecordingMode, directory: string, now: bigint): Promise<AnswerStore> {
  const { AnswerStore } = await import('../../recording/recording-store.js');
  const begunAt = { nanos: now, text: formatTime(now) };
  if (mode === 'record') return AnswerStore.begin(directory, begunAt);
  const found = await AnswerStore.open(directory);
  if (found !== undefined) return found;
  if (mode === 'auto') return AnswerStore.begin(directory, begunAt);
  throw new MagicError(
    `%cache: ${directory} has no recording`,
    'Record one with `%cache record DIR` when the service is reachable.',
  );
}

function stateText({ recording, options }: Pick<Session, 'options' | 'recording'>): string {
  if (recording === undefined)
    return 'Responses are neither recorded nor replayed. `%cache record DIR` records them.';
  const { mode, store } = recording;
  const size = `${plural(store.answers, 'response')}, ${formatBytes(store.bytes)} of at most ${formatBytes(store.maxBytes)}`;
  const below = relative(options.workDir, store.directory);
  const where = below.startsWith('..') ? store.directory : below || '.';
  return `${DOES[mode]} ${where}, as of ${formatTime(store.begunAt)} (${size})`;
}

const DOES: Readonly<Record<RecordingMode, string>> = {
  record: 'Recording responses in',
  replay: 'Replaying responses from',
  auto: 'Replaying recorded responses, and recording the rest, in',
};
