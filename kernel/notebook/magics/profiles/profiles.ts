import { consoleLink } from '../../../api/console.js';
import { AccessToken, type Endpoint, localProfile, ProfileError } from '../../../api/profile.js';
import type { CellIo } from '../../../jupyter/message.js';
import type { Provenance, QueryResult } from '../../../result/result.js';
import { escapeHtml, visible } from '../../../text.js';
import { lastName } from '../../results/result-cache.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say, tableOutput } from '../output.js';

/** The magics about where queries run and as whom, in help order. */
export const profileMagics: readonly Magic[] = [
  {
    name: 'use',
    usage: '%use [PROFILE] [--token]',
    options: [{ name: 'token', summary: 'prompt for a token instead of using the configured one' }],
    summary:
      'list the profiles, or switch to one; `local` is the embedded service; `%%on PROFILE` switches for one cell',
    help: [
      'Profiles come from the `[deployments.NAME]` sections of `~/.axiom.toml` and the AXIOM_* environment variables. Each `%use` reads the file again.',
      '',
      'A session starts on `local`, or on the profile that AXIOM_DEPLOYMENT names. Every result names its profile, unless it is `local`. Before a cell switches to another profile for the first time, it asks whether queries may be sent there.',
      '',
      '`%%on PROFILE` runs only its own cell there; the cells below keep their profile. Results keep the profile that they came from, and a query that reads results of several profiles runs on this machine.',
      '',
      'If a profile has no token, the kernel prompts for one. It is not shown as you type, and is kept only in the memory of the kernel.',
    ].join('\n'),
    arity: [0, 1],
    effects: ['profile'],
    argument: 'profile',
    run: use,
  },
  {
    name: 'whoami',
    usage: '%whoami',
    options: [],
    summary: 'show the profile, its address and the user of its token',
    help: 'Shows only the kind and the last four characters of the token, by which you can find it in the console.',
    arity: [0, 0],
    effects: ['query'],
    run: whoami,
  },
  {
    name: 'link',
    usage: '%link [RESULT] [--absolute]',
    options: [
      { name: 'absolute', summary: 'use the times that were queried instead of a range such as last 1h' },
    ],
    summary: 'show a link that opens the query in the Axiom console',
    help: [
      'In a cell with queries, appears below their results; otherwise, links to the last result or the named one. A range such as `last 1h` stays relative, so the link shows the last hour at the time it is opened; `--absolute` keeps the times of this result.',
      '',
      'The link contains the text of the query and its range, but no data and no token. The profile needs its `org_id` in `~/.axiom.toml`, because the console has a page for each organization. The link does not contain values of parameters: the console does not prompt for any.',
    ].join('\n'),
    arity: [0, 1],
    effects: [],
    argument: 'result',
    run: link,
  },
];

/** Lists the profiles or changes to one; prompts for a token if the profile has none and input is allowed. */
async function use(call: MagicCall, host: MagicHost): Promise<void> {
  const [name] = call.words;
  const { session, io } = host;
  const warning = await session.takeProfileWarning();
  if (warning !== undefined) io.stream('stderr', `${warning}\n`);
  if (name === undefined) {
    if (call.options.has('token')) throw usageError(call.magic, '--token needs the name of a profile');
    if (call.cell) throw usageError(call.magic, 'give the name of a profile');
    return listProfiles(host);
  }
  const endpoint = await session.readEndpoint(name);
  if (!session.replays) await askToSend(endpoint, host);
  if (endpoint?.engine !== undefined && call.options.has('token')) throw secretOfFile(name);
  const asks =
    call.options.has('token') ||
    (endpoint?.token === undefined && endpoint?.engine === undefined && io.allowStdin);
  if (endpoint !== undefined && asks) session.keepToken(name, await askToken(endpoint, io));
  if (call.cell) return session.useForCell(name);
  await session.use(name);
  say(io, `Using ${name} (${endpoint === undefined ? 'the local service' : hostsOf(endpoint)})`);
}

/** Returns the error for a typed secret: the local service queries the cluster, and reads the file itself. */
function secretOfFile(name: string): MagicError {
  return new MagicError(
    `%use: the token or password of ${name} can be set only in ~/.axiom.toml`,
    'Write it there, then run the cell again.',
  );
}

/** Requests consent before queries go to a service, unless it is local or the one that the session started on. */
export async function askToSend(
  endpoint: Endpoint | undefined,
  { session, io, consent }: MagicHost,
): Promise<void> {
  // A choice in the front end counts as consent.
  if (!io.storeHistory) session.consents.give('profile');
  if (endpoint === undefined || endpoint.profileName === session.startedOn) return;
  const secret = endpoint.engine === undefined || endpoint.token !== undefined ? ', with your token' : '';
  await consent('profile', `send queries to ${endpoint.profileName} (${hostsOf(endpoint)})${secret}`);
}

/** Returns the addresses that a profile sends requests to. */
function hostsOf({ url, edgeUrl, engine }: Endpoint): string {
  if (engine !== undefined) return `${url}, ${engine.catalog}.${engine.schema} of a Trino cluster`;
  return edgeUrl === undefined ? url : `${url}, queries to ${edgeUrl}`;
}

/** Describes a token by its kind and its ending. */
function tokenText(token: AccessToken | undefined): string {
  if (token === undefined) return 'none';
  const ending = token.ending === undefined ? '' : `, ends in ${token.ending}`;
  const kind = token.kind === 'login' ? 'access token of a sign-in' : `${token.kind} token`;
  return `${kind}${ending}`;
}

async function askToken({ profileName, url }: Endpoint, io: CellIo): Promise<AccessToken> {
  const typed = (await io.input(`Token for ${visible(profileName)} (${url}): `, true)).trim();
  if (/^[\x21-\x7e]+$/.test(typed)) return new AccessToken(typed);
  throw new MagicError(
    typed === '' ? 'no token was given' : 'the input has characters that a token cannot have',
    'The profile is unchanged. Tokens start with xaat- or xapt-.',
  );
}

async function listProfiles({ session, io }: MagicHost): Promise<void> {
  const active = session.profileName;
  const rows = (await session.profileNames()).map(async each => {
    const endpoint = await session.endpoint(each).catch(refusalOf);
    if (endpoint instanceof ProfileError) return [each, `cannot be used: ${endpoint.message}`, ''];
    const address =
      endpoint === undefined
        ? ['the local service', 'its own']
        : [hostsOf(endpoint), tokenText(endpoint.token)];
    return [each === active ? `${each} (in use)` : each, ...address];
  });
  io.display(tableOutput(['profile', 'address', 'token'], await Promise.all(rows), 'Profiles'));
}

function refusalOf(error: unknown): ProfileError {
  if (error instanceof ProfileError) return error;
  throw error;
}

/** Shows the profile, its address and the user. */
async function whoami(_: MagicCall, { session, io }: MagicHost): Promise<void> {
  const client = await session.client(io.signal);
  const { endpoint } = client;
  const configured = endpoint.engine && (await session.endpoint(endpoint.profileName));
  const facts: string[][] = [
    ['profile', endpoint.profileName],
    ['address', configured === undefined ? endpoint.url : hostsOf(configured)],
  ];
  if (endpoint.edgeUrl !== undefined) facts.push(['query address', endpoint.edgeUrl]);
  const isOwn = endpoint.profileName === localProfile;
  facts.push(['token', isOwn ? "the local service's own" : tokenText((configured ?? endpoint).token)]);
  if (endpoint.orgId !== undefined) facts.push(['organization', endpoint.orgId]);
  const user = await client.currentUser(io.signal).catch(error => {
    if (error.code !== 'forbidden') throw error;
    return undefined;
  });
  if (user === undefined) facts.push(['user', 'this token may not read its user']);
  else facts.push(['user', [user.name, user.email, user.id].filter(Boolean).join(', ')]);
  io.display(tableOutput(['', ''], facts, 'Profile and user'));
}

/** Shows the link now, or once the queries of the cell have run. */
async function link({ words: [name], options, magic }: MagicCall, host: MagicHost): Promise<void> {
  const { session, plan } = host;
  const isAbsolute = options.has('absolute');
  const show = async (result: QueryResult) => showLink(result.provenance, isAbsolute, host);
  if (name === undefined && plan.queries.length > 0) {
    plan.afterRun.push(async results => {
      for (const { result } of results) await show(result);
    });
    return;
  }
  const cached = session.results.named(name ?? lastName);
  if (cached === undefined)
    throw usageError(magic, name === undefined ? 'no query has run yet' : `there is no result ${name}`);
  await show(cached.result);
}

async function showLink(
  provenance: Provenance,
  isAbsolute: boolean,
  { session, io }: MagicHost,
): Promise<void> {
  const { profile, isLocal, variables = {} } = provenance;
  if (isLocal)
    throw new MagicError(
      '%link: the result comes from the local service, which has no console',
      'Run the query on a profile of Axiom: `%%on PROFILE`.',
    );
  const endpoint = (await session.endpoint(profile)) as Endpoint;
  if (endpoint.engine !== undefined)
    throw new MagicError(
      '%link: the result comes from a cluster, which has no console for APL',
      'Run the query on a profile of Axiom: `%%on PROFILE`.',
    );
  const url = consoleLink(endpoint, provenance, isAbsolute);
  const names = Object.keys(variables);
  const left = names.length === 0 ? [] : [`The values of ${names.join(', ')} are not in the link.`];
  io.display({
    data: {
      'text/plain': [url, ...left].join('\n'),
      'text/html': `<p><a href="${escapeHtml(url)}" target="_blank" rel="noopener noreferrer">Open in the Axiom console</a> ${left.map(escapeHtml).join('')}</p>`,
    },
    metadata: {},
  });
}
