import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { readFooters } from '../../../../kernel/local/engine/engine-parquet.js';
import type { DatasetCatalog } from '../../../../kernel/local/sql/compiled-query.js';
import { FooterReader } from '../../../../kernel/local/store/dataset/footers.js';
import { footerIn } from '../../../../kernel/local/store/dataset/part-file.js';
import { partFooter } from '../../../../kernel/local/store/dataset/part-footer.js';
import { SummaryReader } from '../../../../kernel/local/store/dataset/summaries.js';
import { SummaryCache } from '../../../../kernel/local/store/dataset/summary-cache.js';
import { importFile } from '../../../../kernel/local/store/import.js';
import { now, openQueries } from '../../queries.js';
import { sharedStore } from './stores.js';

/** Files of other writers in Base64, whose statistics ignore the NaN of rows 1 and 4; `readers/parquet/types/make.py` creates them. */
const made = new URL('./hidden-nan.json', import.meta.url);

let catalog: DatasetCatalog | undefined;

const { rows } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('there are no files yet');
  return catalog;
});

const datasets = ['pyarrow', 'polars', 'both', 'imported'] as const;

const opened = sharedStore(async ({ dataDir, engine, store }) => {
  const files: Readonly<Record<string, string>> = JSON.parse(await readFile(made, 'utf8'));
  for (const [writer, content] of Object.entries(files))
    for (const dataset of [writer, 'both']) {
      const folder = path.join(dataDir, 'datasets', dataset);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, `${writer}.parquet`), Buffer.from(content, 'base64'));
    }
  await engine.run(
    `COPY (SELECT * FROM read_parquet(${sqlText(fileOf('pyarrow'))}, can_have_nan = true)) TO ${sqlText(path.join(dataDir, 'engine.parquet'))} (FORMAT parquet)`,
  );
  await importFile(store, dataDir, { path: fileOf('pyarrow'), dataset: 'imported' }, now);
  catalog = await store.snapshot(...datasets);
});

function fileOf(writer: string): string {
  return path.join(opened().dataDir, 'datasets', writer, `${writer}.parquet`);
}

/** The same rows, computed by a query. */
const same =
  'range n from 0 to 7 step 1 | extend x = iff(n == 1 or n == 4, 0.0 / 0, todouble(dynamic([1, 0, 3, 2, 0, 0.5, -1.5, 7])[n])) | extend f = x';

const questions = [
  'summarize max(v), min(v), sum(v), avg(v), stdev(v), variance(v), count(), countif(v < 100), dcount(v)',
  'summarize max(v), avg(v) by k = n % 2 | sort by k asc',
  'summarize percentile(v, 50), a = histogram(v, 3)',
  'summarize h = histogram(v, 3) by k = n % 2 | sort by k asc',
  'summarize s = make_set(v)',
  'where v < 100 | sort by n asc | project n',
  'where v > 0 | sort by n asc | project n',
  'where v >= 7 | project n',
  'where v != 1 | sort by n asc | project n',
  'where not(v < 100) | count',
  'where v between (0.0 .. 100.0) | count',
  'where isnan(v) | sort by n asc | project n',
  'where v == v | count',
  'where v in (1.0, 7.0) | count',
  'top 3 by v | project n',
  'sort by v asc nulls last, n asc | project n',
  'summarize arg_max(v, n), arg_min(v, n)',
  'summarize topk(v, 3)',
];

describe.each(datasets)('NaN hidden by the statistics of %s', dataset => {
  test.each(questions.flatMap(each => ['x', 'f'].map(field => each.replaceAll(/\bv\b/g, field))))(
    '%s handles NaN as in computed rows',
    async question => {
      const expected = dataset === 'both' ? `union (${same}), (${same})` : same;
      expect(await rows(`${dataset} | ${question}`)).toEqual(await rows(`${expected} | ${question}`));
    },
  );
});

test('footers of other writers are known to hide NaN, and those of the engine are not', async () => {
  const paths = [fileOf('pyarrow'), fileOf('polars'), path.join(opened().dataDir, 'engine.parquet')];
  const read = await readFooters(opened().engine, paths);
  const own = await Promise.all(
    paths.map(async each => partFooter(each, (await footerIn(each)) ?? Buffer.alloc(0))),
  );
  const hides = (footer: object | undefined) => {
    const of = footer && 'of' in footer ? (footer.of as (fields: readonly never[]) => object)([]) : footer;
    return of && Reflect.get(of, 'hidesNaN');
  };
  expect(read.map(hides)).toEqual([true, true, false]);
  expect(own.map(hides)).toEqual([true, true, false]);
});

test('hidden NaN is remembered for the next start', async () => {
  const directory = path.join(opened().dataDir, 'datasets', 'pyarrow');
  const kept = new SummaryCache(opened().dataDir);
  const summaries = () => new SummaryReader(directory, new FooterReader(opened().engine), kept);
  const { files } = await summaries().of(['pyarrow.parquet']);
  await kept.save();
  expect((await kept.load('pyarrow')).get('pyarrow.parquet')?.summary.hidesNaN).toBe(true);
  expect((await summaries().of(['pyarrow.parquet'])).files).toEqual(files);
});
