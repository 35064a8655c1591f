import { chmod, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  AccessToken,
  type AxiomEnvironment,
  endpointOf,
  ProfileError,
  profileFileWarning,
  profilesOf,
  readProfileFile,
  resolveProfiles,
  startProfile,
} from '../../kernel/api/profile.js';

test('a token cannot be printed', () => {
  const token = new AccessToken('xapt-secret');
  const shown = [
    `${token}`,
    String(token),
    JSON.stringify({ token }),
    inspect({ token }, { showHidden: true, depth: 9 }),
  ];
  expect(shown).toEqual(['***', '***', '{"token":"***"}', '{ token: *** }']);
  expect([token.reveal(), token.kind, new AccessToken('xaat-1').kind, new AccessToken('ey').kind]).toEqual([
    'xapt-secret',
    'personal',
    'api',
    'access',
  ]);
});

const file = {
  active_deployment: 'prod',
  deployments: {
    prod: { url: 'https://api.axiom.co/', token: 'xaat-1', org_id: 'acme' },
    eu: { url: 'https://api.eu.axiom.co', token: 'xapt-2', org_id: 'acme', edge_url: 'https://edge.example' },
    edge: { token: 'xaat-3', edge_region: 'eu-central-1.aws.edge.axiom.co' },
  },
};

function check(input: typeof file | object, environment: AxiomEnvironment, expected: readonly string[]) {
  const endpoints = resolveProfiles(input as Record<string, unknown>, environment).map(endpointOf);
  const lines = endpoints.map(({ profileName, url, edgeUrl, token, orgId }) =>
    [profileName, url, edgeUrl ?? '-', token?.reveal() ?? '-', orgId ?? '-'].join(' '),
  );
  expect([startProfile(environment), ...lines]).toEqual(expected);
}

const prod = 'prod https://api.axiom.co - xaat-1 acme';
const eu = 'eu https://api.eu.axiom.co https://edge.example xapt-2 acme';
const edge = 'edge https://api.axiom.co https://eu-central-1.aws.edge.axiom.co xaat-3 -';

describe('profiles come from', () => {
  test.each<readonly [string, object, AxiomEnvironment, readonly string[]]>([
    ['nothing: only local', {}, {}, ['local']],
    ['the file, starting on local', file, {}, ['local', prod, eu, edge]],
    [
      'the file as other tools write it',
      { ...file, active_deployment: undefined, active_deployments: 'eu' },
      {},
      ['local', prod, eu, edge],
    ],
    [
      'a file with one profile',
      { deployments: { only: { token: 'x' } } },
      {},
      ['local', 'only https://api.axiom.co - x -'],
    ],
    [
      'the environment, chosen by its own name',
      {},
      { token: 'xaat-9', deployment: 'environment' },
      ['environment', 'environment https://api.axiom.co - xaat-9 -'],
    ],
    ['the file, chosen by the environment', file, { deployment: 'eu' }, ['eu', prod, eu, edge]],
    ['local, chosen by the environment', file, { deployment: 'local' }, ['local', prod, eu, edge]],
    [
      'the environment alone',
      {},
      { token: 'xaat-9' },
      ['local', 'environment https://api.axiom.co - xaat-9 -'],
    ],
    [
      'both: the environment overrides the active profile',
      file,
      { token: 'xaat-9', url: 'http://127.0.0.1:1/' },
      ['local', 'prod http://127.0.0.1:1 - xaat-9 acme', eu, edge],
    ],
    ['empty values: only local', {}, { token: '', url: '', deployment: '' }, ['local']],
    [
      'the environment, with surrounding blanks',
      {},
      { token: ' xaat-9\n', orgId: ' acme ', url: ' https://h/a/ ', edgeRegion: 'edge.example' },
      ['local', 'environment https://h/a https://edge.example xaat-9 acme'],
    ],
    [
      'the environment, with an edge URL before a region',
      file,
      { edgeUrl: 'https://e', edgeRegion: 'r' },
      ['local', 'prod https://api.axiom.co https://e xaat-1 acme', eu, edge],
    ],
  ])('%s', (_, input, environment, expected) => check(input, environment, expected));
});

describe('a profile is refused', () => {
  test.each<readonly [string, object, AxiomEnvironment, string]>([
    [
      'without a scheme',
      { deployments: { a: { url: 'api.axiom.co' } } },
      {},
      'the url of [deployments.a] is not a web address',
    ],
    ['with another scheme', {}, { url: 'file:///etc' }, 'the AXIOM_URL is not a web address'],
    [
      'with a password',
      {},
      { url: 'https://u:hunter2@h' },
      'the AXIOM_URL has a user name or password in it',
    ],
    [
      'with a token of two lines',
      {},
      { token: 'xaat-1\nxaat-2' },
      'the AXIOM_TOKEN contains characters that cannot be sent, such as a space, a line break or an accent',
    ],
    ['with a token that is not ASCII', {}, { token: 'xaat-€' }, 'the AXIOM_TOKEN contains characters'],
    [
      'with an organization of two words',
      {},
      { url: 'https://h', orgId: 'a b' },
      'the AXIOM_ORG_ID contains characters',
    ],
    [
      'with an invalid token in the file',
      { deployments: { a: { token: 'xaat-\u00e9' } } },
      {},
      'the token of [deployments.a] contains characters',
    ],
    [
      'with an invalid organization in the file',
      { deployments: { a: { org_id: 'a\u0000' } } },
      {},
      'the org_id of [deployments.a] contains characters',
    ],
    [
      'with an invalid edge URL in the file',
      { deployments: { a: { edge_url: 'edge' } } },
      {},
      'the edge URL of [deployments.a] is not a web address',
    ],
    ['with a user name', {}, { url: 'https://u@h' }, 'the AXIOM_URL has a user name or password in it'],
    ['with a password alone', {}, { url: 'https://:p@h' }, 'the AXIOM_URL has a user name or password in it'],
    ['with an invalid edge URL', {}, { edgeUrl: 'h' }, 'the edge URL of AXIOM_EDGE_URL is not a web address'],
    [
      'with an invalid edge region',
      {},
      { edgeRegion: 'a b' },
      'the edge region of AXIOM_EDGE_REGION is not a web address',
    ],
    [
      'that does not exist',
      file,
      { deployment: 'staging' },
      'AXIOM_DEPLOYMENT names staging, which ~/.axiom.toml does not have',
    ],
  ])('%s', (_, input, environment, message) => {
    const use = () => resolveProfiles(input as Record<string, unknown>, environment).map(endpointOf);
    expect(use).toThrow(message);
  });
});

test('an error in one section of the file leaves the other profiles usable', () => {
  const deployments = { bad: { url: 'nowhere' }, good: { url: 'https://h' } };
  const [bad, good] = resolveProfiles({ deployments, active_deployment: 'bad' }, {});
  expect([bad?.profileName, good]).toEqual(['bad', { profileName: 'good', url: 'https://h' }]);
  const [named] = resolveProfiles({ deployments, active_deployment: 'bad' }, { token: 'xaat-1' });
  for (const profile of [bad, named])
    expect(() => profile && endpointOf(profile)).toThrow('the url of [deployments.bad] is not a web address');
});

describe('the file', () => {
  async function load(text: string | undefined) {
    const home = await mkdtemp(join(tmpdir(), 'apl-profile-'));
    try {
      if (text !== undefined) await writeFile(join(home, '.axiom.toml'), text);
      return (await profilesOf(await readProfileFile(home), {})).map(endpointOf);
    } finally {
      await rm(home, { recursive: true });
    }
  }

  test('may be absent', async () => {
    expect(await load(undefined)).toEqual([]);
  });

  test('causes a warning if other users can read it', async () => {
    const home = await mkdtemp(join(tmpdir(), 'apl-profile-'));
    const path = join(home, '.axiom.toml');
    const warnings = [await profileFileWarning(home)];
    await writeFile(path, '');
    for (const mode of [0o600, 0o400, 0o644, 0o640, 0o602]) {
      await chmod(path, mode);
      warnings.push(await profileFileWarning(home));
    }
    await rm(home, { recursive: true });
    const warning =
      'Other users of this machine can read the tokens in ~/.axiom.toml: `chmod 600 ~/.axiom.toml` prevents it.';
    expect(warnings).toEqual([undefined, undefined, undefined, warning, warning, warning]);
  });

  test('is reported if it cannot be read', async () => {
    const error = await readProfileFile('/dev/null/\u0000').catch(reason => reason);
    expect([error.name, error.message]).toEqual(['ProfileError', '~/.axiom.toml cannot be read']);
  });

  test('is reported if it is a broken link or too large', async () => {
    const home = await mkdtemp(join(tmpdir(), 'apl-profile-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const path = join(home, '.axiom.toml');
    await symlink(join(home, 'unmounted', 'axiom.toml'), path);
    const said = () => readProfileFile(home).catch(({ message, hint }) => [message, hint]);
    expect(await said()).toEqual([
      '~/.axiom.toml cannot be read: it is a broken link',
      'Make what it leads to, or remove the link.',
    ]);
    await rm(path);
    await writeFile(path, '');
    await truncate(path, 2 ** 40);
    expect((await said())?.[0]).toBe('~/.axiom.toml cannot be read: it is too large to be read at once');
  });

  test('is parsed as TOML', async () => {
    const endpoints = await load(
      'active_deployment = "p"\n[deployments.p]\nurl = "https://h"\ntoken = "xaat-1"\n',
    );
    expect([endpoints[0]?.profileName, endpoints[0]?.url, endpoints[0]?.token?.reveal()]).toEqual([
      'p',
      'https://h',
      'xaat-1',
    ]);
  });

  test('can name clusters, with secrets only over https or on this machine', async () => {
    const lake = (more: string) =>
      load(`[deployments.lake]\nengine = "trino"\ncatalog = "hive"\nschema = "logs"\n${more}`).then(
        ([endpoint]) => endpoint,
        (error: Error) => error.message,
      );
    expect(await lake('url = "https://h/"\nuser = "ann"\npassword = "s3cret"\ntime_column = "ts"')).toEqual({
      profileName: 'lake',
      url: 'https://h',
      token: expect.any(AccessToken),
      engine: {
        name: 'trino',
        user: 'ann',
        usesPassword: true,
        catalog: 'hive',
        schema: 'logs',
        timeColumn: 'ts',
        approximate: false,
      },
    });
    const refused = [
      await lake('url = "http://h"\nuser = "ann"\ntoken = "s3cret"'),
      await lake('url = "https://h"'),
      await lake('url = "https://h"\nuser = "ann"\napproximate = "yes"'),
    ];
    expect(refused).toEqual([
      'the url of [deployments.lake] would send its secret unencrypted over the network',
      'the [deployments.lake] has no user',
      'approximate of [deployments.lake] must be true or false',
    ]);
    expect(await lake('url = "http://127.0.0.1:8080"\nuser = "ann"\ntoken = "t"')).toHaveProperty(
      'engine.usesPassword',
      false,
    );
    await expect(load('[deployments.x]\nengine = "presto"')).rejects.toThrow(
      'the engine of [deployments.x] is unknown',
    );
  });

  test('with a syntax error is reported by its line number, without quoting the line', async () => {
    const error = await load('[deployments.p]\ntoken = xaat-secret\n').catch(reason => reason);
    expect([error instanceof ProfileError, error.message, inspect(error).includes('secret')]).toEqual([
      true,
      '~/.axiom.toml is not valid TOML at line 2',
      false,
    ]);
  });
});
