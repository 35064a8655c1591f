import { gzipSync } from 'node:zlib';
import { lines, testTraps, useService } from '../readers/traps.js';

useService();

const leftOut = 'Terminal color codes are removed.';
const red = (text: string) => `\x1b[31;1m${text}\x1b[0m`;

const leveled = lines(
  `${red('2024-05-01T10:00:00Z')} ${red('INFO')} a`,
  `\x1b[2m2024-05-01T10:00:01Z\x1b[0m ${red(' WARN')} b`,
  '',
);
/** Longer than a chunk, so that an escape code crosses a chunk boundary. */
const long = Array.from(
  { length: 3_000 },
  (_, index) => `2024-05-01T10:00:00Z ${red('INFO')} ${'x'.repeat(index % 97)}\n`,
).join('');

testTraps([
  ...[Buffer.from(leveled), gzipSync(leveled)].map((content, packed) => ({
    what: `colors in a log${packed === 1 ? ', compressed' : ''}`,
    name: packed === 1 ? 'app.log.gz' : 'app.log',
    content,
    select: '_time, level, message',
    values: ['2024-05-01 10:00:00|INFO|a', '2024-05-01 10:00:01|WARN|b'],
    notes: [leftOut, 'The lines are read as lines with a time and a level.'],
  })),
  {
    what: 'colors at the edges of read chunks',
    name: 'app.log',
    content: long,
    select: "count(*), count(*) FILTER (level = 'INFO'), max(length(message))",
    values: ['3000|3000|96'],
    notes: [leftOut, 'The lines are read as lines with a time and a level.'],
  },
  {
    what: 'a colored time before container text',
    name: 'app.log',
    content: `${red('web_1  |')} [\x1b[2m01/May/2024:10:00:00 +0000\x1b[0m] a\n`,
    select: '_time, service, message',
    values: ['2024-05-01 10:00:00|web_1|[01/May/2024:10:00:00 +0000] a'],
    notes: [leftOut, 'The lines are read as container lines (docker compose logs).'],
  },
  {
    what: 'a code in a CSV is a value',
    name: 'in.csv',
    content: `time,v\n2024-05-01T10:00:00Z,${red('a')}\n`,
    select: 'v',
    values: [red('a')],
    notes: [],
  },
]);
