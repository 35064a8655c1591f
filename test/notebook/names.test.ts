import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realBench } from './real-bench.js';
import { shown, traceback } from './session.js';

/** Members of every plain JavaScript object: a lookup of user-defined names must not find them. */
const names = [
  '__proto__',
  'constructor',
  'toString',
  'toLocaleString',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
] as const;

const bench = realBench({ web: [{ _time: '2026-01-01T00:00:00Z', n: 1 }] });
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-names-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

/** Returns the plain-text cells of a cell's last result, without its first and last lines. */
async function answer(code: string): Promise<readonly string[]> {
  const run = await bench().run(code);
  expect([code, traceback(run)]).toEqual([code, []]);
  const lines = (shown(run).at(-1) ?? '').split('\n').slice(1, -1);
  return lines.filter(line => !/^[─ ]*$/.test(line)).map(line => line.trim().replace(/ {2,}/g, ' '));
}

async function refusal(code: string): Promise<string> {
  return traceback(await bench().run(code))[0] ?? 'no error';
}

describe.each(names)('%s', name => {
  test('is not a magic, setting, option, format, chart, unit, function, operator or type', async () => {
    expect(await refusal(`%${name}`)).toContain(`unknown magic %${name}`);
    expect(await refusal(`%config ${name} 1`)).toContain(`there is no setting ${name}`);
    expect(await refusal(`%limit --${name}`)).toContain(name);
    expect(await refusal(`%import a.csv --format ${name} --dataset x`)).not.toContain('internal');
    expect(await refusal(`%export a.${name}\nprint 1`)).toContain(
      `no format for the extension .${name.toLowerCase()}`,
    );
    expect(await refusal(`%viz ${name}`)).toContain(name);
    expect(await refusal(`// @viz ${name}\nprint 1`)).not.toContain('internal');
    expect(await refusal(`print 1 | render ${name}`)).not.toContain('internal');
    expect(await refusal(`print a = ${name}(1)`)).toContain(name);
    expect(await refusal(`print 1 | ${name}`)).toMatch(/unknown operator|APL has no operator/);
    expect(await refusal(`print 1 | ${name}`)).not.toContain('native code');
    expect(await refusal(`print 1 | summarize ${name}(1)`)).toContain(name);
    expect(await refusal(`datatable(a: ${name})[1]`)).toContain(name);
    expect(await refusal(`web | join kind=${name} (web) on n`)).toContain(name);
    expect(await refusal(`%run star:${name}`)).toContain(`there is no starred query ${name}`);
    expect(await refusal(`%help ${name}`)).toContain(`there is no help on ${name}`);
    expect(await refusal(`%cache ${name} x`)).toContain(name);
    expect(await refusal(`%assert ${name}(count) > 1\nweb | count`)).toContain(name);
    const run = await bench().run(
      `// @unit ${name}\n%%time 2026-01-01\nweb | summarize count() by bin(_time, 1h)`,
    );
    expect(JSON.stringify(run)).not.toMatch(/native code|\[object/);
  });

  test('is a parameter with the given value', async () => {
    expect(await answer(`%param ${name} = 7\nprint a = ${name} + 1`)).toEqual(['a', '8']);
    await bench().run(`%param ${name} = "text" --choices "text", "other"`);
    expect(await answer(`print a = strcat(${name}, "!")`)).toEqual(['a', 'text!']);
    expect(await answer(`let ${name} = 3;\nprint a = ${name} + 1`)).toEqual(['a', '4']);
  });

  test('is a parameter with a default, and is unknown without one', async () => {
    const fresh = `${name}2`;
    expect(await answer(`declare query_parameters(${fresh}: long = 5);\nprint a = ${fresh}`)).toEqual([
      'a',
      '5',
    ]);
    expect(await refusal(`print a = ${name}_3`)).toContain(`${name}_3`);
  });

  test('is a field of a query and of a result', async () => {
    expect(await answer(`datatable(['${name}']: long)[1, 2] | where ['${name}'] > 1`)).toEqual([name, '2']);
    expect(
      await answer(
        `datatable(['${name}']: long)[1, 2] | summarize n = count() by ['${name}'] | sort by ['${name}'] asc`,
      ),
    ).toEqual([`${name} n`, '1 1', '2 1']);
    expect(await answer(`print m = dynamic({"${name}": 4}) | project a = m['${name}']`)).toEqual(['a', '4']);
    expect(await answer(`print m = dynamic({"b": 4}) | project a = isnull(m['${name}'])`)).toEqual([
      'a',
      'true',
    ]);
  });

  test('is a dataset with a field of that name', async () => {
    const file = join(directory, 'rows.ndjson');
    await writeFile(file, `{"_time":"2026-01-01T00:00:00Z","${name}":5,"map":{"${name}":6}}\n`);
    const dataset = `set-${name}`;
    for (const each of [dataset, name]) {
      expect(traceback(await bench().run(`%import ${file} --dataset ${each} --replace`))).toEqual([]);
      const query = `%%time 2026-01-01\n['${each}'] | project a = ['${name}'], b = ['map.${name}']`;
      expect(await answer(query)).toEqual(['a b', '5 6']);
      expect(shown(await bench().run(`%schema ${each}`))[0]).toContain(name);
      expect(traceback(await bench().run(`%drop ${each} --yes`))).toEqual([]);
      expect(await refusal(`['${each}'] | count`)).toContain(`\`${each}\``);
    }
  });

  test('is a result, and a user expression', async () => {
    await bench().run(`${name} << print a = 9`);
    expect(await answer(`_ | project a`)).toEqual(['a', '9']);
    expect(shown(await bench().run('%results'))[0]).toContain(name);
    const { outcome } = await bench().run('print 1', { expressions: { [name]: name } });
    const answers = outcome.status === 'ok' ? outcome.userExpressions : {};
    expect([Object.keys(answers), Object.hasOwn(answers, name)]).toEqual([[name], true]);
    await bench().run(`%results ${name} --drop`);
  });

  test('is a profile only if one has this name', async () => {
    expect(await refusal(`%use ${name}`)).toBe(`profile: there is no profile ${name}`);
    const file = join(bench().homeDir, '.axiom.toml');
    await writeFile(file, `[deployments."${name}"]\nurl = "http://127.0.0.1:9"\ntoken = "t"\n`, {
      mode: 0o600,
    });
    expect(traceback(await bench().run(`%use ${name}\n%use local`))).toEqual([]);
    await rm(file);
    await bench().run('%use local');
  });
});

test('no property was added to every object', () => {
  expect(Object.keys(Object.getPrototypeOf({}))).toEqual([]);
});
