import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const page = (text, name) => ({ text, link: name === 'index' ? '/' : `/${name}` });

/** Links to pages of the repository that are not on the site. */
const OUTSIDE =
  /^(?:\.\.?\/)+(?!.*\.md(?:#|$)).*|(?:kernel|test|bench|examples)\/|CONTRIBUTING|SECURITY|CHANGELOG|LICENSE/;

/** By default, the language names are too faint to read. */
const STYLE = `
:root { --vp-code-lang-color: #5f5f68; }
.dark { --vp-code-lang-color: #a0a0a8; }
`;

export default defineConfig({
  title: 'apl-kernel',
  description: 'A Jupyter kernel for APL, the Axiom Processing Language',
  srcDir: '../../out/site-pages',
  outDir: '../../out/site',
  cleanUrls: true,
  head: [['style', {}, STYLE]],
  ignoreDeadLinks: [OUTSIDE],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: frameIndented,
    languages: [JSON.parse(readFileSync(join(root, 'out', 'axiom-apl.tmLanguage.json'), 'utf8'))],
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      {
        text: 'Start',
        items: [
          page('Five minutes', 'index'),
          page('Install', 'install'),
          page('Own data', 'own-data'),
          page('Logs in a bucket', 'buckets'),
          page('From SQL, Splunk or Kusto', 'migrate'),
          page('Connect', 'connect'),
        ],
      },
      {
        text: 'Notebooks',
        items: [
          page('Cells', 'cells'),
          page('Magics', 'magics'),
          page('Charts', 'charts'),
          page('Editing', 'editing'),
          page('Find the cause', 'investigate'),
          page('Write-ups', 'write-ups'),
          page('Effects', 'effects'),
          page('What is left out', 'shortfalls'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Language', 'reference'),
          page('Command line', 'command-line'),
          page('Log formats', 'log-formats'),
          page('HTTP API', 'operations'),
          page('Data directory', 'data-directory'),
          page('Limits', 'limits'),
          page('Decisions', 'decisions'),
        ],
      },
      {
        text: 'Elsewhere',
        items: [page('Editors', 'editors'), page('Tools', 'neighbors'), page('Agents', 'agents')],
      },
    ],
  },
});

/** Styles indented code like fenced code; most of it is APL. */
function frameIndented(md) {
  md.core.ruler.push('indented_code', ({ tokens }) => {
    for (const token of tokens.filter(({ type }) => type === 'code_block')) {
      token.type = 'fence';
      token.tag = 'code';
      token.info = /^(?:%|\[|\/\/|let )/.test(token.content) ? 'apl' : 'text';
    }
  });
}
