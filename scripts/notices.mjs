import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.mjs';

/** Texts of licenses that packages name without including them; `%` is replaced by the copyright holder. */
const STANDARD = ['Apache-2.0', 'ISC', 'MIT', 'BSD-3-Clause'];

/**
 * Returns the licenses of the packages of the given files, which must be redistributed.
 * @param {readonly string[]} files
 * @returns {string} throws if a package includes no text, and names no license and author to generate one from
 */
export function licenses(files) {
  const folders = new Set(files.flatMap(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...folders].sort().map(licenseOf).join('\n\n');
}

/** @param {string} folder @returns {string} */
function licenseOf(folder) {
  const path = join(root, folder);
  const about = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const texts = readdirSync(path)
    .filter(file => /^(licen[cs]e|notice|copying)/i.test(file))
    .map(file => readFileSync(join(path, file), 'utf8').trim());
  const notices = texts.length === 0 ? [noticeOf(about)] : texts;
  return [`━━ ${about.name} ${about.version} (${about.license})`, ...notices].join('\n\n');
}

/** @param {{ name: string, license?: string, author?: string | { name: string } }} about @returns {string} */
export function noticeOf({ name, license = '', author }) {
  const holder = (typeof author === 'string' ? author : author?.name)?.replace(/\s*[<(].*$/, '');
  const isKnown = STANDARD.includes(license);
  if (!isKnown || !holder)
    throw new Error(
      `${name} has no license file, and ${license || 'no license'} of ${holder ?? 'nobody'} is not a notice`,
    );
  const text = readFileSync(join(root, 'scripts', 'licenses', `${license}.txt`), 'utf8').trim();
  return text.replace('%', `${holder} and the contributors of ${name}`);
}
