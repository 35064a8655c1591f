import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textMateGrammar } from '../kernel/apl/editor/colors/textmate.js';
import { npm, root, show } from './process.mjs';
import { findingsOf } from './site/check.mjs';

// Builds the documentation as a site into out/site: the README as its first page, and docs/. A link to a missing page fails.
// With --check, every page is checked in Chromium.
const site = join(root, 'scripts', 'site');
const pages = join(root, 'out', 'site-pages');
rmSync(pages, { recursive: true, force: true });
mkdirSync(pages, { recursive: true });
cpSync(join(root, 'docs'), pages, { recursive: true });
// The path of an HTML image must begin with ./ to be resolved among the pages.
for (const name of readdirSync(pages).filter(each => each.endsWith('.md'))) {
  const path = join(pages, name);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(/((?:src|srcset)=")(?=images\/)/g, '$1./'));
}
const readme = readFileSync(join(root, 'README.md'), 'utf8');
writeFileSync(join(pages, 'index.md'), readme.replaceAll(/(\(|"|')docs\//g, '$1./'));
writeFileSync(join(root, 'out', 'axiom-apl.tmLanguage.json'), JSON.stringify(textMateGrammar()));
if (!existsSync(join(site, 'node_modules'))) await must(...npm(['ci', '--prefix', site]));
await must(process.execPath, [join(site, 'node_modules', 'vitepress', 'bin', 'vitepress.js'), 'build', site]);

if (process.argv.includes('--check')) {
  const findings = await findingsOf(join(root, 'out', 'site'));
  for (const finding of findings) console.error(finding);
  console.log(`${findings.length} findings on the pages`);
  if (findings.length > 0) process.exit(1);
}

/** @param {string} program @param {string[]} args */
async function must(program, args) {
  const code = await show(program, args);
  if (code !== 0) process.exit(code);
}
