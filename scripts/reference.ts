/** Writes docs/reference.md from the catalogue: `npx tsx scripts/reference.ts`. */
import { writeFileSync } from 'node:fs';
import { referencePage } from '../kernel/apl/editor/help/reference.js';

writeFileSync(new URL('../docs/reference.md', import.meta.url), referencePage());
