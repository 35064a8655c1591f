import type { Endpoint } from '../../../api/profile.js';
import type { Provenance, QueryResult } from '../../../result/result.js';
import { escapeHtml } from '../../../text.js';
import { lastName } from '../../results/kept.js';
import { MagicError, misuse } from '../arguments.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';

/** The magic that leads from a result to the console. */
export const linkMagics: readonly Magic[] = [
  {
    name: 'link',
    aliases: [],
    usage: '%link [RESULT] [--absolute]',
    options: [
      { name: 'absolute', summary: 'the times that were queried, in place of a range such as last 1h' },
    ],
    summary: 'show a link that opens the query in the console of Axiom',
    help: [
      'In a cell with queries it stands below their results; else it is for the last result, or the one that is named. A range such as `last 1h` stays relative, so that the link shows the last hour of whoever opens it; `--absolute` keeps the times that this result has.',
      '',
      'The link has the text of the query and its range, no data and no token. The profile needs its `org_id` in `~/.axiom.toml`, as the console has a page for each organization. Values of parameters are not in a link: the console asks for none.',
    ].join('\n'),
    arity: [0, 1],
    effects: [],
    argument: 'result',
    run: link,
  },
];

/** Shows the link now, or once the queries of the cell have run. */
async function link({ words: [name], options, magic }: MagicCall, host: MagicHost): Promise<void> {
  const { session, plan } = host;
  const isAbsolute = options.has('absolute');
  const show = async (result: QueryResult) => showLink(result.provenance, isAbsolute, host);
  if (name === undefined && plan.queries.length > 0) {
    plan.afterRun.push(async results => {
      for (const result of results) await show(result);
    });
    return;
  }
  const kept = session.results.named(name ?? lastName);
  if (kept === undefined)
    throw misuse(magic, name === undefined ? 'no query has run yet' : `there is no result ${name}`);
  await show(kept.result);
}

async function showLink(
  provenance: Provenance,
  isAbsolute: boolean,
  { session, io }: MagicHost,
): Promise<void> {
  const { profile, isLocal, variables = {} } = provenance;
  if (isLocal)
    throw new MagicError(
      '%link: the result comes from the service on this machine, which has no console',
      'Run the query on a profile of Axiom: `%%on PROFILE`.',
    );
  const url = consoleLink((await session.endpoint(profile)) as Endpoint, provenance, isAbsolute);
  const names = Object.keys(variables);
  const left = names.length === 0 ? [] : [`The values of ${names.join(', ')} are not in the link.`];
  io.display({
    data: {
      'text/plain': [url, ...left].join('\n'),
      'text/html': `<p><a href="${escapeHtml(url)}" target="_blank" rel="noopener noreferrer">Open in the console of Axiom</a> ${left.map(escapeHtml).join('')}</p>`,
    },
    metadata: {},
  });
}

/** Returns the address of a query in the console that belongs to an endpoint; throws MagicError where none is known. */
export function consoleLink(
  { profileName, url, orgId }: Pick<Endpoint, 'profileName' | 'url' | 'orgId'>,
  {
    query,
    rangeLabel,
    startTime,
    endTime,
  }: Pick<Provenance, 'query' | 'rangeLabel' | 'startTime' | 'endTime'>,
  isAbsolute: boolean,
): string {
  const { protocol, host } = new URL(url);
  if (!host.startsWith('api.'))
    throw new MagicError(
      `%link: the console of ${host} is not known`,
      'It is known for addresses that begin with api., such as https://api.axiom.co.',
    );
  if (orgId === undefined)
    throw new MagicError(
      `%link: the profile ${profileName} does not name its organization`,
      `Add \`org_id = "…"\` to [deployments.${profileName}] in ~/.axiom.toml, and write \`%use ${profileName}\`.`,
    );
  const [, quickRange] = /^last (\d+[smhdw])$/.exec(rangeLabel) ?? [];
  const range = isAbsolute || quickRange === undefined ? { startTime, endTime } : { quickRange };
  const form = encodeURIComponent(JSON.stringify({ apl: query, queryOptions: range }));
  return `${protocol}//app.${host.slice('api.'.length)}/${encodeURIComponent(orgId)}/query?initForm=${form}`;
}
