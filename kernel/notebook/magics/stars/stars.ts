import { NotFoundError } from '../../../api/api-errors.js';
import { localProfile } from '../../../api/profile.js';
import type { RequestOptions, StarredQuery } from '../../../api/wire.js';
import type { QueryText } from '../../../apl/syntax/parse.js';
import { withoutRender } from '../../../apl/syntax/readers/charting.js';
import { splitWords } from '../../../apl/syntax/syntax-magic.js';
import { present } from '../../../present.js';
import { oneLine, plural } from '../../../text.js';
import { readsOf } from '../../results/reads.js';
import type { Session } from '../../session.js';
import { storedText } from '../../time-range.js';
import { refuseSecrets } from '../effects/consent.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { named, say, tableOutput } from '../output.js';
import {
  consoleLink,
  createStar,
  findStar,
  listStars,
  readable,
  resolveStar,
  starRange,
  updateStar,
} from './star-starred.js';

/** The magics about starred queries, in help order. */
export const starMagics: readonly Magic[] = [
  {
    name: 'star',
    usage: '%star ID|"NAME" [--name NAME] [--no-run] | %star --new [NAME] [--no-run]',
    options: [
      { name: 'name', value: 'NAME', summary: 'the name of the starred query (default: unchanged)' },
      {
        name: 'new',
        summary: 'create a starred query and print its id, or update the one of yours that has the name',
      },
      { name: 'no-run', summary: 'save the query without running it' },
    ],
    summary: "save the cell's query as a starred query after it runs without an error",
    help: [
      'A starred query stores the query, its parameters and the time range of its cell or notebook, but not its result. On the hosted service, the whole organization can see it; the local service has its own starred queries.',
      'A relative time range stays relative; freeze it with `%time --freeze` to keep the window.',
      'A quoted name that no query has yet creates one, so the notebook does the same wherever it runs. After `--new`, the line in the cell is replaced with one that has the name, if the front end lets the kernel edit the cell.',
      '',
      '    %star "Errors by service"',
      "    ['sample-http-logs'] | where status >= 500 | summarize count() by uri",
    ].join('\n'),
    arity: [0, 1],
    effects: ['query', 'write', 'overwrite', 'send'],
    argument: 'star',
    run: star,
  },
  {
    name: 'stars',
    usage: '%stars [TEXT] [--who all|team|me] [--dataset DATASET]',
    options: [
      { name: 'who', value: 'all|team|me', summary: 'whose starred queries to list (default: your own)' },
      { name: 'dataset', value: 'DATASET', summary: 'only those that read this dataset' },
    ],
    summary: 'list starred queries, or those with TEXT in their name, query or dataset',
    help: '`%star`, `%unstar`, `%run` and `%load` take the id in the first column, or a unique name.',
    arity: [0, 1],
    effects: ['query'],
    run: stars,
  },
  {
    name: 'run',
    usage: '%run ID|NAME',
    options: [],
    summary: 'run a starred query with its own time range',
    help: 'Uses the range and the parameters that it was saved with. The name may be prefixed with `star:`.\n\n    %run "Errors by service"',
    arity: [1, 1],
    effects: ['query'],
    argument: 'star reference',
    run: runStar,
  },
  {
    name: 'load',
    usage: '%load ID|NAME',
    options: [],
    summary: 'insert a starred query, with its time range, into a new cell below',
    help: 'Prints the query if the front end does not let the kernel add a cell.',
    arity: [1, 1],
    effects: ['query'],
    argument: 'star reference',
    run: load,
  },
  {
    name: 'unstar',
    usage: '%unstar ID|NAME',
    options: [],
    summary: 'delete a starred query',
    help: 'On the hosted service, this deletes it for everyone in the organization.',
    arity: [1, 1],
    effects: ['drop'],
    argument: 'star',
    run: unstar,
  },
];

/** Saves the query of the cell once it has run. */
async function star(call: MagicCall, host: MagicHost): Promise<void> {
  const { words, options, magic } = call;
  const [word] = words;
  const create = options.has('new');
  if (!create && word === undefined)
    throw usageError(magic, 'give the id or the name of a starred query, or --new');
  if (create && word !== undefined && options.has('name')) throw usageError(magic, 'the name is given twice');
  const { plan } = host;
  if (plan.queries.length !== 1)
    throw usageError(magic, `the cell must contain one query, but it has ${plan.queries.length || 'none'}`);
  refuseResults(host);
  await askToKeep(host);
  if (options.has('no-run')) plan.run = false;
  plan.afterRun.push(([cached]) => save(call, host, cached?.result.datasetNames));
}

/** Requests consent before storing a query that others can see. */
async function askToKeep({ session: { profileName }, consent }: MagicHost): Promise<void> {
  if (profileName !== localProfile)
    await consent('send', `store a query in ${profileName}, visible to the whole organization`);
}

/** Throws MagicError for a query that reads a result: results end with the kernel, so nobody else could run it. */
function refuseResults({ plan, session }: MagicHost): void {
  const [name] = plan.queries.flatMap(({ parsed }) => [...readsOf(parsed, session).results.keys()]);
  if (name === undefined) return;
  throw new MagicError(
    `%star: the query reads the result \`${name}\`, which only this kernel has`,
    'Star the query that produced it, or use that query in place of the name: a starred query can only read datasets.',
  );
}

async function save(
  { words, options, line, magic, raw }: MagicCall,
  host: MagicHost,
  datasets: readonly string[] | undefined,
): Promise<void> {
  const { plan, session, io } = host;
  const [word] = words;
  const [query] = plan.queries;
  if (query === undefined) return;
  // A line below may have changed the profile.
  await askToKeep(host);
  const create = options.has('new');
  const name = options.get('name') ?? (create ? word : undefined);
  const { parsed, variables } = session.parameters.bind(query);
  const order = {
    query: parsed,
    variables,
    range: plan.range,
    rowLimit: plan.rowLimit,
    request: plan.request,
    name,
    ...present({ datasets }),
  };
  await refuseSecrets(session, magic, [parsed.text, name, variables]);
  const id = create ? name && (await findStar(session, name, io.signal)) : word;
  let replaced: string | undefined;
  const update = (reference: string) =>
    updateStar(session, reference, order, io.signal, async before => {
      await askToChange(reference, before, parsed, host);
      replaced = before && rangeText(before);
    });
  const saved = !id
    ? await createStar(session, order, io.signal)
    : await update(id).catch((error: unknown) => {
        if (!(error instanceof NotFoundError) || !isQuoted(raw)) throw error;
        return createStar(session, { ...order, name: name ?? id }, io.signal);
      });
  if (saved.id !== undefined) session.consents.made(['starred query', saved.id, session.profileName]);
  const again = `%star ${JSON.stringify(oneLine(saved.name))}`;
  if (create) plan.rewrites.push({ ...line, text: again });
  const from = create ? `; \`${again}\` updates it from now on` : '';
  const range = rangeText(saved);
  const instead = replaced === undefined || replaced === range ? '' : `, in place of ${replaced}`;
  const where = `${range}${instead}; ${audience(session)}${from}`;
  // The first run and later ones over the same range print the same, so that running a notebook again does not change it.
  say(
    io,
    `${create || isQuoted(raw) ? 'Saved' : 'Updated'} the starred query ${saved.id ?? '(the service returned no id)'}, "${oneLine(saved.name, 120)}": ${where}`,
  );
  const link = await consoleLink(session, saved);
  if (link !== undefined) say(io, link);
}

/** Returns whether the line quotes the name of its query: a bare word may be an id from elsewhere, and must not become a name. */
function isQuoted(raw: string): boolean {
  const [first] = splitWords(raw);
  return first?.quoted === true;
}

/** Requests consent unless the query stays the same, which loses nothing; one that cannot be read may differ. */
async function askToChange(
  reference: string,
  before: StarredQuery | undefined,
  query: QueryText,
  { session, consent }: MagicHost,
): Promise<void> {
  const id = before?.id ?? reference;
  const isSame = before?.query.apl === withoutRender(query).query.text;
  if (isSame || session.replays || session.consents.hasMade(['starred query', id, session.profileName]))
    return;
  const name = before === undefined ? reference : oneLine(before.name, 120);
  await consent('overwrite', `replace the starred query "${name}", which no cell of this session saved`);
}

function rangeText({ query: { startTime = '?', endTime = '?' } }: StarredQuery): string {
  return storedText({ startTime, endTime }).replace('..', ' to ');
}

function audience({ profileName }: Pick<Session, 'profileName'>): string {
  return profileName === localProfile
    ? 'stored in the local service'
    : `stored in ${profileName}, visible to the whole organization`;
}

/** Lists starred queries. */
async function stars({ words, options, magic }: MagicCall, { session, io }: MagicHost): Promise<void> {
  const who = options.get('who') ?? 'me';
  const dataset = options.get('dataset');
  if (!['all', 'team', 'me'].includes(who)) throw usageError(magic, `--who is all, team or me, not ${who}`);
  const filter = present({ who: who === 'me' ? undefined : who, dataset });
  const wanted = (words[0] ?? '').toLowerCase();
  const { items, notices } = await listStars(session, filter, io.signal);
  const found = items.filter(each =>
    [each.name, each.query.apl, each.dataset ?? ''].some(text => text.toLowerCase().includes(wanted)),
  );
  const rows = found.map(each => [
    each.id ?? '',
    each.name,
    each.dataset ?? '',
    rangeText(each),
    oneLine(each.query.apl, 120),
  ]);
  const about = wanted === '' ? '' : ` with "${words[0]}"`;
  const hint = who === 'me' ? " of your own; `%stars --who all` lists everyone's" : '';
  io.display(
    tableOutput(
      ['id', 'name', 'dataset', 'time range', 'query'],
      rows,
      [`${plural(found.length, 'starred query', 'starred queries')}${about}${hint}`, ...notices].join('\n'),
    ),
  );
}

/** Runs a starred query with its own range, parameters, limit and options. */
async function runStar({ words }: MagicCall, { session, io, show }: MagicHost): Promise<void> {
  const found = await resolveStar(session, referenceOf(words[0]), io.signal);
  const { apl, variables, defaultLimit } = found.query;
  const range = starRange(found) ?? session.range;
  const request = optionsOf(found);
  await show(apl, {
    range,
    variables: variables ?? {},
    ...present({ rowLimit: defaultLimit || undefined, request }),
  });
}

/** Returns the options of a starred query, if any; absent ones may be empty. */
function optionsOf({ query }: StarredQuery): RequestOptions | undefined {
  const { defaultOrder, libraries, queryOptions } = query;
  const given = Object.entries({ defaultOrder, libraries, queryOptions }).filter(
    ([, value]) => Object.keys(value ?? {}).length > 0,
  );
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** Asks the front end to put a starred query into a new cell. */
async function load({ words }: MagicCall, { session, io }: MagicHost): Promise<void> {
  const found = await resolveStar(session, referenceOf(words[0]), io.signal);
  const { startTime, endTime, apl } = found.query;
  const range = startTime && endTime ? [`%%time ${storedText({ startTime, endTime })}`] : [];
  const text = [...range, apl].join('\n');
  io.nextInput(text, false);
  say(io, `The starred query "${oneLine(found.name, 120)}":\n\n${text}`);
}

/** Returns the id or name in a word, which may begin with `star:`. */
function referenceOf(word = ''): string {
  return word.replace(/^star:(?=.)/s, '');
}

/** Deletes a starred query. */
async function unstar({ words }: MagicCall, { session, io, consent }: MagicHost): Promise<void> {
  const [reference = ''] = words;
  const found = await readable(resolveStar(session, reference, io.signal));
  const id = found?.id ?? reference;
  if (!session.consents.hasMade(['starred query', id, session.profileName]))
    await consent(
      'drop',
      `delete the starred query ${found?.name || id}, which no cell of this session saved`,
    );
  await (await session.client(io.signal)).deleteStarred(id, io.signal);
  session.starsVersion += 1;
  const name = found === undefined || found.name === '' ? '' : `, "${oneLine(found.name, 120)}"`;
  say(io, named(session, `Deleted the starred query ${id}${name}.`));
}
