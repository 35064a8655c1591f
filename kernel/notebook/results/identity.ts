import { createHash } from 'node:crypto';
import type { Steps } from '../../result/decode/decode-slices.js';
import { hashSteps } from '../../result/ipc/ipc-stream.js';
import type { QueryResult } from '../../result/result.js';

/** Returns an id shared by equal results of the same query: rerunning a notebook over a frozen range does not change it. */
export function* resultId({
  tables,
  provenance: { query, startTime, endTime, profile },
}: QueryResult): Steps<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([query, startTime, endTime, profile]));
  for (const { data } of tables) hash.update(yield* hashSteps(data));
  return hash.digest('hex').slice(0, 32);
}
