import { expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { sharedService } from '../../service.js';

const service = sharedService({ compile: compileRequest });

async function events(body: unknown, parameters = ''): Promise<readonly Record<string, never>[]> {
  const answer = await service().send('POST', `/v1/query/batch${parameters}`, body);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const blocks = (await answer.text()).split('\n\n').slice(0, -1);
  return blocks.map(block => {
    const [, event, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
    return { event, ...JSON.parse(data) };
  });
}

const apl = (queryId: string, text: string) => ({ queryId, aplRequest: { apl: text } });

test('each query of a batch gets its own event, and a failing one affects no other', async () => {
  const body = [
    apl('one', 'print a = 1'),
    apl('wrong', 'print a ='),
    { queryId: 'metrics', mplRequest: { mpl: 'x', startTime: 'now-1h', endTime: 'now' } },
    apl('empty', ''),
    apl('lines', 'print a = "x\\nevent: y\\r"'),
  ];
  const found = Object.fromEntries((await events(body)).map(each => [each.queryId, each]));
  expect(Object.keys(found).sort()).toEqual(['empty', 'lines', 'metrics', 'one', 'wrong']);
  expect(found.one).toMatchObject({ event: 'result', kind: 'apl', data: { tables: [{ columns: [[1]] }] } });
  expect(found.lines).toMatchObject({ data: { tables: [{ columns: [['x\nevent: y\r']] }] } });
  expect(found.wrong).toMatchObject({ event: 'error', status: 400, data: { code: 400 } });
  expect(found.metrics).toMatchObject({ event: 'error', status: 422 });
  expect(found.empty).toMatchObject({ event: 'error', status: 400 });
});

test.each([1, 20])('with %d queries at a time, a batch of thirty yields thirty events', async most => {
  const body = Array.from({ length: 30 }, (_, index) => apl(`q${index}`, `print a = ${index}`));
  const found = await events(body, `?maxConcurrency=${most}`);
  const sums = found.map(
    ({ queryId, data }) =>
      `${queryId} ${(data as never as { tables: [{ columns: [[number]] }] }).tables[0].columns[0][0]}`,
  );
  const expected = body.map((_, index) => `q${index} ${index}`);
  expect(most === 1 ? sums : sums.toSorted()).toEqual(most === 1 ? expected : expected.toSorted());
});

test.each([
  ['no query', [], '', 'non-empty list of queries'],
  ['not a list', {}, '', 'list of queries'],
  ['no id', [{ aplRequest: { apl: 'x' } }], '', 'A query has no `queryId`'],
  ['a duplicate id', [apl('a', 'print a = 1'), apl('a', 'print a = 1')], '', 'Duplicate `queryId` "a"'],
  ['neither kind', [{ queryId: 'a' }], '', 'either `aplRequest` or `mplRequest`'],
  ['both kinds', [{ ...apl('a', 'x'), mplRequest: {} }], '', 'either `aplRequest` or `mplRequest`'],
  ['too many at once', [apl('a', 'print a = 1')], '?maxConcurrency=21', 'from 1 to 20'],
])('a batch is refused: %s', async (_, body, parameters, message) => {
  const answer = await service().json('POST', `/v1/query/batch${parameters}`, body);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
});
