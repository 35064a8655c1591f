import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project directory. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A source file: its path relative to the project directory, with `/`; its text; the modules that it imports. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

/** Returns every source file in these folders, each read once. */
export function sourcesIn(...folders: readonly string[]): readonly Source[] {
  return folders.flatMap(folder =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter(entry => entry.isFile() && /\.(ts|mts|mjs|js|py)$/.test(entry.name))
      .filter(entry => !/\b(node_modules|lib)\b/.test(relative(root, entry.parentPath)))
      .map(entry => sourceOf(join(entry.parentPath, entry.name))),
  );
}

/**
 * Returns the path that an import resolves to, relative to the project directory and without its extension; a package name is unchanged.
 */
export function target({ path }: Source, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return withoutEnding(relative(root, join(root, dirname(path), specifier)));
}

/** Returns `kernel/text` for `kernel/text.ts`. */
export function withoutEnding(path: string): string {
  return path.replace(/\.(?:[jt]s|m[jt]s)$/, '');
}

function sourceOf(file: string): Source {
  const text = readFileSync(file, 'utf8');
  return { path: relative(root, file), text, imports: importsOf(text) };
}

/** Returns the module names of every import, export from, and import() in a text. */
function importsOf(text: string): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const forms =
    /(?:^|\n)\s*(?:import|export)\b[^;'"`]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
  return [...code.matchAll(forms)].map(([, from, bare, lazy]) => from ?? bare ?? lazy ?? '');
}
