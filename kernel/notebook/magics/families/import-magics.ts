import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import {
  bucketAddressText,
  importChoices,
  importFlags,
  importOptions,
  importUsage,
  placeOfImport,
  readBucketAddress,
} from '../../../api/api-imports.js';
import { type ImportPreview, previewLines, previewRows } from '../../../api/api-preview.js';
import { addressOf, type Downloaded, downloadNote, withDownload } from '../../../api/download.js';
import { datasetNameOf, type ImportReport, type QueryProgress } from '../../../api/wire.js';
import type { DisplayData } from '../../../jupyter/message.js';
import { present } from '../../../present.js';
import { typeWord } from '../../../result/display/display-text.js';
import { codeWords } from '../../../result/display/summary.js';
import { partRead, plural, shownName, withoutCredentials } from '../../../text.js';
import { extentText } from '../../query/extent.js';
import type { Session } from '../../session.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { usageError } from '../magic-arguments.js';
import { pathOf } from '../magic-files.js';
import { progressMs, tableOutput, withProgress } from '../output.js';
import { extentOf, onlyLocal } from './dataset-magics.js';

/** The magic that creates a dataset from a file. */
export const importMagics: readonly Magic[] = [
  {
    name: 'import',
    usage: `%import FILE|ADDRESS [--dataset NAME] ${importUsage} [--copy]`,
    options: [
      {
        name: 'dataset',
        value: 'NAME',
        summary: 'the dataset to import into (default: the name of the file)',
      },
      ...importOptions.map(({ name, value, summary }) => ({ name, value, summary })),
      ...importFlags,
      {
        name: 'copy',
        summary: 'copy the objects of a bucket to this machine and import them as files: NDJSON, CSV, logs',
      },
    ],
    summary:
      'create a dataset from a CSV, NDJSON, JSON or Parquet file or a log, on disk or at an https address, or from Parquet files in a bucket, read in place; local service only',
    help: 'Times may be strings, or seconds, milliseconds, microseconds or nanoseconds since 1970. Nested objects become dotted names.\n\n    %import ~/logs/access.ndjson --dataset access --time ts\n    %import s3://logs/app --dataset app\n    %import s3://logs/edge/2026/06/01 --dataset edge --copy',
    arity: [1, 1],
    effects: ['read', 'download', 'bucket', 'write', 'drop'],
    argument: 'file',
    run: importFile,
  },
];

/** Imports a file into a dataset of the local service. */
async function importFile(call: MagicCall, host: MagicHost): Promise<void> {
  const { session, io, consent } = host;
  onlyLocal(session, 'import');
  const { options, words } = call;
  const [written = ''] = words;
  if (placeOfImport(written) === 'bucket') return importBucket(call, host, written);
  const address = addressOf(written);
  // A replayed import needs no file.
  if (options.has('copy')) throw usageError(call.magic, '--copy is for buckets');
  if (address === undefined || session.replays)
    return importPath(call, host, pathOf(session.options, written));
  await consent('download', `download ${withoutCredentials(address.href)} and import it`);
  await withDownload(address, file => importPath(call, host, file.path, file), { signal: io.signal });
}

/** Has the local service read a bucket in place, or copy its objects. */
async function importBucket(call: MagicCall, host: MagicHost, written: string): Promise<void> {
  const { options, magic } = call;
  const { session, io, consent } = host;
  const address = bucketAddressText(readBucketAddress(written));
  if (options.has('copy') && !options.has('preview')) {
    if (!session.replays) await consent('bucket', `copy ${address} here with your credentials, at your cost`);
    return importPath(call, host, address);
  }
  const unfit = [...options.keys()].find(name => !bucketOptions.includes(name));
  if (unfit !== undefined) throw usageError(magic, `--${unfit} is for files; a bucket is read in place`);
  const time = options.get('time');
  const request = {
    path: address,
    dataset: options.get('dataset') ?? datasetNameOf(address),
    ...present({ timeField: typeof time === 'string' ? time : undefined }),
  };
  if (!session.replays) await consent('bucket', `read ${address} with your credentials, at your cost`);
  const client = await session.client(io.signal);
  await withProgress(io, `Inspecting ${address}`, async () => {
    const report = await client.importFile(request, io.signal, randomUUID());
    session.consents.made(['dataset', report.dataset]);
    return { ...reportOutput(report), metadata: { apl: { setup: true } } };
  });
  session.schema.clear();
}

const bucketOptions: readonly string[] = ['dataset', 'time', 'copy'];

/** Imports a file of this machine; a downloaded one is identified by its address. */
async function importPath(
  { options, magic }: MagicCall,
  host: MagicHost,
  path: string,
  downloaded?: Downloaded,
): Promise<void> {
  const { session, io } = host;
  const source = downloaded?.address ?? path;
  const choices = importChoices(
    ({ name }) => options.get(name),
    ({ name, wanted }, value) => {
      throw usageError(magic, `${value} is not a value of --${name}: give ${wanted}`);
    },
  );
  const request = {
    path,
    dataset: options.get('dataset') ?? datasetNameOf(path),
    ...choices,
    ...present({ replace: options.has('replace') || undefined, copy: options.has('copy') || undefined }),
  };
  if (options.has('preview')) {
    const client = await session.client(io.signal);
    io.display(previewOutput(await client.previewFile(request, io.signal), downloaded));
    return;
  }
  if (options.has('replace')) await askToReplace(request.dataset, source, host);
  const client = await session.client(io.signal);
  const id = randomUUID();
  await withProgress(
    io,
    `Importing ${basename(withoutCredentials(source))} into ${request.dataset}`,
    async tell => {
      // A failed progress request does not mean that the import failed.
      const ask = () => client.progress(id, io.signal).then(found => tell(partOf(found)), ignore);
      const timer = setInterval(ask, progressMs);
      try {
        const report = await client.importFile(request, io.signal, id);
        await noteImport(session, source, report, options.has('replace'));
        const notes = downloaded === undefined ? report.notes : [downloadNote(downloaded), ...report.notes];
        return { ...reportOutput({ ...report, notes }), metadata: { apl: { setup: true } } };
      } finally {
        clearInterval(timer);
      }
    },
  );
  session.schema.clear();
}

/** Requests consent: the replaced rows are lost, unless the session created them or they come from the same file. */
async function askToReplace(
  dataset: string,
  path: string,
  { session, io, consent }: MagicHost,
): Promise<void> {
  const { consents } = session;
  if (session.replays || consents.has('drop') || consents.hasMade(['dataset', dataset])) return;
  const held = await session.localDataset(dataset, io.signal);
  if (held === undefined || held.rows === 0) return;
  if (await session.options.importLog?.isImportOf(dataset, path, held)) return;
  await consent(
    'drop',
    `replace ${extentOf(held)} of the dataset ${dataset}, which this session did not import`,
  );
}

async function noteImport(
  session: Pick<Session, 'consents' | 'options' | 'replays'>,
  path: string,
  { dataset, rowsBefore, rowsNow, ...span }: ImportReport,
  replaced: boolean,
): Promise<void> {
  const isAll = replaced || rowsBefore === 0;
  if (isAll) session.consents.made(['dataset', dataset]);
  if (!session.replays)
    await session.options.importLog?.note(dataset, isAll ? path : undefined, { ...span, rows: rowsNow });
}

/** Describes how much of an import has been read, if the service reports it. */
function partOf(progress: QueryProgress): string {
  const { share = 0, rows } = progress.state === 'running' ? progress : { rows: 0 };
  return partRead(share, rows);
}

function ignore(): void {}

function reportOutput(report: ImportReport): ReturnType<typeof tableOutput> {
  const { dataset, rows, rowsBefore, rowsNow, timeField, notes } = report;
  const time = timeField === '' ? '' : `, time from ${codeWords(timeField)}`;
  const inPlace = report.place !== undefined;
  const added = rowsBefore > 0 && rowsNow === rowsBefore + rows;
  const lines = [
    `${dataset}: ${inPlace ? 'read in place' : plural(rows, 'row')}, ${plural(report.fields.length, 'field')}${time}`,
    ...(added
      ? [
          `It had ${plural(rowsBefore, 'row')} before; the new rows were added. \`--replace\` replaces the old rows instead.`,
        ]
      : []),
    ...(inPlace ? [] : [`It has ${extentText({ ...report, rows: rowsNow })}`]),
    ...notes,
  ];
  return tableOutput(
    ['field', 'type'],
    report.fields.map(field => [shownName(field.name), typeWord(field.type)]),
    lines.join('\n'),
  );
}

function previewOutput(preview: ImportPreview, downloaded: Downloaded | undefined): DisplayData {
  const [heading = '', ...lines] = previewLines(preview);
  const words = [heading, ...(downloaded === undefined ? [] : [downloadNote(downloaded)]), ...lines];
  const [headers = [], ...rows] = previewRows(preview, typeWord);
  const named = rows.map(([name = '', ...values]) => [shownName(name), ...values]);
  return { ...tableOutput(headers, named, words.join('\n')), metadata: { apl: { setup: true, preview } } };
}
