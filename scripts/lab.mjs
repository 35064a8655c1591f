/** Finds JupyterLab's address in the options that are passed on to it, and in its log the reason why it did not start. */

/**
 * The value of the last of the options `--NAME=VALUE`, `--NAME VALUE` that is given by one of these names.
 * @param {readonly string[]} options
 * @param {readonly string[]} names
 * @returns {string | undefined}
 */
function optionValue(options, names) {
  let value;
  for (const [index, option] of options.entries()) {
    const [name = '', inline] = option.split(/=(.*)/s);
    if (names.includes(name.replace(/^--?/, ''))) value = inline ?? options[index + 1];
  }
  return value;
}

/**
 * The path below which it answers, with a slash at both ends.
 * @param {readonly string[]} options
 */
export function basePath(options) {
  const path = optionValue(options, ['ServerApp.base_url', 'LabApp.base_url', 'base_url']) ?? '';
  const inner = path.replace(/^\/+|\/+$/g, '');
  return inner === '' ? '/' : `/${inner}/`;
}

/**
 * The port that the options set.
 * @param {readonly string[]} options
 */
export function portOption(options) {
  const port = optionValue(options, ['ServerApp.port', 'LabApp.port', 'port']);
  return port === undefined ? undefined : Number(port);
}

/**
 * The last lines of a log that hold words, indented.
 * @param {string} log
 */
export function lastLines(log) {
  const lines = log.split(/\r?\n/).filter(line => line.trim() !== '');
  return lines
    .slice(-8)
    .map(line => `    ${line}`)
    .join('\n');
}
