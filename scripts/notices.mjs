import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.mjs';

/** The texts of licenses that packages name without bringing them along; `%` stands for who holds the rights. */
const STANDARD = {
  ISC: `Copyright (c) %

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`,
  MIT: `Copyright (c) %

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
  'BSD-3-Clause': `Copyright (c) %

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials provided with the distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`,
};

/**
 * The licenses of the packages that files belong to, which ask to be passed on.
 * @param {readonly string[]} files
 * @returns {string} throws if a package brings no text, and names no license and author of which one can be written
 */
export function licenses(files) {
  const folders = new Set(files.flatMap(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...folders].sort().map(licenseOf).join('\n\n');
}

/** @param {string} folder @returns {string} */
function licenseOf(folder) {
  const path = join(root, folder);
  const about = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const texts = readdirSync(path)
    .filter(file => /^(licen[cs]e|notice|copying)/i.test(file))
    .map(file => readFileSync(join(path, file), 'utf8').trim());
  const notices = texts.length === 0 ? [noticeOf(about)] : texts;
  return [`━━ ${about.name} ${about.version} (${about.license})`, ...notices].join('\n\n');
}

/** @param {{ name: string, license?: string, author?: string | { name: string } }} about @returns {string} */
export function noticeOf({ name, license = '', author }) {
  const holder = (typeof author === 'string' ? author : author?.name)?.replace(/\s*[<(].*$/, '');
  const text = Object.entries(STANDARD).find(([id]) => id === license)?.[1];
  if (text === undefined || !holder)
    throw new Error(
      `${name} has no license file, and ${license || 'no license'} of ${holder ?? 'nobody'} is no notice`,
    );
  return text.replace('%', `${holder} and the contributors of ${name}`);
}
