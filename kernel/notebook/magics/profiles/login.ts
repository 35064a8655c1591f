import type { LoginError } from '../../../api/login/error.js';
import type { PendingLogin } from '../../../api/login/logins.js';
import type { Endpoint } from '../../../api/profile.js';
import type { DisplayData } from '../../../jupyter/message.js';
import { escapeHtml } from '../../../text.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError } from '../magic-arguments.js';
import { say } from '../output.js';

/** The magics that acquire and revoke a token in the browser, in help order. */
export const loginMagics: readonly Magic[] = [
  {
    name: 'login',
    usage: '%login [PROFILE] [--paste]',
    options: [
      { name: 'paste', summary: 'for a browser on another machine: paste the address of its last page' },
    ],
    summary: 'sign in to a profile in the browser instead of using a token from the console',
    help: [
      'Without a name, signs in to the current profile. The cell shows a link to the sign-in page and waits up to five minutes, or until you interrupt it. On a machine with a screen, the page opens automatically. From then on, queries of this profile use the token of the sign-in, in all your kernels, until `%logout`.',
      '',
      'Uses OAuth 2.0 with PKCE, which redirects the browser to an address of this machine. A browser on another machine, as with a remote JupyterLab, cannot open it and ends at a page that does not load; `--paste` prompts for the address of that page.',
      '',
      'The token is stored in `logins.json` in the data directory, which only you can read, and is renewed before it expires. It is sent only to the addresses that the profile had at the sign-in.',
      '',
      'If the service does not publish how to sign in, set `oauth_issuer`, `oauth_client_id` and `oauth_scope` for the profile in `~/.axiom.toml`.',
    ].join('\n'),
    arity: [0, 1],
    effects: ['login'],
    argument: 'profile',
    run: login,
  },
  {
    name: 'logout',
    usage: '%logout [PROFILE]',
    options: [],
    summary: 'sign out of a profile: revoke and delete its token',
    help: 'Without a name, signs out of the current profile. This signs out your other kernels too. A token in `~/.axiom.toml` is kept.',
    arity: [0, 1],
    effects: ['logout'],
    argument: 'profile',
    run: logout,
  },
];

/** Shows the link to sign in, and waits until that is done. */
async function login({ words, options, magic }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io } = host;
  const endpoint = await endpointFor(magic, words[0], host);
  const { profileName } = endpoint;
  if (!io.allowStdin && io.storeHistory)
    throw new MagicError(
      `%login: this session cannot prompt to sign in to ${profileName}`,
      `Sign in once in a notebook or a console: \`%login ${profileName}\`. Unattended runs then use that token.`,
    );
  const pending = await session.options.logins.begin(endpoint, io.signal);
  try {
    if (options.has('paste')) await pasteAddress(endpoint, pending, host);
    else {
      io.passing(linkTo(endpoint, pending.page, 'This cell waits for it.'));
      await pending.browser(io.signal);
    }
  } finally {
    pending.close();
  }
  session.changeLogin(profileName);
  session.consents.made(['sign-in', profileName]);
  const next = profileName === session.profileName ? '' : ` \`%use ${profileName}\` sends queries there.`;
  say(io, `Signed in to ${profileName} (${endpoint.url}).${next}`);
}

async function pasteAddress(endpoint: Endpoint, pending: PendingLogin, { io }: MagicHost): Promise<void> {
  // Nothing listens at the redirect address, but the browser shows it.
  pending.close();
  io.passing(linkTo(endpoint, pending.page, 'The browser then ends at a page that does not load.'));
  const address = await io.input(
    'Paste the address of that page, which begins with http://127.0.0.1: ',
    true,
  );
  await pending.pasted(address, io.signal);
}

/** Returns a temporary output with the link, which is not saved in the notebook. */
function linkTo({ profileName, url }: Endpoint, page: URL, then: string): DisplayData {
  const what = `Sign in to ${profileName} (${url})`;
  return {
    data: {
      'text/plain': `${what}: ${page.href}\n${then}`,
      'text/html': `<p><a href="${escapeHtml(page.href)}" target="_blank" rel="noopener noreferrer">${escapeHtml(what)}</a> at ${escapeHtml(page.host)}. ${escapeHtml(then)}</p>`,
    },
    metadata: {},
  };
}

/** Deletes and revokes the token of a sign-in. */
async function logout({ words, magic }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io, consent } = host;
  const endpoint = await endpointFor(magic, words[0], host);
  const { profileName } = endpoint;
  if (endpoint.token?.kind !== 'login')
    throw new MagicError(
      `%logout: there is no sign-in to ${profileName}`,
      'To remove a token from ~/.axiom.toml, delete it there.',
    );
  if (!session.consents.hasMade(['sign-in', profileName]))
    await consent('logout', `end the sign-in to ${profileName}, for all your kernels`);
  const ended = await session.options.logins.end(endpoint, io.signal);
  session.changeLogin(profileName);
  say(
    io,
    `Signed out of ${profileName}: ${ended === undefined ? 'another kernel already did' : endText(ended)}.`,
  );
}

function endText(ended: 'revoked' | 'no revocation' | LoginError): string {
  if (ended === 'revoked') return 'the token is revoked and deleted';
  const why =
    ended === 'no revocation'
      ? 'the service does not revoke tokens'
      : `it was not revoked because ${ended.message}`;
  return `the token is deleted here; ${why}, so it is valid until it expires`;
}

async function endpointFor(
  { name: magic }: Magic,
  name: string | undefined,
  { session }: MagicHost,
): Promise<Endpoint> {
  const profile = name ?? session.profileName;
  const endpoint = await session.readEndpoint(profile);
  if (endpoint === undefined)
    throw new MagicError(
      `%${magic}: the local service needs no sign-in`,
      `Name a profile: \`%${magic} PROFILE\`. \`%use\` lists them.`,
    );
  if (endpoint.engine !== undefined)
    throw new MagicError(
      `%${magic}: ${profile} is a cluster, which has its password or token in ~/.axiom.toml`,
      'Set `password` or `token` of the deployment there.',
    );
  if (session.replays)
    throw new MagicError(`%${magic}: a replay does not connect to a service`, 'Stop it with `%cache off`.');
  return endpoint;
}
