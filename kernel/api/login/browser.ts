import { spawn } from 'node:child_process';

/**
 * Opens a page in the local user's browser; returns false if there is no local user, as over SSH or in a container. The address is
 * one argument of a program, never part of a shell command.
 */
export function openInBrowser(
  page: URL,
  { platform, env }: Pick<NodeJS.Process, 'platform' | 'env'>,
): boolean {
  const opener = openerOf(platform, env);
  if (opener === undefined || !/^https?:$/.test(page.protocol)) return false;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, page.href], { detached: true, stdio: 'ignore', env });
  // The cell shows the address too.
  child.on('error', () => undefined);
  child.unref();
  return true;
}

/** Returns the program that opens a page, and its first arguments. */
function openerOf(
  platform: NodeJS.Platform,
  { SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv,
): readonly [program: string, ...args: string[]] | undefined {
  if (SSH_CONNECTION) return undefined;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}
