import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExternalFile } from '../../apl/plan/plan.js';
import { systemRefusal } from '../../machine.js';
import { inDataDir } from '../data-layout.js';
import { mostBytes } from '../duckdb/duckdb-external.js';
import { EngineError } from './engine-failure.js';

/**
 * Returns a function from an address of `externaldata` to its file. Accepts only paths and `file:` URLs below `<dataDir>/external`: no
 * network addresses, and no links out of that directory.
 */
export function externalFiles(dataDir: string): (address: string) => ExternalFile {
  const root = inDataDir(dataDir, 'external');
  return address => {
    const file = pathOf(address, root);
    if (typeof file !== 'string') return file;
    if (!file.startsWith(root + path.sep)) return refused(outside(file), whereTo);
    // The engine treats these characters as a glob pattern.
    if (/[*?[\]{}]/.test(file))
      return refused('the name of the file contains one of * ? [ ] { }', 'Rename it.');
    return checked(root, file);
  };
}

/**
 * Returns the message about an unreadable file of `externaldata`, with the line if known; undefined for any other failure. Omits the
 * directory of the file and the engine's advice.
 */
export function unreadableFile(error: unknown): string | undefined {
  if (!(error instanceof EngineError)) return undefined;
  const [, file] = /[\\/]external[\\/]([^"'\r\n]*?)["'\r\n]/.exec(`${error.detail}\n`) ?? [];
  if (file === undefined) return undefined;
  const [, unit, number] = /\b(line|record)(?:\/value)?:? (\d+)/i.exec(error.detail) ?? [];
  const place = unit === undefined ? 'it' : `${unit.toLowerCase()} ${number}`;
  return `\`${file}\` cannot be read: ${place} is malformed.`;
}

const whereTo =
  'Put the file into the `external` folder of the data directory and refer to it by its path there.';

function refused(problem: string, hint: string): ExternalFile {
  return { ok: false, problem, hint };
}

function outside(file: string): string {
  return `\`${path.basename(file)}\` is not in the directory \`external\``;
}

/** Returns the absolute path of an address. The part of a URL after the host may be secret, so it is not repeated. */
function pathOf(address: string, root: string): string | ExternalFile {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return path.resolve(root, address);
  if (scheme === 'file') {
    try {
      return fileURLToPath(address);
    } catch {
      return refused('the `file:` URL does not refer to a file on this machine', whereTo);
    }
  }
  const host = URL.canParse(address) ? new URL(address).host : '';
  return refused(
    `\`${scheme}://${host}\` requires network access, which the local service does not use`,
    whereTo,
  );
}

function checked(root: string, file: string): ExternalFile {
  try {
    const found = lstatSync(file);
    const real = path.join(realpathSync(root), path.relative(root, file));
    if (realpathSync(file) !== real)
      return refused(`\`${path.basename(file)}\` is a link, or is in a linked directory`, whereTo);
    if (!found.isFile()) return refused(`\`${path.basename(file)}\` is not a file`, whereTo);
    if (found.size > mostBytes)
      return refused(tooLarge(file), 'Import it with `%import`, then query the dataset.');
    return { ok: true, path: real };
  } catch (error) {
    const reason = systemRefusal(error)?.reason;
    if (reason !== undefined)
      return refused(
        `\`${path.relative(root, file)}\` in the directory \`external\` cannot be read: ${reason}`,
        'Check the file.',
      );
    return refused(
      `there is no file \`${path.relative(root, file)}\` in the directory \`external\``,
      whereTo,
    );
  }
}

function tooLarge(file: string): string {
  return `\`${path.basename(file)}\` is larger than 5 MiB, the maximum for \`externaldata\``;
}
