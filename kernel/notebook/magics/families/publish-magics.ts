import { bucketAddressText, readBucketAddress } from '../../../api/api-imports.js';
import { formatBytes, plural, shownName } from '../../../text.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { withProgress } from '../output.js';
import { onlyLocal } from './dataset-magics.js';

/** The magic that writes a dataset to a bucket. */
export const publishMagics: readonly Magic[] = [
  {
    name: 'publish',
    usage: '%publish DATASET ADDRESS',
    options: [],
    summary:
      'write the finished days of a dataset to a bucket, as Parquet in one directory per day; local service only',
    help: 'Skips days that are already there, so a later run adds those that have ended since. Published data can be read with `%import ADDRESS` on any machine, and with Trino and other engines.\n\n    %publish app s3://logs/app',
    arity: [2, 2],
    argument: 'dataset',
    effects: ['publish'],
    run: publish,
  },
];

async function publish({ words }: MagicCall, { session, io, consent }: MagicHost): Promise<void> {
  onlyLocal(session, 'publish');
  const [dataset = '', written = ''] = words;
  const path = bucketAddressText(readBucketAddress(written));
  if (!session.replays)
    await consent('publish', `write ${shownName(dataset)} to ${path} with your credentials, at your cost`);
  const client = await session.client(io.signal);
  await withProgress(io, `Publishing ${shownName(dataset)} at ${path}`, async () => {
    const { days, rows, bytes, daysThere, notes } = await client.publish({ dataset, path }, io.signal);
    const written = `${plural(days, 'day')} with ${plural(rows, 'row')}, ${formatBytes(bytes)}, written to ${path}; ${plural(daysThere, 'day')} there now`;
    return {
      data: { 'text/plain': [`${shownName(dataset)}: ${written}`, ...notes].join('\n') },
      metadata: {},
    };
  });
}
