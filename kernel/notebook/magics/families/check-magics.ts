import { differenceText, isUnchanged, type RowChange } from '../../../result/compare.js';
import { safeWords } from '../../../result/display/summary.js';
import type { QueryResult } from '../../../result/result.js';
import { readThrough, shortfallSentences, shortfallText } from '../../../result/shortfall.js';
import { plural } from '../../../text.js';
import type { Session } from '../../session.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say, tableOutput, textOutput } from '../output.js';

/** The magics that check results, in help order. */
export const checkMagics: readonly Magic[] = [
  {
    name: 'assert',
    usage: '%assert CONDITION',
    options: [],
    summary:
      'fail the cell unless the result of its last query meets a condition; the message includes the figures',
    help: [
      'In a cell without a query, checks the last result. A failed assertion makes `apl-kernel run` exit with 1, so a notebook can check data unattended.',
      '',
      '- `%assert rows > 0`, `%assert columns == 3`',
      '- `%assert no_nulls(user)`, `%assert unique(id)`, `%assert nulls(city) < 10`',
      '- `%assert max(p99) < 500 and min(p99) > 0`: also `sum`, `avg` and `dcount`, of a field of the result',
      '- `%assert max(_time) >= datetime(2026-01-01)`, `%assert max(duration) < 5m`',
      '',
      'Checks only the fetched rows. A comparison with a missing figure, such as the maximum of an empty result, is false.',
    ].join('\n'),
    arity: [1, Number.POSITIVE_INFINITY],
    effects: [],
    verbatim: true,
    run: check,
  },
  {
    name: 'diff',
    usage: '%diff BEFORE AFTER [--key FIELD,…] [--tolerance RATIO]',
    options: [
      {
        name: 'key',
        value: 'FIELD,…',
        summary:
          'the fields that identify a row (default: the fields of `summarize … by`, otherwise all except real numbers)',
      },
      {
        name: 'tolerance',
        value: 'RATIO',
        summary: 'the allowed relative difference between real numbers, such as 0.01 (default: none)',
      },
    ],
    summary: 'show how two named results differ: rows added, removed and changed',
    help: 'Names come from `name << query`; `_` is the last result. Compares only the fetched rows.\n\n    %diff before after --key uri',
    arity: [2, 2],
    effects: [],
    run: diff,
  },
];

/** Checks the result of the cell once its queries have run. */
async function check({ raw, magic }: MagicCall, { session, io, plan }: MagicHost): Promise<void> {
  const condition = raw.trim();
  if (condition === '') throw usageError(magic, 'give a condition');
  const { assertResult } = await import('../../assertion.js');
  const test = (result: QueryResult | undefined) => {
    if (result === undefined) throw usageError(magic, 'no query has run yet');
    say(
      io,
      [`holds:  ${condition} (${assertResult(condition, result)})`, ...shortfallSentences(result)].join(' '),
    );
  };
  if (plan.queries.length === 0) test(session.results.named('_')?.result);
  else plan.afterRun.push(async results => test(results.at(-1)?.result));
}

async function diff({ words, options, magic }: MagicCall, { session, io }: MagicHost): Promise<void> {
  const [before, after] = words.map(name => tableNamed(session, name));
  if (before === undefined || after === undefined) return;
  const tolerance = Number(options.get('tolerance') ?? 0);
  if (!(tolerance >= 0 && tolerance < 1))
    throw usageError(magic, '--tolerance is a number from 0 to less than 1');
  const names = before.data.schema.fields.map(({ name }) => name);
  const asked = options.get('key')?.split(',');
  const unknown = asked?.find(name => !names.includes(name));
  if (unknown !== undefined) throw usageError(magic, `${words[0]} has no field ${unknown}`);
  const { compareTables } = await import('../../../result/compare.js');
  const key = asked ?? before.info.groups.map(({ name }) => name);
  const changes = compareTables(before.data, after.data, { key, tolerance, examples: SHOWN });
  const short = words.flatMap(name => shortfallLines(session, name));
  if (isUnchanged(changes)) {
    const same = `${words[0]} and ${words[1]} are the same: ${plural(changes.same, 'row')}`;
    io.display(textOutput([...short, same].join('\n')));
    return;
  }
  const total = changes.added + changes.removed + changes.changed;
  const rest = total > SHOWN ? `\nThe first ${SHOWN} of ${plural(total, 'row')} that differ are shown.` : '';
  const caption = [...short, `${words[0]} -> ${words[1]}: ${differenceText(changes)}${rest}`].join('\n');
  const both = new Set([...names, ...after.data.schema.fields.map(({ name }) => name)]);
  const columns = [...both].filter(name => changes.examples.some(change => textOf(change, name) !== ''));
  const rows = changes.examples.map(change => [change.kind, ...columns.map(name => textOf(change, name))]);
  io.display(tableOutput(['row', ...columns], rows, caption));
}

/** Maximum rows of a difference to show. */
const SHOWN = 100;

function tableNamed(session: Pick<Session, 'results'>, name: string): QueryResult['tables'][number] {
  const table = session.results.named(name)?.result.tables[0];
  if (table !== undefined) return table;
  const names = session.results
    .names()
    .filter(each => each !== '_')
    .join(', ');
  throw new MagicError(
    `%diff: there is no result ${name}`,
    `\`${name} << query\` names one. ${names === '' ? 'No result has a name yet.' : `Named results: ${names}.`}`,
  );
}

/** Describes why the rows of a result are incomplete, one line per reason. */
function shortfallLines(session: Pick<Session, 'results'>, name: string): readonly string[] {
  const result = session.results.named(name)?.result;
  const found = result === undefined ? [] : readThrough(name, result);
  return [...new Set(found.map(each => `${safeWords(shortfallText(each))}.`))];
}

/** Formats a cell of a change: its value, or both with an arrow; empty if it is neither a key nor changed. */
function textOf(change: RowChange, column: string): string {
  if (change.kind !== 'changed')
    return (Object.hasOwn(change.cells, column) ? change.cells[column] : null) ?? 'null';
  const cell = change.cells.find(each => each.column === column);
  if (cell !== undefined) return `${cell.before ?? 'null'} \u2192 ${cell.after ?? 'null'}`;
  return Object.hasOwn(change.key, column) ? (change.key[column] ?? 'null') : '';
}
