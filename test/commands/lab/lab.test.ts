import { expect, test } from 'vitest';
import { basePath, lastLines, portOption } from '../../../kernel/commands/lab/lab-options.js';

test.each<readonly [readonly string[], number | undefined, string]>([
  [[], undefined, '/'],
  [['--ServerApp.port=8899'], 8899, '/'],
  [['--port', '8899', '--ServerApp.base_url=/a/b'], 8899, '/a/b/'],
  [['--port=1', '--ServerApp.port=2'], 2, '/'],
  [['--ServerApp.ip=0.0.0.0', '--ServerApp.base_url=/'], undefined, '/'],
])('JupyterLab with %j listens on port %s under %s', (options, port, path) => {
  expect([portOption(options), basePath(options)]).toEqual([port, path]);
});

test('shows the last lines of a log', () => {
  const log = `${Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n')}\n\n`;
  expect(
    lastLines(log)
      .split('\n')
      .map(line => line.trim()),
  ).toEqual(Array.from({ length: 8 }, (_, index) => `line ${index + 12}`));
});
