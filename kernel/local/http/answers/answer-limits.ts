/** Returns the API's rate limit headers at `nowMs`. Nothing is limited here, so the same large number always remains. */
export function limitHeaders(nowMs: number): Readonly<Record<string, string>> {
  const reset = String((Math.floor(nowMs / minuteMs) + 1) * (minuteMs / 1000));
  const of = (kind: string) => ({
    [`x-${kind}limit-limit`]: unlimited,
    [`x-${kind}limit-remaining`]: unlimited,
    [`x-${kind}limit-reset`]: reset,
  });
  return { 'x-ratelimit-scope': 'user', ...of('rate'), ...of('query') };
}

const minuteMs = 60_000;
/** Exact in the number types of all clients. */
const unlimited = '1000000000';
