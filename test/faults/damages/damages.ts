import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Ways to damage a file. `unreadable` files are unreadable to the service's user; these rounds run as another user. */
export const damages: Readonly<Record<string, (file: string, random: () => number) => void>> = {
  cut: (file, random) => truncateSync(file, Math.floor(random() * statSync(file).size)),
  flipped: (file, random) => {
    const bytes = readFileSync(file);
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    writeFileSync(file, bytes);
  },
  emptied: file => truncateSync(file, 0),
  'half copied': file => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, bytes.length >> 1));
  },
  'a directory': file => {
    rmSync(file);
    mkdirSync(file);
    writeFileSync(join(file, 'inside'), 'x');
  },
  'a link to itself': file => {
    rmSync(file);
    symlinkSync(file, file);
  },
  'a link that leads nowhere': file => {
    rmSync(file);
    symlinkSync(join(file, '..', 'unmounted', 'file'), file);
  },
  'a named pipe': file => {
    rmSync(file);
    execFileSync('mkfifo', ['-m', '666', file]);
  },
  'an endless device': file => {
    rmSync(file);
    symlinkSync('/dev/zero', file);
  },
  'with bytes after its end': file => appendFileSync(file, 'and more\n'),
  unreadable: file => {
    chownSync(file, 0, 0);
    chmodSync(file, 0o600);
  },
};

/** Edits by people and other programs to files that they can read; the kernel's own files are not known to anyone. */
const edits: Readonly<Record<string, (file: string, random: () => number) => void>> = {
  'saved by an editor of Windows': file =>
    writeFileSync(file, `\xef\xbb\xbf${readFileSync(file, 'latin1').replaceAll('\n', '\r\n')}`, 'latin1'),
  'saved as UTF-16': file => writeFileSync(file, `\ufeff${readFileSync(file, 'utf8')}`, 'utf16le'),
  'dated ahead': file => utimesSync(file, nextCentury, nextCentury),
  'copied beside itself': file => copyFileSync(file, copyOf(file)),
};

export const damagesAndEdits = { ...damages, ...edits };

const nextCentury = new Date('2101-01-01T00:00:00Z');

/** Returns the name that a sync program gives to the copy of a file. */
function copyOf(file: string): string {
  return file.replace(/(\.\w+)$/, ' (1)$1');
}

/** Returns the file that a message about the damage names. */
export function namedOf(damage: string, file: string): string {
  return damage === 'copied beside itself' ? copyOf(file) : file;
}

/** Zeroes the content of a file as a failing disk does, without changing its size or time. */
export function zeroUnseen(file: string): void {
  const like = `${file}.like`;
  execFileSync('touch', ['-r', file, like]);
  writeFileSync(file, Buffer.alloc(statSync(file).size));
  execFileSync('touch', ['-r', like, file]);
  rmSync(like);
}

/** An unprivileged user. */
export const stranger = 12_345;

/** Gives a user a directory, everything in it, and its parent. */
export function giveTo(directory: string, user: number): void {
  chownSync(join(directory, '..'), user, user);
  chownSync(directory, user, user);
  for (const name of readdirSync(directory, { recursive: true }))
    chownSync(join(directory, String(name)), user, user);
}
