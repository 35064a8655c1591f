import { constants, openSync } from 'node:fs';
import { isatty, WriteStream } from 'node:tty';

/**
 * Returns the width, in characters, of the terminal that this kernel was started on, as it is now; undefined if it was started
 * on none or by a server, whose terminal shows no outputs. The messaging protocol does not tell it; `jupyter console` starts
 * a kernel on its own terminal.
 */
export function terminalWidth({ JPY_SESSION_NAME: session }: NodeJS.ProcessEnv): number | undefined {
  if (session !== undefined || process.platform === 'win32' || !isatty(1)) return undefined;
  // A stream of its own: the kernel is in a session of its own, which is not told when the size changes.
  const terminal = new WriteStream(openSync('/dev/stdout', constants.O_WRONLY | constants.O_NOCTTY));
  try {
    return terminal.columns > 0 ? terminal.columns : undefined;
  } finally {
    terminal.destroy();
  }
}
