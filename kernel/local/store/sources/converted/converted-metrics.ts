import type { Left } from './left.js';
import { textLines } from './text-lines.js';

/** Metadata of a metric family, from comments. */
interface Family {
  type?: string;
  help?: string;
  unit?: string;
}

/**
 * Yields the samples of metrics in Prometheus or OpenMetrics text format, shaped like those of a Prometheus response, with the type, unit
 * and help of their family. An unreadable line is unchanged; unknown comments are added to `left`.
 */
export async function* metricSamples(chunks: AsyncIterable<Buffer>, left: Left): AsyncGenerator<string> {
  const families = new Map<string, Family>();
  for await (const line of textLines(chunks)) {
    const text = line.trim();
    const [, word, name = '', said = ''] = about.exec(text) ?? [];
    if (word !== undefined) {
      const family = families.get(name) ?? {};
      family[word.toLowerCase() as keyof Family] = word === 'HELP' ? unescaped(said) : said;
      families.set(name, family);
    } else if (text.startsWith('#')) {
      if (text !== '# EOF') left.add(text);
    } else if (text !== '') yield sampleOf(text, families) ?? text;
  }
}

const about = /^#\s*(HELP|TYPE|UNIT)\s+("[^"\\]*(?:\\.[^"\\]*)*"|\S+)\s*(.*)$/;
const quoted = '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"';
const labels = `\\{(?:${quoted}|[^"}])*\\}`;
const samplePattern = new RegExp(
  `^([^\\s{"#]+)?\\s*(${labels})?\\s*([^\\s{#]+)(?:\\s+([^\\s#]+))?(?:\\s+#\\s*(${labels})\\s+(\\S+)(?:\\s+(\\S+))?)?$`,
);
const labelPattern = new RegExp(`\\s*(?:(${quoted}|[^\\s",=]+)\\s*=\\s*)?(${quoted})\\s*(?:,|$)`, 'gy');

function sampleOf(text: string, families: ReadonlyMap<string, Family>): string | undefined {
  const [, bare, set = '{}', value = '', time, ofExample, example = '', exampleTime] =
    samplePattern.exec(text) ?? [];
  const found = labelsIn(set);
  const name = bare ?? found?.get(nameLabel);
  const exemplar = ofExample === undefined ? undefined : labelsIn(ofExample);
  if (found === undefined || name === undefined || !isNumber(value) || !isNumber(time ?? '0'))
    return undefined;
  if (ofExample !== undefined && (exemplar === undefined || !isNumber(example))) return undefined;
  const family: Family = families.get(name) ?? families.get(name.replace(suffix, '')) ?? {};
  return objectOf([
    ['timestamp', time],
    ['value', numberText(value)],
    ['metric', objectOf(textsOf([[nameLabel, name], ...[...found].filter(([key]) => key !== nameLabel)]))],
    ...textsOf(Object.entries(family)),
    [
      'exemplar',
      exemplar &&
        objectOf([
          ['value', numberText(example)],
          ['timestamp', exampleTime],
          ...(exemplar.size > 0 ? [['labels', objectOf(textsOf([...exemplar]))] as const] : []),
        ]),
    ],
  ]);
}

type Member = readonly [name: string, text: string | undefined];

/** Returns an object of the defined members as JSON; a label may have any name. */
function objectOf(members: readonly Member[]): string {
  return `{${members.flatMap(([name, text]) => (text === undefined ? [] : [`${JSON.stringify(name)}:${text}`])).join(',')}}`;
}

function textsOf(members: readonly (readonly [string, string])[]): readonly Member[] {
  return members.map(([name, value]) => [name, JSON.stringify(value)]);
}

/** Label with the name of a metric, as in a Prometheus response. */
const nameLabel = '__name__';

/** Suffixes of sample names after the name of their family. */
const suffix = /_(?:bucket|sum|count|created|total|info|gsum|gcount)$/;

/** Parses the labels between braces; a quoted name alone is that of the metric. Undefined if they are unreadable. */
function labelsIn(braces: string): ReadonlyMap<string, string> | undefined {
  const text = braces.slice(1, -1);
  const found = new Map<string, string>();
  labelPattern.lastIndex = 0;
  while (labelPattern.lastIndex < text.trimEnd().length) {
    const match = labelPattern.exec(text);
    if (match === null) return undefined;
    const [, key = nameLabel, value = ''] = match;
    found.set(key.startsWith('"') ? textIn(key) : key, textIn(value));
  }
  return found;
}

function textIn(between: string): string {
  return unescaped(between.slice(1, -1));
}

function unescaped(text: string): string {
  return text.replace(/\\(["\\n])/g, (_, character) => (character === 'n' ? '\n' : character));
}

const infinite = /^([-+]?)Inf(?:inity)?$/i;

function isNumber(text: string): boolean {
  return infinite.test(text) || /^nan$/i.test(text) || (text !== '' && Number.isFinite(Number(text)));
}

/** Returns a number in JSON, or an extension that the engine reads. */
function numberText(text: string): string {
  const [, sign] = infinite.exec(text) ?? [];
  if (sign !== undefined) return `${sign === '-' ? '-' : ''}Infinity`;
  if (/^nan$/i.test(text)) return 'NaN';
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text) ? text : JSON.stringify(Number(text));
}
