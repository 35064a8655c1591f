import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { effectsReference, magicReference } from '../kernel/notebook/magics/magic-table.js';
import { chartReference } from '../kernel/result/chart/kinds/kind-table.js';

const root = new URL('../', import.meta.url);
const update = process.env.UPDATE_GOLDEN === '1';

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

test.each([
  ['magics', magicReference],
  ['effects', effectsReference],
  ['charts', chartReference],
])('the reference of %s in docs matches the code', (name, reference) => {
  const path = `docs/${name}.md`;
  const page = read(path);
  const current = page.replace(
    new RegExp(`(<!-- ${name}:.*-->\\n)[\\s\\S]*(<!-- /${name} -->)`),
    (_, start, end) => `${start}\n${reference()}\n\n${end}`,
  );
  if (update) writeFileSync(new URL(path, root), current);
  else expect(page).toBe(current);
  expect(current).toContain(reference());
});

const pages = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.md'))
  .map(name => `docs/${name}`);

test.each(['README.md', 'kernel/README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...pages])(
  'every link in %s leads to an existing file and heading',
  path => {
    const links = [...read(path).matchAll(/(?:\]\(|src(?:set)?=")([^)"\s]+)/g)].map(match => match[1] ?? '');
    expect(links.filter(link => !/^(?:https?|mailto):/.test(link) && !leads(path, link))).toEqual([]);
  },
);

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const path of reached)
    for (const [, link = ''] of read(path).matchAll(/\]\(([^)#\s:]+\.md)/g))
      reached.add(new URL(link, new URL(path, root)).href.slice(root.href.length));
  expect(pages.filter(page => !reached.has(page))).toEqual([]);
});

function leads(from: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = new URL(file === '' ? from : file, file === '' ? root : new URL(from, root));
  if (!existsSync(target)) return false;
  return heading === undefined || anchorsOf(readFileSync(target, 'utf8')).includes(heading);
}

/** Returns GitHub's anchors for the headings of a page: lowercase, without punctuation, dashes for spaces. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(match =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
