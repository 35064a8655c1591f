import type { DuckDBConnection } from '@duckdb/node-api';
import { type Goal, median, report } from './row.js';
import { ask, processorMs, type Running } from './service.js';

/** A query in APL, and handwritten in SQL for the same engine. */
export interface Question {
  readonly name: string;
  readonly apl: string;
  /**
   * `FROM t` is replaced by the files, whose rows are all in the range, so the SQL has no condition for it; `$newest` by a time
   * after which there are enough rows, by the statistics.
   */
  readonly sql: string;
  /** 1.1 times the SQL and 5 ms if absent. */
  readonly goal?: Goal;
}

/** Where queries run: on the dataset `bench` of a service, and directly on its files. */
export interface Asked {
  readonly service: Running;
  readonly connection: DuckDBConnection;
  readonly files: readonly string[];
  readonly scale: string;
  readonly runs: number;
  readonly newest?: string;
}

const start = '2026-01-01T00:00:00Z';
const end = '2026-01-31T00:00:00Z';

/** Runs both in turn, and reports the medians. */
export async function compare(
  { name, apl, sql, goal = { ratio: 1.1, plus: 5 } }: Question,
  { service, connection, files, scale, runs, newest = '' }: Asked,
): Promise<void> {
  const source = `FROM read_parquet([${files.map(file => `'${file}'`).join(', ')}]) WHERE true`;
  const byHand = sql.replace(/FROM t\b/g, source).replace('$newest', newest);
  const body = JSON.stringify({ apl: `['bench'] | ${apl}`, startTime: start, endTime: end });
  const [ours, theirs]: [Spent[], Spent[]] = [[], []];
  for (let run = 0; run < runs; run += 1) {
    const query = () => ask(service, '/v1/datasets/_apl?format=tabular', body);
    ours.push(await spent(query, () => processorMs(service)));
    const statement = async () => (await connection.runAndReadAll(byHand)).getRowsJson();
    theirs.push(await spent(statement, () => ownProcessorMs()));
  }
  const ms = (all: readonly Spent[]): number => median(all.map(each => each.ms));
  const cpuMs = (all: readonly Spent[]): number => median(all.map(each => each.cpuMs));
  report({
    figure: `${name}, ${scale}`,
    unit: 'ms',
    ours: ms(ours),
    baseline: { name: 'SQL by hand', value: ms(theirs) },
    cpu: { ours: cpuMs(ours), baseline: cpuMs(theirs) },
    goal,
  });
}

/** Cost of one run; the CPU time is that of the engine's process. */
interface Spent {
  readonly ms: number;
  readonly cpuMs: number;
}

async function spent(run: () => Promise<unknown>, processor: () => number): Promise<Spent> {
  const before = processor();
  const from = performance.now();
  await run();
  const ms = performance.now() - from;
  return { ms, cpuMs: processor() - before };
}

function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
