import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aplKernel, startAplKernel } from '../commands/command.js';
import { Client, freeConnection } from '../jupyter/client.js';
import { temporaryDirectory } from './bench.js';

/** Only rows contain it: queries assemble it from pieces. */
const MARK = 'secret-of-a-row';

/** Returns the files below a directory that contain the mark. */
function filesWithMark(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(file => existsSync(file) && readFileSync(file).includes(MARK));
}

test('a killed kernel leaves nothing on disk of the results that it sent', async () => {
  const home = await temporaryDirectory();
  const scratch = join(home, 'scratch');
  mkdirSync(scratch);
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data'), TMPDIR: scratch };
  const connection = await freeConnection();
  writeFileSync(join(home, 'connection.json'), JSON.stringify(connection));
  const kernel = startAplKernel(['kernel', '--connection-file', join(home, 'connection.json')], env);
  const exited = once(kernel, 'exit');
  const client = new Client(connection);
  onTestFinished(async () => {
    client.close();
    kernel.kill('SIGKILL');
    await aplKernel(['serve', '--stop'], env);
  });
  await client.subscribe();
  const run = async (code: string) => {
    const { reply, outputs } = await client.execute(code);
    expect(reply.content).toMatchObject({ status: 'ok' });
    return JSON.stringify(outputs.map(({ content }) => content));
  };
  await run('%limit 200000');
  expect(
    await run("kept << range n from 1 to 200000 step 1 | extend s = strcat('secret-', 'of-', 'a-row', n)"),
  ).toContain(MARK);
  expect(await run('kept | summarize n = dcount(s), last = max(n)')).toContain('200000');
  expect(filesWithMark(home)).toEqual([]);
  kernel.kill('SIGKILL');
  await exited;
  expect(filesWithMark(home)).toEqual([]);
  await aplKernel(['serve', '--stop'], env);
  expect(filesWithMark(home)).toEqual([]);
});
