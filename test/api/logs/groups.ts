import { logFormats } from '../../../kernel/api/logs/log-formats.js';

/** Returns the named groups of the first shape that matches a line, as text; undefined if none matches. */
export function groupsIn(format: string, line: string): string | undefined {
  const reading = logFormats.find(({ name }) => name === format)?.reading;
  if (reading?.kind !== 'lines') throw new Error(`${format} has no shapes`);
  const found = reading.shapes
    .map(({ pattern }) => new RegExp(pattern, 'u').exec(line))
    .find(match => match !== null);
  const groups = Object.entries(found?.groups ?? {}).filter(([, value]) => value !== undefined);
  return found && groups.map(([name, value]) => `${name}=${value}`).join('|');
}
