import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Elsewhere } from '../local/lease/leases.js';
import { aplKernel, root, scratchDirectory, startAplKernel } from './command.js';

describe('serve', () => {
  test('prints its address but not its token, accepts the token, and ends on SIGINT', async () => {
    const home = scratchDirectory();
    const token = 'a-token-for-this-test';
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data'), APL_KERNEL_TOKEN: token };
    const service = startAplKernel(['serve'], env);
    const printed: string[] = [];
    const lines = createInterface({ input: service.stdout ?? process.stdin });
    lines.on('line', line => printed.push(line));
    const [first] = (await once(lines, 'line')) as [string];
    const url = /^The local service answers at (http:\/\/127\.0\.0\.1:\d+)$/.exec(first)?.[1] ?? '';
    const ask = (bearer: string) =>
      fetch(`${url}/v2/user`, { headers: { authorization: `Bearer ${bearer}` } });
    expect((await ask(token)).status).toBe(200);
    expect((await ask('another')).status).toBe(401);
    service.kill('SIGINT');
    expect(await once(service, 'close')).toEqual([0, null]);
    expect(printed.slice(1)).toEqual(['Its token: that of APL_KERNEL_TOKEN', 'Ctrl-C ends it.']);
  });

  test('stops queries at the given time limit', async () => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data'), APL_KERNEL_TOKEN: 'a-token' };
    const service = startAplKernel(['serve', '--query-timeout=0.001'], env);
    const [first] = await once(createInterface({ input: service.stdout ?? process.stdin }), 'line');
    const url = String(first).split(' ').at(-1);
    const answer = await fetch(`${url}/v1/datasets/_apl?format=tabular`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-token', 'content-type': 'application/json' },
      body: JSON.stringify({ apl: 'range x from 1 to 1000000 step 1 | summarize sum(hash(x) % 7)' }),
    });
    expect(await answer.json()).toMatchObject({ code: 504, detail: { errorType: 'query-timeout' } });
    service.kill('SIGINT');
    expect(await once(service, 'exit')).toEqual([0, null]);
  });

  test('reports in one sentence that its process cannot start', async () => {
    const home = scratchDirectory();
    const elsewhere = "process.execPath='/nowhere/node'";
    const { code, stderr } = await aplKernel(['serve'], {
      HOME: home,
      PATH: '',
      NODE_OPTIONS: `--import=data:text/javascript,${elsewhere}`,
    });
    expect([code, stderr]).toEqual([
      1,
      'apl-kernel: the service cannot be started: spawn /nowhere/node ENOENT\n',
    ]);
  });

  test.each([
    ['--query-timeout=86401', '86401 seconds are more than a day'],
    ['--cors=*', '* is not an origin of web pages'],
  ])('rejects %s', async (option, said) => {
    const { code, stderr } = await aplKernel(['serve', option], { HOME: '/', PATH: '' });
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  test.runIf(process.platform === 'linux')(
    'does not pass AXIOM_ variables to the service, and renames NODE_EXTRA_CA_CERTS (reads /proc)',
    async () => {
      const home = scratchDirectory();
      const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data'), KEPT: 'yes' };
      const service = startAplKernel(['serve', '--managed'], {
        ...env,
        AXIOM_TOKEN: 'xaat-1',
        AXIOM_URL: 'https://x',
        NODE_EXTRA_CA_CERTS: '/authorities',
      });
      const file = join(home, 'data', 'service.json');
      await expect.poll(() => existsSync(file)).toBe(true);
      const { pid } = JSON.parse(readFileSync(file, 'utf8'));
      const known = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      expect(known.filter(each => /^(AXIOM|NODE_EXTRA|KEPT|APL_KERNEL_CA)/.test(each)).sort()).toEqual([
        'APL_KERNEL_CA_CERTS=/authorities',
        'KEPT=yes',
      ]);
      service.kill('SIGINT');
      expect(await once(service, 'exit')).toEqual([0, null]);
    },
  );

  test('ends on a signal during startup', async () => {
    for (const wait of [0, 40, 150, 300]) {
      const home = scratchDirectory();
      const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data'), UV_THREADPOOL_SIZE: '8' };
      const service = startAplKernel(['serve', '--managed'], env);
      const file = join(home, 'data', 'service.json');
      if (wait === 0) await expect.poll(() => existsSync(file), { interval: 1 }).toBe(true);
      else await delay(wait);
      service.kill('SIGTERM');
      const [code, signal] = await once(service, 'exit');
      expect([0, 'SIGTERM']).toContain(code ?? signal);
    }
  });

  test('ends when the process that started it is killed, and the next one can use its port', async () => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
    const addressOf = async (service: ChildProcess) =>
      /http:\S+/.exec(
        String(await once(createInterface({ input: service.stdout ?? process.stdin }), 'line')),
      )?.[0];
    const killed = startAplKernel(['serve'], env);
    const url = (await addressOf(killed)) ?? '';
    const answers = () =>
      fetch(url).then(
        ({ status }) => status,
        () => 'no answer',
      );
    expect(await answers()).toBe(401);
    killed.kill('SIGKILL');
    await expect.poll(answers).toBe('no answer');
    const next = startAplKernel(['serve', `--port=${new URL(url).port}`], env);
    expect(await addressOf(next)).toBe(url);
    next.kill('SIGINT');
    expect(await once(next, 'exit')).toEqual([0, null]);
  });

  test.each(['70000', 'x', '-1'])('rejects port %s', async port => {
    const home = scratchDirectory();
    const { code, stderr } = await aplKernel(['serve', `--port=${port}`], { HOME: home, PATH: '' });
    expect([code, stderr]).toEqual([
      2,
      `apl-kernel: ${port} is not a port\n  give a number from 0 to 65535\n`,
    ]);
  });

  test('--stop reports that no service is running', async () => {
    const home = scratchDirectory();
    expect(await aplKernel(['serve', '--stop'], { HOME: home, PATH: '' })).toEqual({
      code: 0,
      stdout: 'no local service is running\n',
      stderr: '',
    });
  });
});

describe('serve --stop', () => {
  /** Starts a shareable service in a new home. */
  async function shared() {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
    const service = startAplKernel(['serve', '--managed'], { ...env, UV_THREADPOOL_SIZE: '16' });
    await expect.poll(() => existsSync(join(home, 'data', 'service.json'))).toBe(true);
    return { env, service, exit: once(service, 'exit') };
  }
  const stop = async (env: Readonly<Record<string, string>>) =>
    (await aplKernel(['serve', '--stop'], env)).stdout;

  test('waits until the service has ended, and says so', async () => {
    const { env, service, exit } = await shared();
    expect(await stop(env)).toBe('the local service has ended\n');
    expect([service.exitCode ?? (await exit)[0], await stop(env)]).toEqual([
      0,
      'no local service is running\n',
    ]);
  });

  test('kills a service that does not respond', async () => {
    const { env, service, exit } = await shared();
    service.kill('SIGSTOP');
    expect((await aplKernel(['doctor'], env)).stdout).toMatch(
      /^warning +service +process \d+ does not respond/m,
    );
    expect(await stop(env)).toBe('the local service has ended\n');
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  test('does not kill an unrelated process whose id is in service.json', async () => {
    const { env, service } = await shared();
    const path = join(env.APL_KERNEL_DATA, 'service.json');
    const file = JSON.parse(readFileSync(path, 'utf8'));
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
    writeFileSync(path, JSON.stringify({ ...file, pid: other.pid }));
    const unreached = /^no local service can be reached from here, but one holds the data directory/;
    expect(await stop(env)).toMatch(unreached);
    writeFileSync(path, JSON.stringify({ ...file, pid: other.pid, started: '', secret: 'another' }));
    expect(await stop(env)).toMatch(/^no local service (is running|can be reached)/);
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    other.kill();
    service.kill();
  });
});

describe('serve in a data directory that already has a service', () => {
  /** Holds a service open, as a kernel does. */
  async function hold(dataDir: string) {
    const { url, token } = JSON.parse(readFileSync(join(dataDir, 'service.json'), 'utf8'));
    const headers = { authorization: `Bearer ${token}` };
    const kernel = request(`${url}/v1/alive`, { headers, agent: false }).end();
    kernel.on('error', () => undefined);
    await once(kernel, 'response');
    return kernel;
  }

  async function started(home: string, ...args: string[]) {
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data'), UV_THREADPOOL_SIZE: '16' };
    const service = startAplKernel(['serve', ...args], env);
    const file = join(home, 'data', 'service.json');
    await expect.poll(() => existsSync(file)).toBe(true);
    const { url, pid } = JSON.parse(readFileSync(file, 'utf8'));
    return { env, service, url, pid };
  }

  test('names the running service and leaves it running', async () => {
    const { env, service, url, pid } = await started(scratchDirectory(), '--managed');
    const { code, stderr } = await aplKernel(['serve'], env);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        `^apl-kernel: the data directory ${env.APL_KERNEL_DATA} is in use by the local service at ${url} of apl-kernel \\S+: process ${pid} of `,
      ),
    ]);
    expect((await fetch(url)).status).toBe(401);
    service.kill();
  });

  test('--stop --unused leaves a service that a kernel uses, and one started by hand', async () => {
    const managed = await started(scratchDirectory(), '--managed');
    const kernel = await hold(managed.env.APL_KERNEL_DATA);
    const stop = async (env: Readonly<Record<string, string>>) =>
      (await aplKernel(['serve', '--stop', '--unused'], env)).stdout;
    const used = 'the local service keeps running: it is in use\n';
    expect(await stop(managed.env)).toBe(used);
    kernel.destroy();
    await expect.poll(() => stop(managed.env)).toBe('the local service has ended\n');
    const own = await started(scratchDirectory());
    expect(await stop(own.env)).toBe(used);
    own.service.kill();
  });

  test('--stop reports a service that it cannot reach', async () => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: home };
    new Elsewhere(home).show();
    expect(await aplKernel(['serve', '--stop'], env)).toEqual({
      code: 1,
      stdout:
        'no local service can be reached from here, but one holds the data directory: `npx apl-kernel doctor` says which\n',
      stderr: '',
    });
  });
});

describe('doctor', () => {
  const findings = (text: string) =>
    Object.fromEntries(
      text
        .split('\n')
        .flatMap(line =>
          /^(ok|warning|ERROR) +(\w+)/.exec(line) ? [line.split(/ +/).slice(0, 2).reverse()] : [],
        ),
    );

  test('warns about missing Jupyter parts on a bare machine, and says what to run', async () => {
    const home = scratchDirectory();
    const { code, stdout } = await aplKernel(['doctor'], { HOME: home, PATH: '' });
    expect(code).toBe(0);
    expect(findings(stdout)).toEqual({
      node: 'ok',
      messaging: 'ok',
      engine: 'ok',
      python: 'warning',
      jupyter: 'warning',
      kernelspec: 'warning',
      extension: 'warning',
      data: 'ok',
      profiles: 'ok',
      service: 'ok',
    });
    expect(stdout).toContain(
      '-> run `npx apl-kernel install`, with the options for the Jupyter that you use',
    );
  });

  test('warns if other users can read the tokens', async () => {
    const home = scratchDirectory();
    const path = join(home, '.axiom.toml');
    writeFileSync(path, '', { mode: 0o644 });
    const { stdout } = await aplKernel(['doctor'], { HOME: home, PATH: '' });
    expect(findings(stdout)).toMatchObject({ profiles: 'warning' });
    expect(stdout).toContain(`other users can read ${path}`);
    chmodSync(path, 0o600);
    const after = await aplKernel(['doctor'], { HOME: home, PATH: '' });
    expect(findings(after.stdout)).toMatchObject({ profiles: 'ok' });
  });

  test('finds no problem after an installation', async () => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '' };
    await aplKernel(['install', '--user'], env);
    const { code, stdout } = await aplKernel(['doctor'], env);
    expect([code, findings(stdout)]).toEqual([
      0,
      expect.objectContaining({ kernelspec: 'ok', extension: 'ok' }),
    ]);
  });

  test.each([
    [
      'a missing program',
      { language: 'axiom-apl', argv: ['/gone/node', 'main.js'] },
      'starts /gone/node, which does not exist',
    ],
    ['another project’s kernel', { language: 'apl' }, 'belongs to another kernel called apl'],
  ])('reports a kernelspec of %s', async (_, spec, message) => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '' };
    await aplKernel(['install', '--user'], env);
    const path = join(home, '.local/share/jupyter/kernels/apl/kernel.json');
    writeFileSync(path, JSON.stringify(spec));
    const { code, stdout } = await aplKernel(['doctor'], env);
    expect(code).toBe(1);
    expect(stdout).toContain(`${path} ${message}`);
  });
});

describe('apl-kernel', () => {
  test('prints its version, and lists its commands', async () => {
    const env = { HOME: scratchDirectory(), PATH: '' };
    const { version } = (await import(join(root, 'package.json'), { with: { type: 'json' } })).default as {
      version: string;
    };
    expect((await aplKernel(['--version'], env)).stdout).toBe(`${version}\n`);
    const { code, stdout } = await aplKernel(['--help'], env);
    expect(code).toBe(0);
    const notebooks = ['run', 'freeze', 'verify', 'export', 'convert', 'strip'];
    const commands = [
      'install',
      'uninstall',
      'lab',
      'lsp',
      'mcp',
      ...notebooks,
      'serve',
      'import',
      'doctor',
      'help',
    ];
    expect([...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)).toEqual(commands);
  });
});

test('an import into a data directory that cannot be created fails with one sentence', async () => {
  const home = scratchDirectory();
  writeFileSync(join(home, 'rows.ndjson'), '{"a":1}\n');
  const data = join(home, 'rows.ndjson', 'data');
  const { code, stderr } = await aplKernel(
    ['import', join(home, 'rows.ndjson'), '--dataset', 'x', '--data', data],
    {
      HOME: home,
      PATH: '',
    },
  );
  expect([code, stderr]).toEqual([
    1,
    `apl-kernel: the local service cannot start: its data directory is not writable\n  Make ${data} writable, or set APL_KERNEL_DATA to a writable directory.\n`,
  ]);
});

test('escapes in field names of an imported file never reach the terminal', async () => {
  const home = scratchDirectory();
  writeFileSync(join(home, 'rows.ndjson'), '{"t\\u001b[31mime":"2026-01-01T00:00:00Z"}\n');
  const args = ['import', join(home, 'rows.ndjson'), '--dataset', 'x', '--data', join(home, 'data')];
  const env = { HOME: home, PATH: '', APL_KERNEL_NOW: '2026-02-03T04:05:06Z' };
  const { stdout } = await aplKernel(args, env);
  expect(stdout).toContain('`t\u27e8U+001B\u27e9[31mime` holds times');
  expect(stdout).not.toContain('\u001b');
  const named = await aplKernel([...args, '--time', 'none\u001b[31m'], env);
  expect([named.code, named.stderr.includes('\u001b')]).toEqual([1, false]);
  expect(named.stderr).toContain('none\u27e8U+001B\u27e9[31m');
});
