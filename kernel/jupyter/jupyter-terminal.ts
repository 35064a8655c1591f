import { constants, openSync } from 'node:fs';
import { isatty, WriteStream } from 'node:tty';

/**
 * Returns the current width, in characters, of the terminal that started this kernel; undefined without a terminal, or if a server
 * started it, whose terminal shows no outputs. The messaging protocol does not report it, but `jupyter console` starts a kernel on
 * its own terminal.
 */
export function terminalWidth({ JPY_SESSION_NAME: session }: NodeJS.ProcessEnv): number | undefined {
  if (session !== undefined || process.platform === 'win32' || !isatty(1)) return undefined;
  // Needs a new stream: the kernel has its own session, which is not notified of resizes.
  const terminal = new WriteStream(openSync('/dev/stdout', constants.O_WRONLY | constants.O_NOCTTY));
  try {
    return terminal.columns > 0 ? terminal.columns : undefined;
  } finally {
    terminal.destroy();
  }
}
