import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Service } from '../../../kernel/local/http/http-options.js';
import { realService } from '../real-bench.js';
import { type Bench, type CellRun, printed, shown, startBench, traceback } from '../session.js';

const dataDir = mkdtempSync(join(tmpdir(), 'apl-kernel-test-'));
let service: Service;
let bench: Bench;

beforeAll(async () => {
  service = await realService(dataDir);
  const { url, token } = service;
  const connect = async () => ({ url, token, restarted: false });
  bench = await startBench({ local: () => ({ connect, close: () => undefined }) });
});

afterAll(async () => {
  await bench.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

const fileOf = (directory: string, id: string) => join(dataDir, directory, `${id}.json`);

/** A complete document of each kind, and a truncated one. */
beforeEach(() => {
  for (const directory of ['starred', 'annotations']) {
    rmSync(join(dataDir, directory), { recursive: true, force: true });
    mkdirSync(join(dataDir, directory));
    writeFileSync(fileOf(directory, 'cut'), '{"na');
  }
  write('starred', 'whole', { name: 'Errors', who: '', query: { apl: 'print a = 1' } });
  write('annotations', 'whole', {
    datasets: ['sample-http-logs'],
    time: '2026-03-04T05:00:00Z',
    title: 'Release',
    type: 'deploy',
  });
});

function write(directory: string, id: string, document: object): void {
  writeFileSync(fileOf(directory, id), JSON.stringify(document));
}

function notice(kind: string, directory: string, deletedBy: string): string {
  return `The ${kind} cut cannot be read: it is not JSON (${fileOf(directory, 'cut')}). It is left out. Repair the file, or delete it with ${deletedBy} cut.`;
}

/** Returns the lines above a list. */
function caption(run: CellRun): readonly string[] {
  return shown(run)[0]?.split('\n\n')[0]?.split('\n') ?? [];
}

test('%stars names an unreadable query beside the readable ones, and %unstar deletes it', async () => {
  const own = "1 starred query of your own; %stars --who all lists everyone's";
  expect(caption(await bench.run('%stars'))).toEqual([own, notice('starred query', 'starred', '%unstar')]);
  expect(printed(await bench.run('%unstar cut'))).toContain('Deleted the starred query cut.');
  expect(readdirSync(join(dataDir, 'starred'))).toEqual(['whole.json']);
  expect(caption(await bench.run('%stars'))).toEqual([own]);
});

test('running an unknown name mentions the unreadable starred query', async () => {
  const lines = traceback(await bench.run('%run star:Slow'));
  expect(lines.join('\n')).toContain('there is no starred query Slow');
  expect(lines.join('\n')).toContain('The starred query cut cannot be read: it is not JSON');
});

test('%star with the id of an unreadable query overwrites it', async () => {
  expect(printed(await bench.run('%star cut --name Whole\nprint a = 1'))).toContain(
    'Updated the starred query cut, "Whole"',
  );
  expect(caption(await bench.run('%stars'))[0]).toContain('2 starred queries');
});

test('%annotate --list names an unreadable annotation beside the readable ones, and --delete deletes it', async () => {
  const list = '%%time 2026-03-04T04:00Z..2026-03-04T06:00Z\n%annotate --list';
  const own = '1 annotation, 2026-03-04T04:00Z .. 2026-03-04T06:00Z';
  expect(caption(await bench.run(list))).toEqual([
    own,
    notice('annotation', 'annotations', '%annotate --delete'),
  ]);
  expect(printed(await bench.run('%annotate --delete cut'))).toContain('Deleted the annotation cut.');
  expect(caption(await bench.run(list))).toEqual([own]);
});

test('a chart draws the readable annotations and mentions the damaged one', async () => {
  const chart =
    "%%time 2026-03-04T04:00Z..2026-03-04T06:00Z\n['sample-http-logs'] | summarize count() by bin(_time, 10m)";
  const said = 'some annotations are damaged: %annotate --list names them';
  const alt = async () =>
    (await bench.run(chart)).outputs.flatMap(output =>
      'data' in output && 'image/svg+xml' in output.data ? [String(output.data['image/svg+xml'])] : [],
    );
  const [drawn = ''] = await alt();
  expect([drawn.includes('Release'), drawn.includes(said)]).toEqual([true, true]);
  rmSync(fileOf('annotations', 'cut'));
  const [after = ''] = await alt();
  expect([after.includes('Release'), after.includes(said)]).toEqual([true, false]);
});
