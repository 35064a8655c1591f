/** Finds JupyterLab's address in the options that are passed on to it. */

/** The value of the last of the options `--NAME=VALUE`, `--NAME VALUE` that is given by one of these names. */
function optionValue(options: readonly string[], names: readonly string[]): string | undefined {
  let value: string | undefined;
  for (const [index, option] of options.entries()) {
    const [name = '', inline] = option.split(/=(.*)/s);
    if (names.includes(name.replace(/^--?/, ''))) value = inline ?? options[index + 1];
  }
  return value;
}

/** The path below which it answers, with a slash at both ends. */
export function basePath(options: readonly string[]): string {
  const path = optionValue(options, ['ServerApp.base_url', 'LabApp.base_url', 'base_url']) ?? '';
  const inner = path.replace(/^\/+|\/+$/g, '');
  return inner === '' ? '/' : `/${inner}/`;
}

/** The port that the options set. */
export function portOption(options: readonly string[]): number | undefined {
  const port = optionValue(options, ['ServerApp.port', 'LabApp.port', 'port']);
  return port === undefined ? undefined : Number(port);
}

/** The last lines of a log that hold words, indented. */
export function lastLines(log: string): string {
  const lines = log.split(/\r?\n/).filter(line => line.trim() !== '');
  return lines
    .slice(-8)
    .map(line => `    ${line}`)
    .join('\n');
}
