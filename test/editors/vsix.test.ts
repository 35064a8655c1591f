import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import yauzl from 'yauzl';
import { textMateGrammar, textMateScope } from '../../kernel/apl/editor/colors/textmate.js';
import { kernelInfo } from '../../kernel/notebook/kernel-info.js';
import { runCommand } from '../../kernel/protocols/lsp/structure.js';
import { noticeOf } from '../../scripts/notices.mjs';
import { buildVsix } from '../../scripts/vsix.mjs';
import { root } from '../setup/sources.js';

const scratch = mkdtempSync(join(tmpdir(), 'apl-kernel-vsix-'));
let file: string;
let files: ReadonlyMap<string, string>;

beforeAll(async () => {
  file = await buildVsix(scratch);
  files = await filesOf(file);
});
afterAll(() => rmSync(scratch, { recursive: true }));

test('the VS Code extension contains its program, grammars and licenses, and nothing else', () => {
  expect([...files.keys()]).toEqual([
    'extension.vsixmanifest',
    '[Content_Types].xml',
    'extension/package.json',
    'extension/readme.md',
    'extension/LICENSE.txt',
    'extension/ThirdPartyNotices.txt',
    'extension/icon.png',
    'extension/extension.js',
    'extension/language-configuration.json',
    'extension/syntaxes/axiom-apl.tmLanguage.json',
    'extension/syntaxes/markdown.tmLanguage.json',
  ]);
  expect(files.get('extension/ThirdPartyNotices.txt')).toMatch(/━━ vscode-languageclient [\d.]+ \(MIT\)/);
});

test("its manifest names existing files, the kernel's language and the package's version", () => {
  const manifest = jsonOf('package.json');
  const { contributes, main, icon, version } = manifest;
  const named = [main, icon, ...[...contributes.grammars, ...contributes.languages].flatMap(pathsOf)];
  expect(named.map(path => join('extension', path)).filter(path => !files.has(path))).toEqual([]);
  const { name, mimetype, file_extension } = kernelInfo('0').language_info;
  expect(contributes.languages).toMatchObject([
    { id: name, mimetypes: [mimetype], extensions: [file_extension] },
  ]);
  expect(contributes.grammars[0]).toMatchObject({ language: name, scopeName: textMateScope });
  const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(version).toBe(about.version);
  expect(files.get('extension.vsixmanifest')).toContain(`Version="${about.version}" Publisher=`);
  expect(jsonOf('syntaxes/axiom-apl.tmLanguage.json')).toEqual(textMateGrammar());
});

test('its program registers every command of the manifest and the code lens', () => {
  const { commands } = jsonOf('package.json').contributes;
  const code = files.get('extension/extension.js') ?? '';
  const names = [...commands.map(({ command }: { command: string }) => command), runCommand];
  expect(names.filter(name => !code.includes(`registerCommand("${name}"`))).toEqual([]);
});

test('a bundled package without a license file gets a generated notice, or the build fails', () => {
  const about = { name: 'tiny', license: 'ISC', author: 'A. Author <a@example.org>' };
  expect(noticeOf(about)).toMatch(/^Copyright \(c\) A. Author and the contributors of tiny\n\nPermission /);
  expect(() => noticeOf({ ...about, license: 'WTFPL' })).toThrow(
    'tiny has no license file, and WTFPL of A. Author',
  );
  expect(() => noticeOf({ name: 'tiny', license: 'MIT' })).toThrow(
    'tiny has no license file, and MIT of nobody',
  );
});

test('two builds are byte-identical', async () => {
  const before = readFileSync(file);
  expect(readFileSync(await buildVsix(join(scratch, 'again'))).equals(before)).toBe(true);
});

function jsonOf(name: string) {
  return JSON.parse(files.get(`extension/${name}`) ?? expect.fail(`no ${name}`));
}

function pathsOf({ path, configuration }: { readonly path?: string; readonly configuration?: string }) {
  return [path, configuration].filter(each => each !== undefined);
}

async function filesOf(path: string): Promise<ReadonlyMap<string, string>> {
  const zip = await yauzl.openPromise(path);
  const found = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    found.set(entry.fileName, Buffer.concat(chunks).toString());
  }
  return found;
}
