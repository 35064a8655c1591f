import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../labextension/', import.meta.url);

/** Returns the JupyterLab packages that a source imports for more than types. */
function packagesOf(source: string): readonly string[] {
  return [...source.matchAll(/^import (?!type )([^;]+?) from '(@jupyterlab\/[\w-]+)'/gm)]
    .filter(([, names = '']) => !/^\{(?:\s*type \w+,?)+\s*\}$/.test(names))
    .map(([, , name = '']) => name);
}

test('every JupyterLab package whose code is used is shared with the page, from version 4.2 on', () => {
  const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' });
  const sources = files.filter(file => file.endsWith('.ts')).map(file => `src/${file}`);
  const used = new Set(sources.flatMap(file => packagesOf(readFileSync(new URL(file, root), 'utf8'))));
  const { jupyterlab } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    readonly jupyterlab: { readonly sharedPackages: Readonly<Record<string, object>> };
  };
  expect(Object.keys(jupyterlab.sharedPackages).toSorted()).toEqual([...used].toSorted());
  for (const shared of Object.values(jupyterlab.sharedPackages))
    expect(shared).toEqual({
      bundled: false,
      singleton: true,
      requiredVersion: expect.stringMatching(/^\^4\.[23]\.0$/),
    });
});
