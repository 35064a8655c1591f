import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AplKernelError } from '../errors.js';
import { textOf } from '../files.js';
import { systemRefusal } from '../machine.js';
import { formatCount } from '../text.js';
import type { Session } from './session.js';
import { checkLimits, defaultRange, parseRange } from './time-range.js';

/** A setting that cannot be read, applied or written. */
export class SettingError extends AplKernelError {
  constructor(message: string, hint: string, cause?: unknown) {
    super('setting', message, { hint, cause });
  }
}

/** A choice that a user or a project makes for every notebook: its name in the file, and its effect on a session. */
export interface Setting {
  readonly name: string;
  readonly summary: string;
  /** The default value, as text. */
  readonly standard: string;
  /** Applies the value; throws if it is invalid. */
  readonly apply: (session: Session, value: string) => void;
}

/** Every setting. None chooses a profile: a file in a directory does not send queries anywhere. */
export const settings: readonly Setting[] = [
  {
    name: 'time',
    summary: 'the time range until `%time` sets another',
    standard: defaultRange.label,
    apply: (session, value) => {
      const range = parseRange(value);
      checkLimits(range, session.now());
      session.range = range;
    },
  },
  {
    name: 'limit',
    summary: 'the row limit of queries without their own',
    standard: '1000',
    apply: (session, value) => {
      session.rowLimit = wholeNumber('limit', value);
    },
  },
  {
    name: 'timeout',
    summary: 'the timeout of a query in seconds, at most one day',
    standard: '120',
    apply: (session, value) => {
      session.timeLimitMs = wholeNumber('timeout', value, 86_400) * 1000;
    },
  },
  {
    name: 'rows',
    summary: 'rows of a result written to the notebook',
    standard: 'all up to 100, otherwise 30',
    apply: (session, value) => {
      session.shownRows = wholeNumber('rows', value);
    },
  },
  {
    name: 'retain',
    summary: 'whether outputs include the data of results: on or off',
    standard: 'on',
    apply: (session, value) => {
      session.retains = isOn('retain', value);
    },
  },
  {
    name: 'annotations',
    summary: 'whether charts over time show the annotations of the service: on or off',
    standard: 'on',
    apply: (session, value) => {
      session.annotates = isOn('annotations', value);
    },
  },
];

function isOn(name: string, value: string): boolean {
  if (value !== 'on' && value !== 'off') throw wrong(name, value, 'Set it to "on" or "off".');
  return value === 'on';
}

function wholeNumber(name: string, value: string, most = 999_999_999): number {
  if (/^[1-9]\d{0,8}$/.test(value) && Number(value) <= most) return Number(value);
  throw wrong(name, value, `Set it to a whole number from 1 to ${formatCount(most)}.`);
}

function wrong(name: string, value: string, hint: string): SettingError {
  return new SettingError(`the setting ${name} cannot be ${value}`, hint);
}

/** The file of a setting; the project's takes precedence. */
export type SettingPlace = 'user' | 'project';

const FILE_NAME = '.apl-kernel.toml';

/** Returns the path of a settings file, in the home directory or next to the notebook. */
export function settingsFile(
  { homeDir, workDir }: Pick<Session['options'], 'homeDir' | 'workDir'>,
  place: SettingPlace,
): string {
  return join(place === 'user' ? homeDir : workDir, FILE_NAME);
}

/** Returns the values in the files by name, with the project's taking precedence; throws SettingError if a file cannot be read. */
export async function readSettings(
  options: Pick<Session['options'], 'homeDir' | 'workDir'>,
): Promise<ReadonlyMap<string, { readonly value: string; readonly place: SettingPlace }>> {
  const found = new Map<string, { readonly value: string; readonly place: SettingPlace }>();
  for (const place of ['user', 'project'] as const)
    for (const [name, value] of await readFileOf(settingsFile(options, place)))
      found.set(name, { value, place });
  return found;
}

/** Applies the settings files to a new session; returns sentences about settings that could not be applied. */
export async function applySettings(session: Session): Promise<readonly string[]> {
  try {
    return [...(await readSettings(session.options))].flatMap(([name, { value }]) => {
      try {
        settings.find(each => each.name === name)?.apply(session, value);
        return [];
      } catch (error) {
        return [`${FILE_NAME}: ${(error as Error).message}`];
      }
    });
  } catch (error) {
    if (error instanceof SettingError) return [`${error.message}. ${error.hint ?? ''}`];
    throw error;
  }
}

/** Writes a setting into a file, or removes it if `value` is undefined; leaves other lines unchanged. Throws SettingError. */
export async function writeSetting(file: string, name: string, value: string | undefined): Promise<void> {
  await readFileOf(file);
  const lines = (await textIn(file))
    .split('\n')
    .filter((line, index, all) => index < all.length - 1 || line !== '');
  const line = value === undefined ? [] : [`${name} = ${JSON.stringify(value)}`];
  const at = lines.findIndex(each => new RegExp(`^\\s*${name}\\s*=`).test(each));
  const written = at < 0 ? [...line, ...lines] : lines.toSpliced(at, 1, ...line);
  const text = written.map(each => `${each}\n`).join('');
  const found = (await entriesOf(text).catch(() => ({ [name]: null })))[name];
  if (found !== value)
    throw new SettingError(
      `${name} is written in ${file} in a form that only an editor can change`,
      'Write it on one line, without quotes around the name.',
    );
  const beside = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await writeFile(beside, text);
    await rename(beside, file);
  } catch (cause) {
    await rm(beside).catch(() => undefined);
    const { reason = '', hint = 'Check the permissions of its directory.' } = systemRefusal(cause) ?? {};
    throw new SettingError(`${file} cannot be written${reason && `: ${reason}`}`, hint, cause);
  }
}

async function textIn(file: string): Promise<string> {
  return textOf(file).catch(cause => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return '';
    const { reason = '', hint = 'Check its permissions.' } = systemRefusal(cause) ?? {};
    throw new SettingError(`${file} cannot be read${reason && `: ${reason}`}`, hint, cause);
  });
}

async function entriesOf(text: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import('smol-toml');
  return parse(text);
}

async function readFileOf(file: string): Promise<readonly (readonly [name: string, value: string])[]> {
  const text = await textIn(file);
  let entries: Readonly<Record<string, unknown>>;
  try {
    entries = await entriesOf(text);
  } catch (cause) {
    const { line } = cause as { readonly line?: unknown };
    const place = typeof line === 'number' ? ` at line ${line}` : '';
    throw new SettingError(
      `${file} is not valid TOML${place}`,
      'Correct the file, then restart the kernel.',
      cause,
    );
  }
  return Object.entries(entries).map(([name, value]) => {
    const isPlain = ['string', 'number', 'bigint'].includes(typeof value);
    if (isPlain && settings.some(each => each.name === name)) return [name, String(value)];
    throw new SettingError(
      `${file}: ${name} is not a setting, or its value is not a string or a number`,
      `The settings are ${settings.map(each => each.name).join(', ')}; each is a string or a number.`,
    );
  });
}
