import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { textOf } from '../files.js';
import { readJson } from './install.js';

/** Jupytext's settings files in a folder: https://jupytext.readthedocs.io/en/latest/config.html */
const SETTINGS = [
  'jupytext.toml',
  '.jupytext.toml',
  'jupytext.yml',
  '.jupytext.yml',
  '.jupytext',
  'pyproject.toml',
];
/** Maximum number of notebooks of one folder to inspect. */
const MOST_NOTEBOOKS = 200;

/**
 * Returns the files that pair notebooks with jupytext's own Markdown, which supports only a fixed list of languages: settings of a folder,
 * its parents and the home directory, and notebooks in the folder.
 */
export async function markdownPairings(folder: string, home: string): Promise<readonly string[]> {
  const folders = new Set([...upwards(folder), home, join(home, '.config'), join(home, '.jupyter')]);
  const settings = [...folders].flatMap(each => SETTINGS.map(name => join(each, name)));
  const found: string[] = [];
  for (const path of settings) if (pairs(await formatsIn(path))) found.push(path);
  const names = (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.ipynb')).sort();
  for (const name of names.slice(0, MOST_NOTEBOOKS)) {
    const path = join(folder, name);
    const { kernelspec, jupytext } = metadataOf(await readJson(path));
    if (kernelspec?.language === 'axiom-apl' && pairs(String(jupytext?.formats ?? ''))) found.push(path);
  }
  return found;
}

interface Metadata {
  readonly kernelspec?: { readonly language?: unknown };
  readonly jupytext?: { readonly formats?: unknown };
}

function metadataOf(notebook: Readonly<Record<string, unknown>> | undefined): Metadata {
  return (notebook?.metadata ?? {}) as Metadata;
}

function upwards(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

/** Returns the text after the word `formats` in a file, without comments; empty if there is no such file. */
async function formatsIn(path: string): Promise<string> {
  const text = await textOf(path).catch(() => '');
  if (path.endsWith('pyproject.toml') && !text.includes('[tool.jupytext')) return '';
  return text
    .replace(/^\s*#.*$/gm, '')
    .split(/\bformats\b/)
    .slice(1)
    .join('');
}

/** True for `md` alone or as `md:markdown`, with or without a folder before it; `md:myst` and `md:pandoc` are other formats. */
function pairs(formats: string): boolean {
  return /(?:^|[\s,"'/.])md(?::markdown)?(?=$|[\s,"'])/.test(formats);
}
