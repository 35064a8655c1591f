import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openQueries } from '../queries.js';

/**
 * Values claimed by the language's documentation, by page: `expression → documented`, with `≠ ours decision` if ours differs. ` | `
 * separates the values of several columns.
 */
interface Claim {
  readonly page: string;
  readonly expression: string;
  readonly documented: string;
  readonly ours: string;
  readonly decision?: string;
}

const claims = readClaims(readFileSync(new URL('./documentation.txt', import.meta.url), 'utf8'));
const { rows } = openQueries();

describe('a documented value', () => {
  test.each(claims)('$page: $expression', async ({ expression, documented, ours, decision }) => {
    const apl = /^(print|datatable|range) ?\b.*\|/.test(expression) ? expression : `print ${expression}`;
    const [first = []] = await rows(apl);
    expect(first.join(' | ')).toBe(ours);
    expect(ours === documented).toBe(decision === undefined);
  });

  test('differs from ours only by a decision', () => {
    const chapters = claims.flatMap(({ decision }) => (decision === undefined ? [] : [decision]));
    expect(chapters.filter(id => !decisionText(id).includes(`| ${id} |`))).toEqual([]);
  });
});

function readClaims(text: string): Claim[] {
  let page = '';
  return text.split('\n').flatMap(line => {
    if (line.startsWith('# ')) page = line.slice(2);
    const [, expression, documented, ours, decision] = /^(.+?) → (.*?)(?: ≠ (.*) (D-\S+))?$/.exec(line) ?? [];
    if (expression === undefined || documented === undefined) return [];
    return [
      {
        page,
        expression,
        documented,
        ours: ours ?? documented,
        ...(decision === undefined ? {} : { decision }),
      },
    ];
  });
}

function decisionText(id: string): string {
  const chapter = /^D-(\w+)-/.exec(id)?.[1] ?? '';
  return readFileSync(new URL(`../../../docs/decisions/${chapter}.md`, import.meta.url), 'utf8');
}
