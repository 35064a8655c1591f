import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { effectsReference, magicReference } from '../kernel/notebook/magics/table.js';
import { chartReference } from '../kernel/result/chart/kinds/table.js';

const root = new URL('../', import.meta.url);
const update = process.env.UPDATE_GOLDEN === '1';

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

test.each([
  ['magics', magicReference],
  ['effects', effectsReference],
  ['charts', chartReference],
])('the reference of the %s in the README is that of the code', (name, reference) => {
  const readme = read('README.md');
  const current = readme.replace(
    new RegExp(`(<!-- ${name}:.*-->\\n)[\\s\\S]*(<!-- /${name} -->)`),
    (_, start, end) => `${start}\n${reference()}\n\n${end}`,
  );
  if (update) writeFileSync(new URL('README.md', root), current);
  else expect(readme).toBe(current);
  expect(current).toContain(reference());
});

test.each(['README.md', 'kernel/README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'])(
  'the links of %s lead to files',
  path => {
    const links = [...read(path).matchAll(/(?:\]\(|src(?:set)?=")([^)"#]+)/g)].map(match => match[1] ?? '');
    const missing = links.filter(
      link => !/^https?:/.test(link) && !existsSync(new URL(link, new URL(path, root))),
    );
    expect(missing).toEqual([]);
  },
);
