const unitNs: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Returns the nanoseconds of duration text such as `-1.5h` or `2h45m`; null when it is not one or exceeds int64. */
export function durationNs(text: string): bigint | null {
  const [, sign, body] = /^([+-]?)(.+)$/su.exec(text) ?? [];
  if (body === undefined) return null;
  const magnitude = body === '0' ? 0n : magnitudeNs(body);
  if (magnitude === null) return null;
  const ns = sign === '-' ? -magnitude : magnitude;
  return BigInt.asIntN(64, ns) === ns ? ns : null;
}

function magnitudeNs(body: string): bigint | null {
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/uy;
  let total = 0n;
  let end = 0;
  for (let match = part.exec(body); match !== null; match = part.exec(body)) {
    const [, amount = '', unit = ''] = match;
    total += scaled(amount, unitNs[unit] ?? 0n);
    end = part.lastIndex;
  }
  return end === body.length ? total : null;
}

/** Decimal digits that are less than a nanosecond are dropped. */
function scaled(amount: string, unit: bigint): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  const digits = fraction.slice(0, 18);
  return BigInt(whole || '0') * unit + (BigInt(digits || '0') * unit) / 10n ** BigInt(digits.length);
}
