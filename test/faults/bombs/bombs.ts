import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Answer, Victim } from '../bench.js';

/** A request for more resources than a service has. */
export interface Bomb {
  readonly name: string;
  readonly throwAt: (victim: Victim) => Promise<Answer>;
  /** Allowed messages of the service, one of which must be in the answer. */
  readonly answers: readonly RegExp[];
}

/** Messages for a query that is too large, alone or together with others. */
export const shortOfMemory =
  /^The (?:query exceeds its memory limit|running queries together exceed the memory limit|query was stopped before the machine ran out of memory: its values are too large)\./;
const answerSize = /^The result would be larger than \d+ MiB, the maximum size\./;

function tooLong(name: string): RegExp {
  return new RegExp(`^\`${name}\` would produce a value of more than 64 MiB, the maximum size\\.`);
}

const mebibyte = 'strrep(strrep("x", 1024), 1024)';
/** With texts of 3 KB, as many bytes as the engine may use. */
const rows = 'range i from 1 to 400000 step 1';
const text = 'strcat(i, strrep("x", 1000), strrep("y", 1000), strrep("z", 1000))';

function again(first: string, step: string, times = 40): string {
  return `print s = ${first}${` | extend s = ${step}`.repeat(times)} | project strlen(tostring(s))`;
}

/** Queries that keep lengthening one value, by function. */
const lengthening: Readonly<Record<string, string>> = {
  strcat: again('"0123456789abcdef"', 'strcat(s, s)'),
  strcat_delim: again('"x"', 'strcat_delim(s, s, s)'),
  strrep: again('"x"', 'strrep(s, 1024)'),
  replace_string: again('"x"', 'replace_string("x", "xxxxxxxxxx", s)'),
  replace_regex: again('"x"', 'replace_regex("x+", "$0$0$0$0", s)'),
  strcat_array: 'print strlen(strcat_array(range(1, 1000000), strrep("x", 1000)))',
  genai_concat_contents: 'print strlen(genai_concat_contents(range(1, 100000), strrep("x", 1000)))',
  array_iff: 'print array_length(array_iff(range(1, 1000000), strrep("x", 1000), "y"))',
  array_split: 'print array_length(array_split(range(1, 100000), range(0, 1000)))',
  url_encode: again('"%%%%"', 'url_encode(strcat(s, s, s, s))'),
  base64_encode_tostring: again('"%%%%"', 'base64_encode_tostring(strcat(s, s, s))'),
  // The last string within the limit has 17 MiB, not 64: each of its characters is a match, which takes a while.
  regex_quote: again('"................."', 'regex_quote(strcat(s, s))'),
  pack_array: `print s = strrep(${mebibyte}, 40) | project array_length(pack_array(s, s, s))`,
  bag_pack: `print s = strrep(${mebibyte}, 40) | project bag_pack("a", s, "b", s)`,
  array_concat: again('dynamic([1, 2, 3])', 'array_concat(s, s)'),
  make_list: `${rows} | extend s = strrep("x", 500) | summarize l = make_list(s) | project array_length(l)`,
  make_set: `${rows} | extend s = strcat(i, strrep("x", 500)) | summarize l = make_set(s, 1000000) | project array_length(l)`,
};

/** Queries that use memory in many values. */
const large: Readonly<Record<string, string>> = {
  'long texts in many rows': `range i from 1 to 5000 step 1 | extend s = tostring(i)${' | extend s = strcat(s, s)'.repeat(20)} | summarize sum(strlen(s))`,
  'texts of a megabyte': `range i from 1 to 4000 step 1 | extend s = strcat(i, ${mebibyte}) | sort by s desc | project strlen(s) | summarize count()`,
  'a list of long texts': `${rows} | extend s = ${text} | summarize l = make_list(s) | project array_length(l)`,
  'a set of long texts': `${rows} | extend s = ${text} | summarize l = make_set(s, 1000000) | project array_length(l)`,
  'distinct long texts': `${rows} | extend s = ${text} | distinct s | summarize max(strlen(s))`,
  'sorted long texts': `${rows} | extend s = ${text} | sort by s desc | project strlen(s) | summarize count()`,
  'counted long texts': `${rows} | extend s = ${text} | summarize dcount(s)`,
  'the most frequent of long texts': `${rows} | extend s = ${text} | summarize l = topk(s, 1000000), count() by bin(i, 1000000) | project strlen(tostring(l))`,
  'the last of long texts': `${rows} | extend s = ${text} | summarize arg_max(s, *) by i | summarize max(strlen(s))`,
  'arrays in arrays': again('dynamic([1, 2, 3])', 'pack_array(s, s)'),
  'maps in maps': again('dynamic([1, 2, 3])', 'bag_pack("a", s, "b", s)'),
  'a large answer': `${rows} | extend s = ${text} | take 1000000`,
};

const object = (keys: number, first = 0) =>
  `{${Array.from({ length: keys }, (_, index) => `"k${index + first}":1`).join(',')}}\n`;
const columns = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`).join(',');
const event = '{"a":1}\n';

/** Bodies and files, with the message that follows their name. */
const texts: readonly (readonly [name: string, type: 'json' | 'csv', content: () => string, said: string])[] =
  [
    ['a million keys', 'json', () => object(1_000_000), ' has more than 5,000 keys in event 1, line 1;'],
    [
      'a million keys below one',
      'json',
      () => `${event}{"a":${object(1_000_000).trim()}}\n`,
      ' has more than 100,000 keys in total in event 2, line 2;',
    ],
    [
      'a hundred thousand levels',
      'json',
      () => `${event}{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`,
      ' is nested more than 200 levels deep in event 2, line 2;',
    ],
    [
      'a line of 300 MB',
      'json',
      () => `${event}{"a":"${'x'.repeat(300_000_000)}"}\n`,
      ' has more than 64 MiB in event 2, line 2;',
    ],
    [
      'a hundred thousand columns',
      'csv',
      () => `${columns(100_000)}\n${columns(100_000)}\n`,
      ' has more than 5,000 columns in line 1;',
    ],
    [
      'a line of CSV of 300 MB',
      'csv',
      () => `a,b\n1,2\n1,${'x'.repeat(300_000_000)}\n`,
      ' has more than 64 MiB in line 3;',
    ],
  ];

const types = { json: 'application/x-ndjson', csv: 'text/csv' } as const;

function ingestOf(body: () => string | Uint8Array, type: string, encoding: string): Bomb['throwAt'] {
  return victim =>
    victim.send('POST', '/v1/datasets/bombs/ingest', body(), undefined, type, {
      'content-encoding': encoding,
    });
}

async function importOf(victim: Victim, name: string, content: string): Promise<Answer> {
  // Imports run concurrently, so each has its own directory.
  const file = join(await mkdtemp(join(victim.dataDir, 'bomb-')), name);
  await writeFile(file, content);
  return victim.send('POST', '/v1/local/import', { path: file, dataset: 'bombs' });
}

/** Returns a gzip of this many bytes of events. */
function packed(bytes: number): Uint8Array {
  const part = gzipSync(event.repeat(2 ** 20));
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / (8 * 2 ** 20)) }, () => part));
}

const bodies: readonly Bomb[] = texts.flatMap(([name, type, content, said]): Bomb[] => [
  {
    name: `ingest: ${name}`,
    throwAt: ingestOf(content, types[type], 'identity'),
    answers: [new RegExp(`^The body${said}`)],
  },
  {
    name: `ingest, packed: ${name}`,
    throwAt: ingestOf(() => gzipSync(content(), { level: 1 }), types[type], 'gzip'),
    answers: [new RegExp(`^The body${said}`)],
  },
  {
    name: `import: ${name}`,
    throwAt: victim => importOf(victim, `bomb.${type}`, content()),
    answers: [new RegExp(`^bomb\\.${type}${said}`)],
  },
]);

function queries(
  kind: Readonly<Record<string, string>>,
  answers: (name: string) => readonly RegExp[],
): Bomb[] {
  return Object.entries(kind).map(([name, apl]) => ({
    name: `query: ${name}`,
    throwAt: victim => victim.query(apl),
    answers: answers(name),
  }));
}

/** Bombs of every kind. */
export const bombs: readonly Bomb[] = [
  ...queries(lengthening, name => [tooLong(name), tooLong('strcat'), shortOfMemory]),
  // Some of them succeed if the disk has room.
  ...queries(large, () => [shortOfMemory, answerSize, /^$/]),
  ...bodies,
  {
    name: 'ingest: 3 GB, packed',
    throwAt: ingestOf(() => packed(3e9), types.json, 'gzip'),
    answers: [/^The body is larger than 1,024 MiB, the limit for this request\./],
  },
  {
    name: 'ingest: packed twice',
    throwAt: ingestOf(() => gzipSync(packed(64 * 2 ** 20)), types.json, 'gzip'),
    answers: [/^The body is not JSON but compressed with gzip\./],
  },
  {
    name: 'ingest: ten thousand keys over all events',
    throwAt: ingestOf(
      () => Array.from({ length: 100 }, (_, index) => object(100, index * 100)).join(''),
      types.json,
      'identity',
    ),
    answers: [/^The objects have 10,000 keys in all; the limit is 5,000 fields\./],
  },
];
