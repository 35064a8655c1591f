import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { aplKernel, scratchDirectory, treeOf } from './command.js';

const used: Record<string, string>[] = [];

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
});

function fresh(): Record<string, string> {
  const home = scratchDirectory();
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
  used.push(env);
  return env;
}

test('a token in the cells of a run appears only in the source of the notebook', async () => {
  const env = fresh();
  const { HOME: home = '' } = env;
  const secret = '3f9a-77c1-secret';
  const cells = [
    `// xaat-${secret}\nprint a = 1`,
    `%echo xapt-${secret}`,
    `%param key = "xaat-${secret}"\n%params\nprint a = (key == "x")`,
    `%cache record rec\nprint a = strlen("xaat-${secret}")`,
    `print a = "Bearer ${secret}" == "x"\n| where nonsense == "xaat-${secret}"`,
    `%import "xaat-${secret}.csv"`,
  ];
  writeFileSync(join(home, 'in.apl'), cells.map(cell => `// %%\n${cell}\n`).join(''));
  await aplKernel(['run', 'in.apl', '--keep-going'], env);
  await aplKernel(['serve', '--stop'], env);
  const { 'in.apl': _, 'out/in.ipynb': notebook = '', ...others } = treeOf(home);
  const expected = ['out/in.html', 'data/queries.jsonl', 'data/service.log'];
  expect(Object.keys(others)).toEqual(expect.arrayContaining(expected));
  expect(Object.keys(others).filter(name => others[name]?.includes(secret))).toEqual([]);
  const outputs = JSON.stringify(
    JSON.parse(notebook).cells.map((cell: { outputs?: unknown }) => cell.outputs),
  );
  expect([outputs.includes('***'), outputs.includes(secret)]).toEqual([true, false]);
});

/** Returns the arguments of every process on the machine, as any user can read them. */
function argumentsOfAll(): readonly string[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => {
      try {
        return [readFileSync(join('/proc', name, 'cmdline'), 'latin1')];
      } catch {
        return [];
      }
    });
}

test.skipIf(process.platform !== 'linux')(
  "a profile's token is sent, and appears in no process arguments, output or stored file",
  async () => {
    const env = fresh();
    const { HOME: home = '' } = env;
    const secret = 'xaat-5d0e-planted-secret';
    const seen: (string | undefined)[] = [];
    const processes: string[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      processes.push(...argumentsOfAll());
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: 400, message: `cannot read ${headers.authorization}` }));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(home, '.axiom.toml'), `[deployments.prod]\nurl = "${url}"\ntoken = "${secret}"\n`, {
      mode: 0o600,
    });
    const cells = [
      'print a = 1',
      '%use prod\n%use',
      'web | count',
      '%whoami',
      '%use local',
      'print b = 2',
      '%bugreport',
    ];
    writeFileSync(join(home, 'in.apl'), cells.map(cell => `// %%\n${cell}\n`).join(''));
    const { stdout, stderr } = await aplKernel(['run', 'in.apl', '--keep-going', '--allow', 'profile'], env);
    processes.push(...argumentsOfAll());
    await aplKernel(['serve', '--stop'], env);
    const { '.axiom.toml': _, ...kept } = treeOf(home);
    expect(new Set(seen)).toEqual(new Set([`Bearer ${secret}`]));
    expect(processes.some(each => each.includes('main.js'))).toBe(true);
    const token = 'planted-secret';
    expect(processes.filter(each => each.includes(token))).toEqual([]);
    expect([stdout.includes(token), stderr.includes(token)]).toEqual([false, false]);
    expect(Object.keys(kept).filter(name => kept[name]?.includes(token))).toEqual([]);
    expect(kept['out/in.ipynb']).toContain('cannot read');
  },
);

test.skipIf(process.platform === 'win32')(
  "stored files are private to the user, except for the engine's Parquet files and the lease",
  async () => {
    const env = fresh();
    const { HOME: home = '', APL_KERNEL_DATA: data = '' } = env;
    writeFileSync(join(home, 'rows.csv'), 'n\n1\n');
    writeFileSync(
      join(home, 'in.apl'),
      '%import rows.csv --dataset d\n// %%\n%star --new s\nd | count\n// %%\n%annotate x --dataset d --time 2026-01-01T00:00Z\n',
    );
    expect((await aplKernel(['run', 'in.apl'], env)).code).toBe(0);
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    const entries = readdirSync(data, { recursive: true, withFileTypes: true });
    const modes = entries.map(({ parentPath, name }) => [name, modeOf(join(parentPath, name))] as const);
    expect(modeOf(data)).toBe('700');
    // The engine makes its Parquet files world-readable, in a private directory. The lease is readable so that everyone can see its holder.
    const isForAll = (name: string) => name.endsWith('.parquet') || /^lease-\d+\.json$/.test(name);
    const open = modes.filter(([name, mode]) => !['700', '600'].includes(mode) && !isForAll(name));
    expect(open).toEqual([]);
  },
);
