import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { sharedService, temporaryDirectory } from '../service.js';

const service = sharedService({ compile: compileRequest });

async function imported(dataset: string, text: string): Promise<void> {
  const file = path.join(await temporaryDirectory(), `${dataset}.csv`);
  await writeFile(file, text);
  const { status } = await service().json('POST', '/v1/local/import', { path: file, dataset });
  expect(status).toBe(200);
}

test('a query of only datasets without times says that the range does not apply, if it leaves out their import', async () => {
  await imported('teams', 'host,team\na,x\nb,y\n');
  await imported('owners', 'team,owner\nx,ann\n');
  await imported('served', 'time,host\n2026-01-01T00:00:00Z,a\n');
  const ask = async (apl: string, endTime = '2026-01-02T00:00:00Z') => {
    const window = { startTime: '2026-01-01T00:00:00Z', endTime };
    const { body } = await service().query(apl, window);
    return [body.tables[0].columns, body.status.messages];
  };
  const notice = (names: string) => ({
    ...{ priority: 'info', count: 1, code: 'no_time' },
    msg: `The time range does not apply: the rows of ${names} have no time of their own.`,
  });
  expect(await ask('teams | count')).toEqual([[[2]], [notice('`teams`')]]);
  expect(await ask('teams | join owners on team | project host, owner')).toEqual([
    [['a'], ['ann']],
    [notice('`teams`, `owners`')],
  ]);
  expect(await ask('served | lookup (teams) on host | project host, team')).toEqual([
    [['a'], ['x']],
    undefined,
  ]);
  expect(await ask('served | count')).toEqual([[[1]], undefined]);
  // The service takes it for 2026-06-15 at noon.
  expect(await ask('teams | count', '2026-06-15T12:00:00Z')).toEqual([[[2]], [notice('`teams`')]]);
  expect(await ask('teams | count', '2026-06-15T12:00:01Z')).toEqual([[[2]], undefined]);
});
