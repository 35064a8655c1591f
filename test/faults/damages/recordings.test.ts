import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { mainProgram, randomOf, rounds, temporaryDirectory } from '../bench.js';
import { damagesAndEdits, giveTo, stranger } from './damages.js';
import { Said } from './said.js';

const queries = ['print a = 1', 'print b = "two"', 'range c from 1 to 3 step 1'];

interface Cell {
  readonly cell_type: string;
  readonly outputs: readonly { readonly output_type: string; readonly traceback?: readonly string[] }[];
}

/** Runs the queries against the recording of a directory; returns the outputs of each, or what was said instead of any. */
async function replay(home: string, uid?: number): Promise<readonly Cell['outputs'][] | string> {
  const [file, executed] = [join(home, 'n.apl'), join(home, 'out.ipynb')];
  writeFileSync(file, queries.join('\n// %%\n'));
  const args = ['run', file, '--cache', join(home, 'rec'), '-o', executed, '--keep-going'];
  const env = { HOME: home, PATH: process.env.PATH, APL_KERNEL_DATA: join(home, 'data') };
  const user = uid === undefined ? {} : { uid, gid: uid };
  const said = await new Promise<string>(resolve => {
    const options = { cwd: home, env, ...user };
    execFile(process.execPath, [mainProgram, ...args], options, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  if (!existsSync(executed)) return said;
  const { cells } = JSON.parse(readFileSync(executed, 'utf8')) as { readonly cells: readonly Cell[] };
  return cells.filter(({ cell_type }) => cell_type === 'code').map(({ outputs }) => outputs);
}

/** An error as it is printed, in one line, with FILE for the path of the damaged one. */
function messageOf(outputs: Cell['outputs'], path: string): string | undefined {
  const [error] = outputs.filter(({ output_type }) => output_type === 'error');
  return error?.traceback
    ?.map(stripVTControlCharacters)
    .join(' ')
    .replaceAll(path, 'FILE')
    .replace(/ hint:.*/s, '');
}

test('a damaged recording gives no wrong answer, and the damaged file is named', async () => {
  const base = await temporaryDirectory();
  expect(typeof (await replay(base))).toBe('object');
  rmSync(join(base, 'out.ipynb'));
  const truth = JSON.stringify(await replay(base));
  const random = randomOf('recordings');
  const said = new Said();
  const names = readdirSync(join(base, 'rec'));
  const kinds = [
    ['answer of a recording', names.filter(name => name.endsWith('.answer'))],
    ['recording.json', names.filter(name => name === 'recording.json')],
  ] as const;
  expect(kinds.map(([, files]) => files.length)).toEqual([queries.length, 1]);
  const cases = Object.keys(damagesAndEdits).flatMap(damage =>
    kinds.map(([place, files]) => ({ place, damage, files })),
  );
  const count = rounds('damaged recordings', cases.length, 200);
  for (let round = 0; round < count; round++) {
    const { place, damage, files } = cases[round % cases.length] as (typeof cases)[number];
    const home = await temporaryDirectory();
    const file = files[Math.floor(random() * files.length)] ?? '';
    const path = join(home, 'rec', file);
    cpSync(join(base, 'rec'), join(home, 'rec'), { recursive: true });
    giveTo(join(home, 'rec'), stranger);
    damagesAndEdits[damage]?.(path, random);
    const found = await replay(home, stranger);
    said.add(place, damage, outcomeOf(found, JSON.parse(truth), path));
  }
  said.expectKnown();
});

function outcomeOf(
  found: Awaited<ReturnType<typeof replay>>,
  truth: readonly Cell['outputs'][],
  path: string,
): string {
  if (typeof found === 'string') {
    expect(found).toContain(path);
    const [first = ''] = found
      .replaceAll(path, 'FILE')
      .split('\n')
      .filter(line => line.includes('FILE'));
    return `the run is refused: ${first}`;
  }
  const wrong = found.filter((outputs, index) => JSON.stringify(outputs) !== JSON.stringify(truth[index]));
  const messages = wrong.map(outputs => messageOf(outputs, path));
  expect(messages.filter(each => !each?.includes('FILE'))).toEqual([]);
  expect(found.length).toBe(truth.length);
  return messages.length === 0 ? 'changes nothing' : `its cell is refused: ${messages.join('; ')}`;
}
