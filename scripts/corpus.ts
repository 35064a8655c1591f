/** Runs a file of APL queries against the local engine: `npm run corpus -- FILE.jsonl`, lines of {query, datasets?, output?}. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parseQuery } from '../kernel/apl/syntax/parse.js';
import { sqlTypes } from '../kernel/local/duckdb/duckdb-types.js';
import { FunctionRegistry } from '../kernel/local/duckdb/register.js';
import { samples } from '../kernel/local/samples/all-samples.js';
import { compileRequest } from '../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../kernel/local/sql/compiled-query.js';
import { checkOutput } from './corpus-output.js';

interface Line {
  readonly id?: string | number;
  readonly query: string;
  readonly datasets?: readonly string[];
  readonly output?: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
  readonly output_json?: unknown;
}

type Stage = 'parse' | 'bind' | 'run' | 'match';
interface Outcome {
  readonly line: Line;
  readonly reached: readonly Stage[];
  readonly reason?: string;
  /** `columns` or `values`, if an output was given. */
  readonly match?: string;
}

const now = BigInt(Date.now()) * 1_000_000n;
const windowNs = 3_600_000_000_000n;

const [file, ...flags] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: npm run corpus -- FILE.jsonl [--all]');
  process.exit(2);
}
const lines = readFileSync(file, 'utf8')
  .split('\n')
  .filter(text => text.trim() !== '')
  .map(text => JSON.parse(text) as Line);
const mentioned = new Set(lines.flatMap(line => line.datasets ?? []));
const temp = await mkdtemp(join(tmpdir(), 'apl-corpus-'));
const instance = await DuckDBInstance.create(':memory:', { temp_directory: temp });
const connection = await instance.connect();
await connection.run("SET TimeZone = 'UTC'");
await new FunctionRegistry(connection).all();

const outcomes: Outcome[] = [];
for (const line of lines) outcomes.push(await attempt(line));
report(outcomes);
connection.closeSync();
instance.closeSync();
await rm(temp, { recursive: true, force: true });

async function attempt(line: Line): Promise<Outcome> {
  const reached: Stage[] = [];
  const parsed = parseQuery(line.query);
  const error = parsed.diagnostics.find(diagnostic => diagnostic.severity === 'error');
  if (error !== undefined) return { line, reached, reason: error.message };
  reached.push('parse');
  const request = { apl: line.query, startTime: iso(now - windowNs), endTime: iso(now) };
  const result = compileRequest(request, catalogFor(), now);
  if (!result.ok)
    return {
      line,
      reached,
      reason: result.diagnostics
        .map(
          diagnostic => `${diagnostic.message}${diagnostic.hint === undefined ? '' : `. ${diagnostic.hint}`}`,
        )
        .join(' / '),
    };
  reached.push('bind');
  const [table] = result.compiled.tables;
  try {
    const reader = await connection.runAndReadAll(table?.sql ?? 'SELECT 1');
    const found = reader.columnTypes().map(type => type.alias ?? String(type));
    const other = table?.fields.find(({ type }, index) => found[index] !== sqlTypes[type]);
    if (other !== undefined)
      return {
        line,
        reached,
        reason: `\`${other.name}\` is not a ${other.type} but one of ${found.join(', ')}`,
      };
    reached.push('run');
    const rows = reader.getRowsJson() as unknown[][];
    const match = checkOutput(line, table?.fields ?? [], rows);
    if (match === undefined) return { line, reached };
    if (match.ok) reached.push('match');
    return {
      line,
      reached,
      match: match.ok ? 'match' : 'differs',
      ...(match.ok ? {} : { reason: match.reason }),
    };
  } catch (error) {
    return { line, reached, reason: String(error instanceof Error ? error.message : error).slice(0, 300) };
  }
}

/** Returns the samples, and an empty dataset without fixed fields for every other name: documentation uses fields it does not show. */
function catalogFor(): DatasetCatalog {
  const builtin = new Map(samples.map(sample => [sample.schema.name, sample]));
  return {
    names: () => [...builtin.keys(), ...mentioned],
    schema: name => {
      const sample = builtin.get(name);
      if (sample !== undefined) return { ...sample.schema, open: true };
      return {
        name,
        fields: [
          { name: '_time', type: 'datetime' },
          { name: '_sysTime', type: 'datetime' },
        ],
        open: true,
      };
    },
    scan: (name, fields, start, end) => {
      const sample = builtin.get(name);
      if (sample !== undefined) return sample.scan(fields, start, end);
      return `SELECT ${fields.map((_, index) => `NULL::TIMESTAMP_NS AS f${index}`).join(', ')} WHERE false`;
    },
  };
}

function report(all: readonly Outcome[]): void {
  const count = (stage: Stage): number => all.filter(outcome => outcome.reached.includes(stage)).length;
  const compared = all.filter(outcome => outcome.match !== undefined);
  console.log(
    `${all.length} queries: ${count('parse')} parse, ${count('bind')} bind, ${count('run')} run; ${count('match')} of ${compared.length} with an exact output match`,
  );
  const failed = all.filter(outcome => !outcome.reached.includes('run') || outcome.match === 'differs');
  const groups = new Map<string, Outcome[]>();
  for (const outcome of failed)
    groups.set(outcome.reason ?? '', [...(groups.get(outcome.reason ?? '') ?? []), outcome]);
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length);
  for (const [reason, items] of flags.includes('--all') ? sorted : sorted.slice(0, 60)) {
    console.log(`${String(items.length).padStart(4)}  ${reason.replace(/\s+/g, ' ')}`);
    console.log(
      `      e.g. ${items[0]?.line.id ?? ''}: ${items[0]?.line.query.replace(/\s+/g, ' ').slice(0, 160)}`,
    );
  }
}

function iso(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}
