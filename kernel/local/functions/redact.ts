import { createHash } from 'node:crypto';
import { RE2JS } from 're2js';
import { deadline } from './deadline.js';

const cache = new Map<string, RE2JS>();

/**
 * Masks the matches of an RE2 pattern: each character with a one-character token, or the whole match with a longer token or a short hash.
 * With `groups`, masks only the capture groups. Text without a match is unchanged.
 */
export function redact(text: string, pattern: string, token: string, hash: boolean, groups: boolean): string {
  const matcher = compiled(pattern).matcher(text);
  let output = '';
  let at = 0;
  const check = deadline();
  while (matcher.find()) {
    check();
    for (const [from, to] of ranges(matcher, groups)) {
      if (from < at || to <= from) continue;
      output += text.slice(at, from) + mask(text.slice(from, to), token, hash);
      at = to;
    }
  }
  return output + text.slice(at);
}

function ranges(matcher: ReturnType<RE2JS['matcher']>, groups: boolean): [number, number][] {
  const count = groups ? matcher.groupCount() : 0;
  if (count === 0) return [[matcher.start(0), matcher.end(0)]];
  return Array.from({ length: count }, (_, index): [number, number] => [
    matcher.start(index + 1),
    matcher.end(index + 1),
  ]);
}

function mask(text: string, token: string, hash: boolean): string {
  if (hash) return createHash('sha256').update(text).digest('base64url').slice(0, 8);
  return [...token].length === 1 ? token.repeat([...text].length) : token;
}

function compiled(pattern: string): RE2JS {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const fresh = RE2JS.compile(pattern);
  if (cache.size > 100) cache.clear();
  cache.set(pattern, fresh);
  return fresh;
}
