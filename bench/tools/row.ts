import { availableParallelism, cpus, totalmem } from 'node:os';

/** One figure of the table that `npm run bench` prints: ours, the baseline and the goal. */
export interface Row {
  /** Measurement, with its scale: `import NDJSON 250 MB`. */
  readonly figure: string;
  readonly unit: string;
  readonly ours: number;
  /** An alternative to the same end, measured in the same run. */
  readonly baseline?: { readonly name: string; readonly value: number };
  /** CPU time of both in milliseconds: other load on the machine affects it less. */
  readonly cpu?: { readonly ours: number; readonly baseline: number };
  readonly goal?: Goal;
}

/** An upper bound: `ratio` times the baseline plus `plus`, in the unit of the row; or a plain figure. */
export type Goal = { readonly ratio: number; readonly plus?: number } | { readonly atMost: number };

/** Writes a row for the table; the process's other output is printed unchanged. */
export function report(row: Row): void {
  console.log(JSON.stringify(row));
}

/** Returns the row in a line of output; undefined if it is not a row. */
export function rowOf(line: string): Row | undefined {
  if (!line.startsWith('{"figure":')) return undefined;
  return JSON.parse(line) as Row;
}

/** Returns the rows as printed: ratio and verdict beside the figures. */
export function tableOf(rows: readonly Row[]): readonly Readonly<Record<string, string>>[] {
  return rows.map(({ figure, unit, ours, baseline, cpu, goal }) => ({
    figure,
    ours: `${rounded(ours)} ${unit}`,
    baseline: baseline === undefined ? '' : `${rounded(baseline.value)} ${unit} (${baseline.name})`,
    ratio: baseline === undefined ? '' : rounded(ours / baseline.value),
    'cpu ratio': cpu === undefined ? '' : rounded(cpu.ours / cpu.baseline),
    goal: goal === undefined ? '' : goalText(goal, unit),
    // CPU time is less affected by other load on the machine; a plain bound is about the time people wait.
    verdict:
      cpu !== undefined && goal !== undefined && 'ratio' in goal
        ? verdictOf(cpu.ours, cpu.baseline, goal)
        : verdictOf(ours, baseline?.value, goal),
  }));
}

/** The results of one benchmark, and its name. */
export interface Measured {
  readonly part: string;
  readonly rows: readonly Row[];
  readonly seconds: number;
}

/** Returns a document with the machine and the rows of each benchmark. */
export function markdownOf(measured: readonly Measured[]): string {
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB of memory, Node.js ${process.version}`;
  const parts = measured.map(({ part, rows, seconds }) => {
    const lines = tableOf(rows).map(row => `| ${Object.values(row).join(' | ')} |`);
    const head = '| what | ours | baseline | time | processor | goal | |\n|---|---|---|---|---|---|---|';
    return `## ${part}\n\n${Math.round(seconds)} s\n\n${head}\n${lines.join('\n')}\n`;
  });
  return `# Figures of one run\n\n${machine}\n\n${parts.join('\n')}`;
}

/** Returns the median of the values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the quantile of the values for a share. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function goalText(goal: Goal, unit: string): string {
  if ('atMost' in goal) return `≤ ${goal.atMost} ${unit}`;
  const times = `≤ ${rounded(goal.ratio)}x`;
  return goal.plus === undefined ? times : `${times} + ${goal.plus} ${unit}`;
}

function verdictOf(ours: number, baseline: number | undefined, goal: Goal | undefined): string {
  if (goal === undefined) return '';
  const bound = 'atMost' in goal ? goal.atMost : goal.ratio * (baseline ?? Number.NaN) + (goal.plus ?? 0);
  return ours <= bound ? 'met' : 'missed';
}

function rounded(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
