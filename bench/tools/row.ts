import { availableParallelism, cpus, totalmem } from 'node:os';

/** One figure of the table that `npm run bench` prints: ours, what it is measured against, and what was aimed at. */
export interface Row {
  /** What was measured, with its scale: `import NDJSON 250 MB`. */
  readonly figure: string;
  readonly unit: string;
  readonly ours: number;
  /** Another way to the same end, measured in the same run. */
  readonly baseline?: { readonly name: string; readonly value: number };
  /** Processor time of both in milliseconds: other work of the machine weighs less on it. */
  readonly cpu?: { readonly ours: number; readonly baseline: number };
  readonly goal?: Goal;
}

/** An upper bound: `ratio` times the baseline plus `plus`, in the unit of the row; or a plain figure. */
export type Goal = { readonly ratio: number; readonly plus?: number } | { readonly atMost: number };

/** Writes a row for the table; the process's other output is shown as it comes. */
export function report(row: Row): void {
  console.log(JSON.stringify(row));
}

/** Returns whether a line of output is a row. */
export function rowOf(line: string): Row | undefined {
  if (!line.startsWith('{"figure":')) return undefined;
  return JSON.parse(line) as Row;
}

/** Returns the rows as they are printed: ratio and verdict beside the figures. */
export function tableOf(rows: readonly Row[]): readonly Readonly<Record<string, string>>[] {
  return rows.map(({ figure, unit, ours, baseline, cpu, goal }) => ({
    figure,
    ours: `${rounded(ours)} ${unit}`,
    baseline: baseline === undefined ? '' : `${rounded(baseline.value)} ${unit} (${baseline.name})`,
    ratio: baseline === undefined ? '' : rounded(ours / baseline.value),
    'cpu ratio': cpu === undefined ? '' : rounded(cpu.ours / cpu.baseline),
    goal: goal === undefined ? '' : goalText(goal, unit),
    // Other work of the machine weighs less on processor time; a plain bound is about what people wait for.
    verdict:
      cpu !== undefined && goal !== undefined && 'ratio' in goal
        ? verdictOf(cpu.ours, cpu.baseline, goal)
        : verdictOf(ours, baseline?.value, goal),
  }));
}

/** What one benchmark has measured, and how it was called. */
export interface Measured {
  readonly part: string;
  readonly rows: readonly Row[];
  readonly seconds: number;
}

/** Returns a document of the machine and of the rows of each benchmark. */
export function markdownOf(measured: readonly Measured[]): string {
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB of memory, Node.js ${process.version}`;
  const parts = measured.map(({ part, rows, seconds }) => {
    const lines = tableOf(rows).map(row => `| ${Object.values(row).join(' | ')} |`);
    const head = '| what | ours | baseline | time | processor | goal | |\n|---|---|---|---|---|---|---|';
    return `## ${part}\n\n${Math.round(seconds)} s\n\n${head}\n${lines.join('\n')}\n`;
  });
  return `# Figures of one run\n\n${machine}\n\n${parts.join('\n')}`;
}

/** Returns the middle of the values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value that this share of the values does not exceed. */
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
