import { describe, expect, test } from 'vitest';
import { hover, signatureHelp } from '../../../../kernel/apl/editor/help/hover.js';
import { cursorOf, environment } from '../../environment.js';

/** Checks the hovered text at `$0` and the first line of its documentation. */
function check(marked: string, expected: readonly [about: string, says: string] | undefined): void {
  const { text, offset } = cursorOf(marked);
  const found = hover(text, offset, environment);
  const shown = found && [text.slice(found.from, found.to), found.markdown.split('\n')[0]];
  expect(shown).toEqual(expected);
}

describe('hover explains', () => {
  test.each<readonly [string, readonly [string, string] | undefined]>([
    ['web | wh$0ere status > 1', ['where', '`T | where predicate`']],
    ['web | project-a$0way status', ['project-away', '`T | project-away field, pattern*, …`']],
    ['web | take$0 5', ['take', '`T | take [number]`']],
    ['pr$0int 1', ['print', '`print [name =] expression, …`']],
    ["print 'a' !has$0 'b'", ['!has', '`a !has b`']],
    ["print 'a' matches reg$0ex 'b'", ['regex', '`a matches regex "pattern"`']],
    ['print 1 =$0= 2', ['==', '`a == b`']],
    ['print strl$0en("a")', ['strlen', '`strlen(text: string) -> long`']],
    ['print strlen("a")$0', ['strlen("a"', '`strlen(text: string) -> long`']],
    ['print strlen("a"$0)', ['strlen("a"', '`strlen(text: string) -> long`']],
    ['print strlen($0"a")', ['strlen(', '`strlen(text: string) -> long`']],
    [
      'web | summarize percent$0ile(duration, 95)',
      ['percentile', '`percentile(value: number, percentile: real) -> real`'],
    ],
    ['web | where sta$0tus > 1', ['status', 'field `status`: integer, of `web`']],
    ['web | where dur$0ation > 1', ['duration', 'field `duration`: float, in `ms`, of `web`']],
    ["web | where ['geo.c$0ity'] == 1", ["['geo.city']", 'field `geo.city`: string, of `web`']],
    ['web | where geo.ci$0ty == 1', ['geo.city', 'field `geo.city`: string, of `web`']],
    ['web | where attributes.us$0er == 1', ['attributes.user', 'property `user`: dynamic']],
    ['web | where attr$0ibutes.user == 1', ['attributes', 'field `attributes`: dynamic, of `web`']],
    ['web | extend doub$0led = status * 2', ['doubled', 'field `doubled`: integer']],
    ['web | summarize n$0 = count() by method', ['n', 'field `n`: integer']],
    ['web | extend d = 1.5 | where d$0 > 1', ['d', 'field `d`: float']],
    ['web | project-rename s = status | where s$0 > 1', ['s', 'field `s`: integer, of `web`']],
    ['web | project-away stat$0us', ['status', 'field `status`: integer, of `web`']],
    ['web | join (spans) on $right.trace_id == met$0hod', ['method', 'field `method`: string, of `web`']],
    ['we$0b | count', ['web', 'dataset `web`']],
    ['web | join (spa$0ns) on _time', ['spans', 'dataset `spans`']],
    ['let lim$0it = 5m; web | where duration > limit', ['limit', 'let `limit`: timespan']],
    ['let limit = 5m; web | where duration > lim$0it', ['limit', 'let `limit`: timespan']],
    ['let t = web | project status; t$0 | count', ['t', 'let `t`, a table']],
    ['datatable(a:lo$0ng)[1]', ['long', 'type `long`']],
    ['web | mv-expand attributes to typeof(da$0tetime)', ['datetime', 'type `datetime`']],
    ['web | where noth$0ing', undefined],
    ['web // com$0ment', undefined],
    ['nothing$0 | count', undefined],
    ['strlen$0', ['strlen', '`strlen(text: string) -> long`']],
    ['web | where strl$0en', ['strlen', '`strlen(text: string) -> long`']],
    ['$0', undefined],
  ])('%s', check);

  test('a dataset with its fields, with markup in descriptions escaped', () => {
    expect(hover('web', 1, environment)?.markdown.split('\n').slice(0, 4)).toEqual([
      'dataset `web`',
      '',
      '- `_time`: datetime',
      '- `status`: integer',
    ]);
    const hostile = (name: string, description: string) => ({
      ...environment,
      schema: () => ({
        ...{ name: 't', open: false },
        fields: [{ name, type: 'string', description } as const],
      }),
    });
    const quoted = hover("t | where ['a`b'] == ''", 13, hostile('a`b', '<img src=x>\n\n# [x](y) $z$'));
    expect(quoted?.markdown).toBe(
      'field `` a`b ``: string, of `t`\n\n\\<img src=x\\> \\# \\[x\\](y) <span>\\$</span>z<span>\\$</span>',
    );
    expect(quoted?.plain).toBe('field a`b: string, of t\n\n<img src=x> # [x](y) $z$');
    const lines = hover("t | where ['a\\n\\n# b'] == ''", 13, hostile('a\n\n# b', ''));
    expect(lines?.markdown).toBe('field `a\u21b5\u21b5# b`: string, of `t`');
  });

  test('the argument at the cursor', () => {
    const last = (marked: string): string | undefined => {
      const { text, offset } = cursorOf(marked);
      return hover(text, offset, environment)?.markdown.split('\n').at(-1);
    };
    expect(
      ['print substring("a", 1$0, 2)', 'print substring($0"a", 1, 2)', 'print strcat("a", "b", "$0c")'].map(
        last,
      ),
    ).toEqual([
      'The argument here is `start: long`.',
      'The argument here is `text: string`.',
      'The argument here is `[...more: any]`.',
    ]);
    expect(last('print strlen("a")$0')?.startsWith('gives')).toBe(true);
  });

  test.each([
    ['bool', 'True or false.'],
    ['boolean', 'True or false.'],
    ['long', 'A 64-bit integer; also int.'],
    ['int', 'A 64-bit integer; also int.'],
    ['real', 'A 64-bit floating-point number; also double.'],
    ['double', 'A 64-bit floating-point number; also double.'],
    ['string', 'A Unicode string.'],
    ['datetime', 'A UTC timestamp with nanosecond precision.'],
    ['timespan', 'A duration with nanosecond precision.'],
    ['dynamic', 'An array, a map, or any other JSON value.'],
  ])('the type %s', (name, says) => {
    expect(hover(`datatable(a:${name})[1]`, 12, environment)?.markdown.split('\n').at(-1)).toBe(says);
  });

  test('in plain text as well', () => {
    expect(hover('web | where status > 1', 14, environment)?.plain).toBe(
      'field status: integer, of web\n\nHTTP status',
    );
  });
});

describe('signature help', () => {
  test.each<readonly [string, readonly [string, number] | undefined]>([
    ['print strlen($0', ['strlen', 0]],
    ['print substring("a", $0', ['substring', 1]],
    ['print substring(strcat("a", "b"), 1, $0', ['substring', 2]],
    ['print substring(strcat("a", $0', ['strcat', 1]],
    ['print strcat("a", "b", "c", $0', ['strcat', 1]],
    ['web | where strlen(method) > $0', undefined],
    ['web | where nothing($0', undefined],
    ['web | summarize percentile(duration, $0', ['percentile', 1]],
    ['print strlen("a", $0', ['strlen', 1]],
    ['print strcat(dynamic([1, 2])[$0', ['strcat', 0]],
  ])('%s', (marked, expected) => {
    const { text, offset } = cursorOf(marked);
    const found = signatureHelp(text, offset);
    expect(found && [found.label.split('(')[0], found.active]).toEqual(expected);
  });

  test('describes each parameter', () => {
    expect(signatureHelp('print extract(', 14)?.parameters).toEqual([
      { label: 'regex: string' },
      { label: 'capture_group: long', doc: '0 for the whole match, 1 for the first group, and so on.' },
      { label: 'text: string' },
    ]);
  });
});
