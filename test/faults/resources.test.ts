import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Answer, rounds, temporaryDirectory, Victim } from './bench.js';

/** A resource that a service may run out of: how to limit a running process to its current use plus a little, and the resulting error. */
interface Resource {
  readonly option: 'nofile' | 'as';
  readonly usual: string;
  /** Returns the current use of the process. */
  readonly used: (victim: Victim) => number;
  /** Amounts allowed beyond the current use, in ascending order. */
  readonly spare: readonly number[];
  readonly says: RegExp;
}

const mebibyte = 2 ** 20;

const resources: Readonly<Record<string, Resource>> = {
  handles: {
    option: 'nofile',
    usual: '1024',
    used: victim => victim.descriptors(),
    spare: [0, 1, 2, 3, 5, 8],
    says: /too many (?:files are open|open files)/,
  },
  memory: {
    option: 'as',
    usual: 'unlimited',
    used: ({ pid }) =>
      Number(/VmSize:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024,
    spare: [16, 64, 256].map(each => each * mebibyte),
    says: /memory/,
  },
};

const star = { kind: 'apl', name: 's', who: 'local', metadata: {}, query: { apl: 'd' } };
const event = { text: 'x'.repeat(100) };

/** Requests to a service without any resources left; each must be answered or refused with the reason. */
const operations: Readonly<Record<string, (victim: Victim) => Promise<Answer>>> = {
  'a light query': victim => victim.query('print x = 7'),
  'a stored dataset': victim => victim.query('d | where text == "first" | project x = 7'),
  'a list': victim => victim.send('GET', '/v2/datasets'),
  'a large answer': victim => victim.query('range i from 1 to 50000 step 1 | extend s = strrep("x", 2000)'),
  'a starred query': victim => victim.send('POST', '/v2/apl-starred-queries', star),
  'a few events': victim => victim.ingest('d', [event]),
  'twenty thousand events': victim =>
    victim.ingest(
      'd',
      Array.from({ length: 20_000 }, () => event),
    ),
  'a light query afterwards': victim => victim.query('print x = 7'),
};

test.each(Object.entries(resources))(
  'a service without %s answers or says why, keeps acknowledged events, and recovers',
  async (name, { option, usual, used, spare, says }) => {
    const dataDir = await temporaryDirectory();
    let victim = await Victim.start(dataDir);
    await victim.send('POST', '/v2/datasets', { name: 'd' });
    await victim.ingest('d', [{ text: 'first' }]);
    expect(await victim.columns('d | count')).toEqual([[1]]);
    const least = [1];
    const said = new Map<string, number>();
    const count = rounds(`no ${name}`, spare.length, 60);
    for (let round = 0; round < count; round++) {
      const most = used(victim) + (spare[round % spare.length] ?? 0);
      if (!limited(victim, option, String(most), name)) return;
      for (const [operation, ask] of Object.entries(operations)) {
        const answer = await ask(victim).catch(() => undefined);
        const outcome = answer === undefined ? 'ended' : outcomeOf(answer, says);
        if (outcome === 'done' && operation.endsWith('events')) least.push(Number(answer?.body.ingested));
        if (outcome === 'done' && /light|stored/.test(operation))
          expect(answer?.body.tables[0].columns).toEqual([[7]]);
        const key = `${operation}: ${outcome}`;
        said.set(key, (said.get(key) ?? 0) + 1);
        if (answer === undefined) {
          await expectEnd(victim, name, operation);
          break;
        }
      }
      if (!victim.hasEnded) limited(victim, option, usual, name);
      const counted = victim.hasEnded ? undefined : await victim.columns('d | count').catch(() => undefined);
      // It may also end after its last response.
      if (counted === undefined) {
        await expectEnd(victim, name, 'a count');
        victim = await Victim.start(dataDir);
      }
      expect(counted ?? (await victim.columns('d | count'))).toEqual([
        [least.reduce((sum, each) => sum + each)],
      ]);
    }
    await victim.expectHealthy();
    for (const [key, times] of said) console.log(`no ${name}: ${key}, ${times} times`);
  },
);

/**
 * Expects the process to have ended for lack of memory, the only resource whose exhaustion may end it; the next process has
 * everything acknowledged.
 */
async function expectEnd(victim: Victim, name: string, operation: string): Promise<void> {
  const how = await victim.howEnded();
  expect([name, operation, how]).toEqual(['memory', operation, how]);
}

/** Sets a limit of a running process; returns false, and prints why, if that is not possible. */
function limited(victim: Victim, option: string, most: string, name: string): boolean {
  try {
    execFileSync('prlimit', ['--pid', String(victim.pid), `--${option}=${most}:`], { stdio: 'pipe' });
    return true;
  } catch (error) {
    console.log(`no ${name}: not tried, as the limits of a process cannot be set here (${error})`);
    return false;
  }
}

function outcomeOf({ status, body }: Answer, says: RegExp): string {
  if (status < 300) return 'done';
  expect([status, String(body.message)]).toEqual([expect.any(Number), expect.stringMatching(says)]);
  return `refused with ${status}`;
}
