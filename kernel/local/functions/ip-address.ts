import { isIPv4, isIPv6 } from 'node:net';

interface Network {
  /** 128 bits; IPv4 addresses are mapped into ::ffff:0:0/96. */
  readonly bits: bigint;
  readonly prefix: number;
}

/** Compares two addresses or networks under the shortest prefix: -1, 0 or 1; null if either is invalid. */
export function compareIp(a: string, b: string, prefix: bigint): bigint | null {
  const [left, right] = [networkOf(a), networkOf(b)];
  if (left === null || right === null || prefix < 0n || prefix > 128n) return null;
  const shift = BigInt(128 - Math.min(left.prefix, right.prefix, Number(prefix)));
  const difference = (left.bits >> shift) - (right.bits >> shift);
  return difference === 0n ? 0n : difference < 0n ? -1n : 1n;
}

/** Returns whether two addresses or networks are equal under the shortest prefix; null if either is invalid. */
export function isIpMatch(a: string, b: string, prefix: bigint): boolean | null {
  const order = compareIp(a, b, prefix);
  return order === null ? null : order === 0n;
}

/** Returns whether an address lies in a network; null if either is invalid. */
export function isInRange(ip: string, range: string): boolean | null {
  return ip.includes('/') ? null : isIpMatch(ip, range, 128n);
}

function networkOf(text: string): Network | null {
  const [, ip = '', suffix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  if (isIPv4(ip)) return network(0xffff_0000_0000n | ipv4Bits(ip), suffix, 96, 32);
  return isIPv6(ip) ? network(ipv6Bits(ip), suffix, 0, 128) : null;
}

function network(bits: bigint, suffix: string | undefined, before: number, width: number): Network | null {
  const length = suffix === undefined ? width : Number(suffix);
  return length > width ? null : { bits, prefix: before + length };
}

function ipv4Bits(ip: string): bigint {
  return ip.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);
}

function ipv6Bits(ip: string): bigint {
  const hex = ip.replace(/\d+\.\d+\.\d+\.\d+$/, ipv4 => {
    const digits = ipv4Bits(ipv4).toString(16).padStart(8, '0');
    return `${digits.slice(0, 4)}:${digits.slice(4)}`;
  });
  const [head = [], tail] = hex.split('::').map(part => part.split(':').filter(group => group !== ''));
  const missing = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...(tail ?? [])];
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}
