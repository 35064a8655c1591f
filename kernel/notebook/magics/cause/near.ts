/** Annotations and deployments near the range of a case. */
import { writtenName } from '../../../apl/catalog/catalog-written.js';
import { lineField, traceField } from '../../../apl/editor/editor-events.js';
import { quotedName } from '../../../apl/syntax/tokens/quote.js';
import { AplKernelError } from '../../../errors.js';
import { rowTexts } from '../../../result/display/display-text.js';
import { cut, formatCount, plural } from '../../../text.js';
import { formatDuration, formatTime, HOUR, parseTime, SECOND } from '../../../time.js';
import { parseRange } from '../../time-range.js';
import type { MagicHost } from '../magic.js';
import type { Case } from './case.js';
import type { Finding } from './findings.js';

/** Maximum events near a range to name. */
const NAMED = 5;

/** Returns the interval in which events may relate to the range: the range and as long before it, but at least an hour. */
function nearTo({ from, to }: Case): { readonly start: string; readonly end: string } {
  const length = to - from;
  return { start: formatTime(from - (length > HOUR ? length : HOUR)), end: formatTime(to) };
}

/** Returns how long before or after the start of the range a time is, to the second. */
function sinceStart({ from }: Case, time: string): string {
  const at = parseTime(time);
  if (at === undefined) return time;
  const apart = (at < from ? from - at : at - from) / SECOND;
  return `${formatDuration(apart * SECOND)} ${at < from ? 'before' : 'after'} the range start`;
}

/** Names the events near the range, beginning with the latest one before it. */
function namedNear(asked: Case, all: readonly { readonly time: string; readonly words: string }[]): string {
  const isBefore = ({ time }: { readonly time: string }) => (parseTime(time) ?? asked.to) <= asked.from;
  const sorted = [...all.filter(isBefore).toReversed(), ...all.filter(each => !isBefore(each))];
  const named = sorted.slice(0, NAMED).map(({ time, words }) => `${words}, ${sinceStart(asked, time)}`);
  const rest = sorted.length - named.length;
  return [...named, ...(rest > 0 ? [`${formatCount(rest)} more`] : [])].join('; ');
}

/** Names the annotations of the dataset. */
export async function annotationsOf(asked: Case, { session, io }: MagicHost): Promise<Finding> {
  const question = { profile: session.profileName, datasets: [asked.name], ...nearTo(asked) };
  const { annotations, problem, isPart } = await session.annotations.read(question, io.signal);
  const found = annotations
    .toSorted((a, b) => (a.time < b.time ? -1 : 1))
    .map(({ time, title, type }) => ({ time, words: cut(title ?? type, 120) }));
  const nothing =
    problem === undefined ? 'No annotations nearby.' : `Annotations could not be read: ${problem}`;
  const count = `${plural(found.length, 'annotation')}${isPart ? ' or more' : ''}`;
  return {
    title: 'Annotations',
    text: found.length === 0 ? nothing : `${count} nearby: ${namedNear(asked, found)}.`,
    standsOut: found.length > 0,
    cells: [],
  };
}

/** Fields that name what was deployed, and its version. */
const SUBJECTS = ['service', 'service.name', 'app', 'application', 'component'];
const VERSIONS = ['version', 'service.version', 'release', 'tag', 'commit', 'sha', 'revision'];
/** Fields with further details. */
const MORE = ['action', 'region', 'environment', 'env', 'cluster'];
const DEPLOYS = /deploy|release|rollout/i;
/** Maximum events near the range: a dataset with more is probably not a list of deployments. */
const MOST_DEPLOYMENTS = 100;
/** Maximum datasets to examine. */
const MOST_DATASETS = 200;

/** A dataset of deployments, with the fields to show: what was deployed, its version, and details. */
interface Deployments {
  readonly name: string;
  readonly shown: readonly string[];
}

/** Returns the fields to show of a dataset of deployments; undefined for any other dataset. */
export function deploymentFields(name: string, fields: readonly string[]): readonly string[] | undefined {
  const [subject, version] = [SUBJECTS, VERSIONS].map(each => each.find(field => fields.includes(field)));
  const isLog = traceField(fields) !== undefined || lineField(fields) !== undefined;
  if (!fields.includes('_time') || subject === undefined || version === undefined) return undefined;
  return isLog && !DEPLOYS.test(name)
    ? undefined
    : [subject, version, ...MORE.filter(field => fields.includes(field))];
}

/** Names the deployments in the datasets that have any. */
export async function deploymentsOf(asked: Case, host: MagicHost): Promise<Finding> {
  const { datasets, note } = await datasetsOfDeployments(asked, host);
  const near = nearTo(asked);
  const range = parseRange(`${near.start}..${near.end}`);
  const texts: string[] = [];
  const cells: string[] = [];
  const large: string[] = [];
  for (const { name, shown } of datasets) {
    const source = quotedName(name);
    const query = `${source}\n| project ${['_time', ...shown].map(writtenName).join(', ')}\n| sort by _time asc`;
    const { tables } = await host.run(query, { range, rowLimit: MOST_DEPLOYMENTS + 1 });
    const rows = rowTexts(tables[0]);
    if (rows.length > MOST_DEPLOYMENTS) large.push(name);
    if (rows.length === 0 || rows.length > MOST_DEPLOYMENTS) continue;
    const found = rows.map(([time, subject, version, ...more]) => ({
      time: time ?? '',
      words: cut([subject, version, ...more].filter(Boolean).join(' '), 120),
    }));
    texts.push(`${plural(found.length, 'deployment')} nearby in ${name}: ${namedNear(asked, found)}.`);
    cells.push(`%%time ${near.start}..${near.end}\n%assert rows == ${rows.length}\n${query}`);
  }
  const nothing = 'No deployments nearby.';
  return {
    title: 'Deployments',
    text: [...(texts.length === 0 ? [nothing] : texts), ...largeNote(large), ...note].join(' '),
    standsOut: texts.length > 0,
    cells,
  };
}

/** Returns a note that names the datasets with too many events. */
function largeNote(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const rest = names.length - NAMED;
  const all = `${names.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${formatCount(rest)} more` : ''}`;
  return [`Not listed, with more than ${MOST_DEPLOYMENTS} events nearby: ${all}.`];
}

async function datasetsOfDeployments(
  { name: own }: Case,
  { session, io }: MagicHost,
): Promise<{ readonly datasets: readonly Deployments[]; readonly note: readonly string[] }> {
  const { items } = await session.schema.datasets(io.signal);
  const all = items.filter(({ name }) => name !== own).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const named = all.toSorted((a, b) => Number(DEPLOYS.test(b.name)) - Number(DEPLOYS.test(a.name)));
  const read = await Promise.all(
    named.slice(0, MOST_DATASETS).map(async ({ name }) => {
      try {
        const { items: fields } = await session.schema.fields(name, io.signal);
        return {
          name,
          shown: deploymentFields(
            name,
            fields.map(each => each.name),
          ),
        };
      } catch (error) {
        if (!(error instanceof AplKernelError) || io.signal.aborted) throw error;
        return { name, shown: 'unread' as const };
      }
    }),
  );
  const unread = read.filter(({ shown }) => shown === 'unread').length + all.length - read.length;
  return {
    datasets: read.flatMap(({ name, shown }) =>
      shown === undefined || shown === 'unread' ? [] : [{ name, shown }],
    ),
    note: unread === 0 ? [] : [`${plural(unread, 'dataset')} could not be checked for deployments.`],
  };
}
