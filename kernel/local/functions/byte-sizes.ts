const letters = ['', 'K', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

/** Formats a number of bytes with the given unit, or else the largest that leaves at least 1; null for unknown units or bases. */
export function formatBytes(value: number, precision: bigint, units: string, base: bigint): string | null {
  if (!Number.isFinite(value) || (base !== 2n && base !== 10n)) return null;
  const unit = units === '' ? fittingUnit(Math.abs(value), base) : unitOf(units, base);
  if (unit === undefined) return null;
  const digits = Math.min(Math.max(Number(precision), 0), 20);
  return `${decimal(value / unit.size, digits)} ${unit.name}`;
}

/** Parses a size such as `1.5 GB` to bytes; 0 if unreadable or beyond int64. */
export function parseBytes(text: string, base: bigint): bigint {
  const [, amount = '', name = ''] = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const unit = amount === '' || (base !== 2n && base !== 10n) ? undefined : unitOf(name, base);
  if (unit === undefined) return 0n;
  const bytes = /^\d+$/.test(amount)
    ? BigInt(amount) * BigInt(unit.size)
    : wholeNumber(Number(amount) * unit.size);
  return BigInt.asIntN(64, bytes) === bytes ? bytes : 0n;
}

interface Unit {
  readonly name: string;
  readonly size: number;
}

function fittingUnit(magnitude: number, base: bigint): Unit {
  const step = base === 2n ? 1024 : 1000;
  let power = 0;
  while (power < letters.length - 1 && magnitude >= step ** (power + 1)) power++;
  return {
    name: power === 0 ? 'Bytes' : `${base === 10n && power === 1 ? 'k' : letters[power]}B`,
    size: step ** power,
  };
}

/** Parses a unit: `KiB` is always 1024 bytes; `KB` and `K` depend on the base. */
function unitOf(text: string, base: bigint): Unit | undefined {
  const [whole, letter = '', binary] = /^(?:([kmgtpezy])(i?)b?|b|bytes?|)$/i.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const step = binary || base === 2n ? 1024 : 1000;
  return { name: text, size: step ** letters.indexOf(letter.toUpperCase()) };
}

function decimal(value: number, digits: number): string {
  return Math.abs(value) < 1e21 ? value.toFixed(digits) : BigInt(value).toString();
}

function wholeNumber(value: number): bigint {
  return Number.isFinite(value) ? BigInt(Math.round(value)) : 0n;
}
