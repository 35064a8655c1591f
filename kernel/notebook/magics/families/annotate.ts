import { ForbiddenError, NotFoundError } from '../../../api/api-errors.js';
import { localProfile } from '../../../api/profile.js';
import type { Annotation, AnnotationContent } from '../../../api/wire.js';
import { present } from '../../../present.js';
import { oneLine, plural } from '../../../text.js';
import { formatTime, parseTime, SECOND } from '../../../time.js';
import { readsOf, sourcesOf } from '../../results/reads.js';
import { lastName } from '../../results/result-cache.js';
import type { Session } from '../../session.js';
import { parseInstant, resolveRange, TimeRangeError } from '../../time-range.js';
import { refuseSecrets } from '../effects/consent.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { named, say, tableOutput } from '../output.js';

/** The magic that marks a time on the charts of a dataset. */
export const annotateMagics: readonly Magic[] = [
  {
    name: 'annotate',
    usage:
      '%annotate TITLE [--type TYPE] [--time TIME] [--end TIME] [--dataset DATASET]... [--description TEXT] [--url URL] | %annotate --list | %annotate --delete ID',
    options: [
      {
        name: 'type',
        value: 'TYPE',
        summary: 'the kind of event, such as `deploy` or `incident` (default: `note`)',
      },
      {
        name: 'time',
        value: 'TIME',
        summary: 'when it happened, written like one end of `%time` (default: now)',
      },
      { name: 'end', value: 'TIME', summary: 'when it ended, if it lasted for a while' },
      {
        name: 'dataset',
        value: 'DATASET',
        repeats: true,
        summary:
          'the dataset whose charts show it; may be repeated (default: the datasets of the cell or of the last result)',
      },
      { name: 'description', value: 'TEXT', summary: 'details, shown when you point at it' },
      { name: 'url', value: 'URL', summary: 'a page about it, such as a pull request' },
      {
        name: 'list',
        summary: 'list the annotations in the time range, of all datasets or those given with `--dataset`',
      },
      { name: 'delete', value: 'ID', summary: 'delete the annotation with this id' },
    ],
    summary: 'mark a time, such as a deployment, on every chart over time of a dataset',
    help: [
      'The service stores annotations, so everyone who charts the dataset sees them, including those created by pipelines and monitors. A chart over time shows them as lines, or as bands if they have an end. `// @annotations off` at the top of a cell hides them there, `%config annotations off` everywhere.',
      '',
      'Without `--time`, asks the front end to add the time to the line, so running the cell again does not mark another time. An annotation with the same title, time and datasets is updated, not added again.',
      '',
      '    %annotate Release 1.2 --type deploy --dataset web --url https://example.org/releases/1.2',
      '    %annotate "Database failover" --type incident --time "yesterday 18:05" --end "yesterday 18:32"',
    ].join('\n'),
    arity: [0, Number.POSITIVE_INFINITY],
    effects: ['query', 'write', 'send', 'drop'],
    run: annotate,
  },
];

async function annotate(call: MagicCall, host: MagicHost): Promise<void> {
  const { words, options, magic } = call;
  const id = options.get('delete');
  const others = [...options.keys()].filter(name => !['list', 'delete', 'dataset'].includes(name));
  if (id === undefined && !options.has('list')) return create(call, host);
  if (words.length > 0 || others.length > 0 || (id !== undefined && options.size > 1))
    throw usageError(magic, `--${id === undefined ? 'list' : 'delete'} takes no other arguments`);
  return id === undefined ? list(call, host) : remove(id, host);
}

async function create(call: MagicCall, { session, io, plan, consent }: MagicHost): Promise<void> {
  const title = call.words.join(' ').trim();
  if (title === '') throw usageError(call.magic, 'give a title');
  const content = contentOf(call, session, title, datasetsFor(call, session, plan.queries));
  await refuseSecrets(session, call.magic, content);
  if (session.profileName !== localProfile)
    await consent('send', `store an annotation in ${session.profileName}, visible to the whole organization`);
  const client = await session.client(io.signal);
  const same = call.options.has('time') ? await sameAs(content, session, io.signal) : undefined;
  const saved =
    same === undefined
      ? await client.createAnnotation(content, io.signal)
      : await client.putAnnotation(same.id, content, io.signal);
  session.annotations.forget();
  if (same === undefined) session.consents.made(['annotation', saved.id, session.profileName]);
  if (!call.options.has('time'))
    plan.rewrites.push({
      ...call.line,
      text: `%${call.magic.name} ${call.raw.trim()} --time ${content.time}`,
    });
  const what = `the annotation ${saved.id}, "${oneLine(content.title ?? '', 120)}" (${content.type})`;
  const until = content.endTime === undefined ? '' : ` to ${content.endTime}`;
  const where = content.datasets.map(name => oneLine(name)).join(', ');
  const verb = same === undefined ? 'Added' : 'Updated';
  say(io, named(session, `${verb} ${what}, at ${content.time}${until}, on charts of ${where}.`));
}

/** Returns the annotation described by a line; throws MagicError and TimeRangeError. */
function contentOf(
  { options, magic }: MagicCall,
  session: Pick<Session, 'now'>,
  title: string,
  datasets: readonly string[],
): AnnotationContent {
  const type = options.get('type') ?? 'note';
  if (!/^[a-z0-9-]+$/.test(type))
    throw usageError(magic, `--type may contain lower-case letters, digits and hyphens, not ${type}`);
  const now = session.now();
  // Whole seconds are easy to read and to type again.
  const time = options.has('time') ? timeOf(options.get('time') ?? '', now) : now - (now % SECOND);
  const end = options.has('end') ? timeOf(options.get('end') ?? '', now) : undefined;
  if (end !== undefined && end <= time)
    throw usageError(magic, `--end (${formatTime(end)}) is not after --time (${formatTime(time)})`);
  return {
    datasets,
    time: formatTime(time),
    ...present({
      endTime: end === undefined ? undefined : formatTime(end),
      title,
      description: options.get('description'),
      url: options.get('url'),
    }),
    type,
  };
}

function timeOf(text: string, now: bigint): bigint {
  try {
    return parseInstant(text, now);
  } catch (error) {
    if (!(error instanceof TimeRangeError)) throw error;
    throw new TimeRangeError(
      error.message,
      'Write a time such as `now-10m`, `"yesterday 18:05"` or `2026-01-31T10:00Z`; times are UTC.',
    );
  }
}

/** Returns the named datasets, else those that the cell reads, else those of the last result. */
function datasetsFor(
  { lists }: MagicCall,
  session: Session,
  queries: MagicHost['plan']['queries'],
): readonly string[] {
  const asked = lists.get('dataset');
  if (asked !== undefined) return [...new Set(asked)];
  const read = queries.flatMap(({ parsed }) => sourcesOf(readsOf(parsed, session)));
  if (read.length > 0) return [...new Set(read)];
  const last = session.results.named(lastName)?.result;
  const sources = last?.provenance.profile === session.profileName ? (last.sources ?? []) : [];
  if (sources.length > 0) return sources;
  throw new MagicError(
    'name the dataset whose charts show it',
    'Run a query over it first, or name it: `--dataset NAME`. `%datasets` lists them.',
  );
}

/** Returns the annotation with the same title, time and datasets; undefined if there is none, or if the token may not read any. */
async function sameAs(
  { datasets, time, title = '' }: AnnotationContent,
  session: Pick<Session, 'client'>,
  signal: AbortSignal,
): Promise<Annotation | undefined> {
  const at = parseTime(time) ?? 0n;
  const around = { datasets, start: formatTime(at - SECOND), end: formatTime(at + SECOND) };
  const client = await session.client(signal);
  try {
    const { items } = await client.listAnnotations(around, signal);
    const wanted = [...datasets].sort().join('\n');
    return items.find(
      each =>
        each.title === title &&
        parseTime(each.time) === at &&
        [...each.datasets].sort().join('\n') === wanted,
    );
  } catch (error) {
    if (error instanceof ForbiddenError) return undefined;
    throw error;
  }
}

async function list({ lists }: MagicCall, { session, io, plan }: MagicHost): Promise<void> {
  const { startTime, endTime } = resolveRange(plan.range, session.now());
  const datasets = lists.get('dataset') ?? [];
  const client = await session.client(io.signal);
  const { items, notices } = await client.listAnnotations(
    { datasets, start: startTime, end: endTime },
    io.signal,
  );
  const rows = [...items]
    .sort((a, b) => Number((parseTime(a.time) ?? 0n) - (parseTime(b.time) ?? 0n)))
    .map(each => [
      each.time,
      each.endTime ?? '',
      each.type,
      each.title ?? '',
      each.datasets.join(', '),
      each.description ?? '',
      each.url ?? '',
      each.id,
    ]);
  const of = datasets.length === 0 ? '' : ` of ${datasets.join(', ')}`;
  io.display(
    tableOutput(
      ['time', 'end', 'type', 'title', 'datasets', 'description', 'url', 'id'],
      rows,
      [named(session, `${plural(items.length, 'annotation')}${of}, ${plan.range.label}`), ...notices].join(
        '\n',
      ),
    ),
  );
}

async function remove(id: string, { session, io, consent }: MagicHost): Promise<void> {
  if (!session.consents.hasMade(['annotation', id, session.profileName]))
    await consent('drop', `delete the annotation ${id}, which no cell of this session created`);
  const client = await session.client(io.signal);
  try {
    await client.deleteAnnotation(id, io.signal);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new NotFoundError(`there is no annotation ${id}`, {
      code: error.code,
      hint: '`%annotate --list` lists the ids of those in the time range.',
      cause: error,
    });
  }
  session.annotations.forget();
  say(io, named(session, `Deleted the annotation ${id}.`));
}
