import { arch, platform, release } from 'node:os';
import { localProfile } from '../api/profile.js';
import { aplParser } from '../apl/editor/colors/highlight.js';
import type { Session } from './session.js';
import { readSettings } from './settings.js';

/** Maximum queries in the report. */
const SHOWN_QUERIES = 5;

/** Returns the facts for a problem report, without names, addresses, queries and data; `queries` adds the shapes of the last queries. */
export async function describeProblem(
  session: Pick<Session, 'lastFailure' | 'options' | 'profileName' | 'recording' | 'results'>,
  queries: boolean,
): Promise<string> {
  const { lastFailure, options, profileName } = session;
  const set = await readSettings(options).catch(() => undefined);
  const values = [...(set ?? [])].map(([name, { value, place }]) => `${name} = ${value} (${place})`);
  const logged = queries ? ((await options.queryLog?.entries()) ?? []).slice(-SHOWN_QUERIES) : [];
  return [
    `apl-kernel ${options.version}, Node.js ${process.versions.node}`,
    `${platform()} ${release()} ${arch()}`,
    `profile: ${profileName === localProfile ? 'the local service' : 'a hosted service'}`,
    `settings: ${set === undefined ? 'a file that cannot be read' : values.join(', ') || 'none'}`,
    `results cached: ${session.results.all().length}, recording: ${session.recording?.mode ?? 'off'}`,
    `last error: ${lastFailure === undefined ? 'none' : `${lastFailure.code}: ${withoutQuotes(lastFailure.message)}`}`,
    ...logged.map(({ apl, error }) => `query${error === undefined ? '' : ` (${error})`}: ${shapeOf(apl)}`),
  ].join('\n');
}

/** Removes names and values of the user, which messages put in quotes or backticks, and paths and addresses, which contain a slash. */
function withoutQuotes(text: string): string {
  const quoted = /`[^`]*`|"[^"]*"|'[^']*'/g;
  return text
    .replace(quoted, '\u2026')
    .split(/\s+/)
    .map(word => (/[/\\@]|\d{3}|[_.]\w|:\d/.test(word) ? '\u2026' : word))
    .join(' ')
    .slice(0, LONGEST_MESSAGE);
}

const LONGEST_MESSAGE = 300;

/** Kinds of tokens that are part of the language, retained in the shape. */
const ALLOWED: ReadonlySet<string> = new Set(
  '( ) [ ] { } Pipe Comma Semicolon Colon Dot Operator Stage Keyword WordOperator SortOrder Function Aggregate Type OptionName Bool Null'.split(
    ' ',
  ),
);
const STANDING_FOR: Readonly<Record<string, string>> = {
  Number: '0',
  Timespan: '0s',
  Datetime: 'datetime',
  String: "''",
  Dataset: 'dataset',
  Comment: '',
};

/** Returns the query with a placeholder for each name and value. */
function shapeOf(apl: string): string {
  const words: string[] = [];
  aplParser()
    .parse(apl)
    .iterate({
      enter: ({ name, from, to, node }) => {
        if (node.firstChild !== null) return;
        words.push(ALLOWED.has(name) ? apl.slice(from, to) : (STANDING_FOR[name] ?? 'name'));
      },
    });
  return words
    .filter(word => word !== '')
    .join(' ')
    .slice(0, LONGEST_SHAPE);
}

const LONGEST_SHAPE = 500;
