import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuild, main } from './build.mjs';
import { root } from './process.mjs';

checkNode();
await ensureBuild(step => console.log(`• ${step} …`));
process.argv.splice(2, 0, 'lab', '--environment', join(root, '.venv'));
await import(pathToFileURL(main).href);

function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const oldest = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  console.error(`Node ${oldest} or newer is needed; this is ${process.versions.node}.`);
  process.exit(1);
}
