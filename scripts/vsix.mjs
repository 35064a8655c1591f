import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'node:process';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { ZipFile } from 'yazl';
import { markdownGrammar, textMateGrammar } from '../kernel/apl/editor/colors/textmate.js';
import { escapeHtml } from '../kernel/text.js';
import { licenses } from './notices.mjs';
import { root } from './process.mjs';

const folder = join(root, 'kernel', 'editors', 'vscode');
const read = (/** @type {string} */ path) => readFileSync(path);
const json = (/** @type {unknown} */ value) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

/**
 * Packs the extension for Visual Studio Code; the same sources give the same bytes.
 * https://learn.microsoft.com/en-us/previous-versions/visualstudio/visual-studio-2015/extensibility/anatomy-of-a-vsix-package
 * @param {string} directory
 * @returns {Promise<string>} the file
 */
export async function buildVsix(directory) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { name, ...about } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const manifest = { name, version, ...about };
  const { code, notices } = await program();
  const files = {
    'package.json': json(manifest),
    'readme.md': read(join(folder, 'README.md')),
    'LICENSE.txt': read(join(root, 'LICENSE')),
    'ThirdPartyNotices.txt': Buffer.from(notices),
    'icon.png': read(join(root, 'kernel', 'kernelspec', 'logo-64x64.png')),
    'extension.js': code,
    'language-configuration.json': read(join(folder, 'language-configuration.json')),
    'syntaxes/axiom-apl.tmLanguage.json': json(textMateGrammar()),
    'syntaxes/markdown.tmLanguage.json': json(markdownGrammar()),
  };
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${name}-${version}.vsix`);
  const zip = new ZipFile();
  const add = (/** @type {string} */ name, /** @type {Buffer} */ content) =>
    // The file stores local time, which keeps its bytes independent of the machine's time zone.
    zip.addBuffer(content, name, { mtime: new Date(2020, 0, 1), mode: 0o100644, forceDosTimestamp: true });
  add('extension.vsixmanifest', Buffer.from(packageManifest(manifest)));
  add('[Content_Types].xml', Buffer.from(contentTypes(Object.keys(files))));
  for (const [name, content] of Object.entries(files)) add(`extension/${name}`, content);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

/** @returns {Promise<{ code: Buffer, notices: string }>} the extension as one file, and the licenses of its contents */
async function program() {
  const scratch = mkdtempSync(join(tmpdir(), 'apl-kernel-vsix-'));
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: [join(folder, 'extension.ts')],
      outfile: join(scratch, 'extension.js'),
      bundle: true,
      minifyWhitespace: true,
      minifySyntax: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      external: ['vscode'],
      logLevel: 'warning',
      metafile: true,
    });
    return { code: read(join(scratch, 'extension.js')), notices: licenses(Object.keys(metafile.inputs)) };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** @param {Record<string, any>} manifest @returns {string} */
function packageManifest({
  name,
  version,
  publisher,
  displayName,
  description,
  keywords,
  categories,
  engines,
}) {
  const asset = (/** @type {string} */ type, /** @type {string} */ file) =>
    `    <Asset Type="${type}" Path="extension/${file}" Addressable="true" />`;
  const property = (/** @type {string} */ id, /** @type {string} */ value) =>
    `      <Property Id="Microsoft.VisualStudio.${id}" Value="${escapeHtml(value)}" />`;
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}" />
    <DisplayName>${escapeHtml(displayName)}</DisplayName>
    <Description xml:space="preserve">${escapeHtml(description)}</Description>
    <Tags>${escapeHtml(keywords.join(','))}</Tags>
    <Categories>${escapeHtml(categories.join(','))}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
${property('Code.Engine', engines.vscode)}
${property('Code.ExtensionKind', 'workspace')}
${property('Services.GitHubFlavoredMarkdown', 'true')}
    </Properties>
    <License>extension/LICENSE.txt</License>
    <Icon>extension/icon.png</Icon>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code" />
  </Installation>
  <Dependencies />
  <Assets>
${asset('Microsoft.VisualStudio.Code.Manifest', 'package.json')}
${asset('Microsoft.VisualStudio.Services.Content.Details', 'readme.md')}
${asset('Microsoft.VisualStudio.Services.Content.License', 'LICENSE.txt')}
${asset('Microsoft.VisualStudio.Services.Icons.Default', 'icon.png')}
  </Assets>
</PackageManifest>
`;
}

const TYPES = {
  vsixmanifest: 'text/xml',
  js: 'application/javascript',
  json: 'application/json',
  md: 'text/markdown',
  png: 'image/png',
  txt: 'text/plain',
};

/** @param {readonly string[]} names @returns {string} */
function contentTypes(names) {
  const endings = new Set(['vsixmanifest', ...names.map(name => name.split('.').at(-1) ?? '')]);
  const unknown = [...endings].find(ending => !Object.hasOwn(TYPES, ending));
  if (unknown !== undefined) throw new Error(`No content type for files that end in .${unknown}`);
  const rows = Object.entries(TYPES)
    .filter(([ending]) => endings.has(ending))
    .map(([ending, type]) => `<Default Extension=".${ending}" ContentType="${type}"/>`);
  return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${rows.join('')}</Types>
`;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { to: { type: 'string', default: join(root, 'out') } } });
  console.log(await buildVsix(values.to));
}
