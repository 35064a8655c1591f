import { expect, test } from 'vitest';
import { decodeTabular } from '../../../kernel/result/decode/decode-arrow.js';
import { joinPages, readPage } from '../../../kernel/result/decode/decode-pages.js';
import { responseBytes } from '../sample.js';

test.each<[first: [string, string], second: [string, string], type: string, cells: readonly string[]]>([
  [['string', '["a"]'], ['string', '["b"]'], 'Utf8', ['a', 'b']],
  [['unknown', '[null]'], ['string', '["b"]'], 'Dictionary<Int32, Utf8>', ['null', 'b']],
  [['string|null', '[null]'], ['string', '["b"]'], 'Dictionary<Int32, Utf8>', ['null', 'b']],
  [['integer', '[1]'], ['float', '[0.5]'], 'Float64', ['1', '0.5']],
  [['integer', '[1]'], ['integer|float', '[0.5]'], 'Float64', ['1', '0.5']],
  [['integer', '[9007199254740993]'], ['float', '[0.5]'], 'Utf8', ['9007199254740993', '0.5']],
  [['integer', '[1]'], ['string', '["b"]'], 'Utf8', ['1', '"b"']],
  [['unknown', '[null]'], ['null', '[null]'], 'Utf8', ['null', 'null']],
])('pages of %j and %j have one column of %s', (first, second, type, cells) => {
  const pages = [first, second].map(([type, cells]) =>
    readPage(Buffer.from(responseBytes([{ columns: [['c', type, cells]] }]))),
  );
  const column = decodeTabular(joinPages(pages, {})).tables[0]?.data.getChildAt(0);
  expect([String(column?.type), ...Array.from(column ?? [], String)]).toEqual([type, ...cells]);
});
