/** Finds JupyterLab's address in the options passed on to it. */

/** Returns the value of the last `--NAME=VALUE` or `--NAME VALUE` with one of these names. */
function optionValue(options: readonly string[], names: readonly string[]): string | undefined {
  let value: string | undefined;
  for (const [index, option] of options.entries()) {
    const [name = '', inline] = option.split(/=(.*)/s);
    if (names.includes(name.replace(/^--?/, ''))) value = inline ?? options[index + 1];
  }
  return value;
}

/** Returns the base path of its URLs, with a slash at both ends. */
export function basePath(options: readonly string[]): string {
  const path = optionValue(options, ['ServerApp.base_url', 'LabApp.base_url', 'base_url']) ?? '';
  const inner = path.replace(/^\/+|\/+$/g, '');
  return inner === '' ? '/' : `/${inner}/`;
}

/** Returns the port set by the options. */
export function portOption(options: readonly string[]): number | undefined {
  const port = optionValue(options, ['ServerApp.port', 'LabApp.port', 'port']);
  return port === undefined ? undefined : Number(port);
}

/** Returns the last non-empty lines of a log, indented. */
export function lastLines(log: string): string {
  const lines = log.split(/\r?\n/).filter(line => line.trim() !== '');
  return lines
    .slice(-8)
    .map(line => `    ${line}`)
    .join('\n');
}
