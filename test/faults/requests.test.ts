import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Answer, randomOf, rounds, temporaryDirectory, Victim } from './bench.js';

const heavy = [
  'range x from 1 to 1000000 step 1 | extend y = hash(x) | sort by y asc | summarize count() by y % 100003 | sort by y asc',
  "['sample-http-logs'] | summarize percentile(req_duration_ms, 99) by bin(_time, 1m)",
  "['sample-http-logs'] | sort by req_duration_ms desc | take 100000 | project req_duration_ms",
  'range x from 1 to 9000 step 1 | summarize s = make_list(x) | extend i = range(1, 2000) | mv-expand i | project array_length(series_fir(s, s))',
  'print x = 1',
];

test('queries interrupted at any moment leave nothing running', async () => {
  const victim = await Victim.start(await temporaryDirectory());
  const random = randomOf('interrupts');
  await victim.expectHealthy();
  const base = victim.descriptors() + 4;
  const count = rounds('interrupts', 80, 1000);
  let interrupted = 0;
  for (let done = 0; done < count; done += 10) {
    const one = async () => {
      const abort = new AbortController();
      const apl = heavy[Math.floor(random() * heavy.length)] ?? '';
      const afterMs = random() * 50;
      const query = victim.query(apl, abort.signal).catch(() => undefined);
      await delay(afterMs);
      abort.abort();
      if ((await query) === undefined) interrupted++;
    };
    await Promise.all(Array.from({ length: 10 }, one));
  }
  expect(interrupted).toBeGreaterThan(count / 4);
  await victim.expectHealthy();
  await victim.expectEveryWorkerFree();
  await victim.expectAtRest(base);
});

/** Bytes that no well-behaved client sends, each on a new connection. */
const malformed: readonly ((victim: Victim, random: () => number) => string)[] = [
  (_, random) => Buffer.from(Array.from({ length: 200 }, () => random() * 256)).toString('latin1'),
  victim => `${victim.head('POST', '/v1/datasets/_apl', ['content-length: 5000'])}\r\n\r\n{"apl": "pri`,
  victim =>
    `${victim.head('POST', '/v1/datasets/_apl', ['content-type: application/json', 'content-length: 9'])}\r\n\r\n{"apl": 1`,
  victim =>
    `${victim.head('POST', '/v1/datasets/_apl', ['transfer-encoding: chunked'])}\r\n\r\nffffff\r\nabc`,
  victim =>
    `${victim.head('POST', '/v1/datasets/d/ingest', ['content-encoding: gzip', 'content-length: 20'])}\r\n\r\nthis is not gzip....`,
  victim =>
    `${victim.head('POST', '/v1/datasets/d/ingest', ['content-length: 100000'])}\r\n\r\n{"a": 1}\n{"a": `,
  victim => victim.head('GET', '/v2/datasets'),
  victim => `${victim.head('GET', `/v2/datasets/${'%00'.repeat(500)}`)}\r\n\r\n`,
  victim => `${victim.head('GET', '/v2/datasets/..%2f..%2fetc/fields')}\r\n\r\n`,
  victim => `${victim.head('BREW', '/v2/datasets')}\r\n\r\n`,
  victim => `${victim.head('GET', '/v2/datasets', [`x: ${'y'.repeat(100_000)}`])}\r\n\r\n`,
  victim => `${victim.head('GET', '/v1/local/proof?nonce=x')}\r\n\r\n`,
];

test('malformed, slow and truncated requests do not delay others', async () => {
  const victim = await Victim.start(await temporaryDirectory());
  const random = randomOf('requests');
  await victim.send('POST', '/v2/datasets', { name: 'd' });
  await victim.expectHealthy();
  const base = victim.descriptors() + 4;
  const count = rounds('requests', 80, 1000);
  for (let done = 0; done < count; done += 10) {
    const one = async () => {
      const text = malformed[Math.floor(random() * malformed.length)]?.(victim, random) ?? '';
      const cut = Math.floor(random() * text.length);
      const socket = await victim.raw(text.slice(0, cut));
      await delay(random() * 100);
      if (!socket.destroyed) socket.write(text.slice(cut));
      await delay(random() * 50);
      socket.destroy();
    };
    const [answer] = await Promise.all([victim.columns('print x = 7'), ...Array.from({ length: 10 }, one)]);
    expect(answer).toEqual([[7]]);
  }
  await victim.expectHealthy();
  await victim.expectAtRest(base);
  expect(await victim.columns('d | count')).toEqual([[0]]);
});

test('queries of a dataset that is dropped meanwhile give whole answers or say that it is unknown', async () => {
  const victim = await Victim.start(await temporaryDirectory());
  const rows = 1_000;
  const events = Array.from({ length: rows }, (_, n) => ({ n, list: Array.from({ length: 200 }, () => n) }));
  const sum = (rows * (rows - 1) * 200) / 2;
  const slow = 'd | mv-expand list | extend i = range(1, 16) | mv-expand i | summarize sum(toint(list))';
  const count = rounds('drops', 3, 50);
  const seen = new Set<string>();
  for (let round = 0; round < count; round++) {
    expect((await victim.send('POST', '/v2/datasets', { name: 'd' })).status).toBe(200);
    for (const part of [events.slice(0, rows / 2), events.slice(rows / 2)])
      expect((await victim.ingest('d', part)).status).toBe(200);
    expect(await victim.columns('d | count')).toEqual([[rows]]);
    const id = `drop-${round}`;
    const running = [
      victim.query(slow, undefined, id),
      ...Array.from({ length: 10 }, () => victim.query('d | summarize sum(n)')),
    ];
    const progress = async () => (await victim.send('GET', `/v1/local/queries/${id}`)).body;
    await expect.poll(async () => (await progress()).rows, { interval: 2 }).toBeGreaterThan(0);
    const dropped = victim.send('DELETE', '/v2/datasets/d');
    const late = Array.from({ length: 10 }, () => victim.query('d | summarize sum(n)'));
    expect((await dropped).status).toBe(204);
    const [first, ...others] = await Promise.all([...running, ...late]);
    const outcomes = [first, ...others].map(answer => outcomeOf(answer as Answer));
    for (const outcome of outcomes) seen.add(outcome);
    const whole = [`[[${sum * 16}]]`, ...Array.from({ length: 20 }, () => `[[${(rows * (rows - 1)) / 2}]]`)];
    expect(
      outcomes.filter((each, index) => each !== whole[index] && !each.includes('unknown dataset `d`')),
    ).toEqual([]);
    expect(outcomeOf(await victim.query('d | count'))).toContain('unknown dataset `d`');
  }
  console.log([...seen].join('; '));
  await victim.expectHealthy();
});

function outcomeOf({ status, body }: Answer): string {
  return status === 200 ? JSON.stringify(body.tables[0].columns) : `${status}: ${body.message}`;
}
