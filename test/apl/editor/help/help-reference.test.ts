import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aggregates } from '../../../../kernel/apl/catalog/aggregates.js';
import { everyFunction } from '../../../../kernel/apl/catalog/all-functions.js';
import { elements } from '../../../../kernel/apl/catalog/operator-entries.js';
import { describedNames, describeName } from '../../../../kernel/apl/editor/help/help-describe.js';
import { referencePage } from '../../../../kernel/apl/editor/help/help-reference.js';

test('docs/reference.md matches the output of scripts/reference.ts', () => {
  const written = readFileSync(new URL('../../../../docs/reference.md', import.meta.url), 'utf8');
  expect(written).toBe(referencePage());
});

test('every name of the catalog is described, with its own heading unless it is an alias', () => {
  const page = referencePage();
  const silent = describedNames().filter(name => describeName(name) === undefined);
  expect(silent).toEqual([]);
  expect(page.match(/^### /gm)?.length).toBe(elements.length + aggregates.length + everyFunction.length);
});
