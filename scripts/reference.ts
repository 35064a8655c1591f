/** Writes docs/reference.md from the catalog, and the names of the kinds of charts into the language: `npx tsx scripts/reference.ts`. */
import { writeFileSync } from 'node:fs';
import { kindNames } from '../kernel/result/chart/kinds/kind-table.js';

const root = new URL('../', import.meta.url);
writeFileSync(new URL('kernel/apl/operators/chart-kinds.ts', root), kindNames());
// The reference gets the names of the kinds from that file.
const { referencePage } = await import('../kernel/apl/editor/help/help-reference.js');
writeFileSync(new URL('docs/reference.md', root), referencePage());
