import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TokenStream } from '../../../kernel/apl/syntax/tokens/token-stream.js';
import { tabular } from '../../api/service.js';
import { type Bench, startBench, traceback } from '../session.js';

/** Token streams that were asked whether they are done; every parse has its own. */
const streams = new Set<TokenStream>();
const done = Object.getOwnPropertyDescriptor(TokenStream.prototype, 'done')?.get;

let bench: Bench;

beforeEach(async () => {
  bench = await startBench();
  streams.clear();
  vi.spyOn(TokenStream.prototype, 'done', 'get').mockImplementation(function (this: TokenStream) {
    streams.add(this);
    return done?.call(this);
  });
  const times = ['2026-03-04T04:10:00Z', '2026-03-04T05:00:00Z'];
  bench.service.answer(() => ({
    body: tabular(
      [
        { name: '_time', type: 'datetime' },
        { name: 'n', type: 'integer' },
      ],
      [times, [1, 2]],
    ),
  }));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await bench.close();
});

const query = 'web | where n > 0 | summarize n = count() by bin(_time, 5m)';

test.each<readonly [string, string, readonly string[]]>([
  ['a query', query, [query]],
  ['a query with a chart', `${query} | render timechart`, [`${query} | render timechart`]],
  ['a named result', `errs << ${query}`, [query]],
  ['two queries', `${query}\n\nweb | limit 5`, [query, 'web | limit 5']],
])('parses each query once: %s', async (_, cell, texts) => {
  expect(traceback(await bench.run(cell))).toEqual([]);
  expect([...streams].map(({ source }) => source)).toEqual(texts);
});
