import { describe, expect, test } from 'vitest';
import { aplParser } from '../../../../kernel/apl/editor/colors/highlight.js';
import { completeCell } from '../../../../kernel/apl/editor/editor-cell.js';
import { QueryText } from '../../../../kernel/apl/syntax/parse.js';
import {
  directivesIn,
  readDirectives,
  withoutRender,
} from '../../../../kernel/apl/syntax/readers/charting.js';
import { environment } from '../../environment.js';

describe('comments at the top of a cell', () => {
  test.each<[string, object]>([
    ['// @viz bar', { kind: 'bar' }],
    [
      '%time last 1h\n\n  //@viz   line  \n// @stack\n// @log\n// @unit MiBy/s\nweb | count',
      { kind: 'line', stack: true, log: true, unit: 'MiBy/s' },
    ],
    ['// @beside\nweb', { beside: true }],
    ['// about vizzes\n// @author ann\nweb', {}],
  ])('%j', (cell, chart) => expect(readDirectives(cell)).toEqual({ chart, diagnostics: [] }));

  test.each<[string, string, string | undefined, string]>([
    ['// @viz pice', 'unknown chart type `pice`', 'pie', 'pice'],
    ['// @viz', '`@viz` requires a chart type', undefined, '@viz'],
    ['// @vis bar', 'unknown directive `@vis`', 'viz', 'vis'],
    ['// @stack yes', '`@stack` takes no value', '', 'yes'],
    ['// @unit', '`@unit` needs a unit', undefined, '@unit'],
    ['// @beside 2', '`@beside` takes no value', '', '2'],
    ['// @besid', 'unknown directive `@besid`', 'beside', 'besid'],
    ['// @annotations', '`@annotations` requires `on` or `off`', undefined, '@annotations'],
    ['// @annotations offf', '`@annotations` must be `on` or `off`, not `offf`', 'off', 'offf'],
  ])('report an error and a fix for %j', (cell, message, instead, place) => {
    const { diagnostics } = readDirectives(`${cell}\nweb`);
    expect(
      diagnostics.map(each => [each.severity, each.message, each.instead, cell.slice(each.from, each.to)]),
    ).toEqual([['error', message, instead, place]]);
  });

  test.each([
    ['web\n  // @viz bar\n| count', ['`@viz` has no effect here']],
    ['web\n| count\n// @stack\n// @author ann\n// about @viz', ['`@stack` has no effect here']],
    ['print ```\n// @viz bar\n```', []],
  ])('are reported below the first line of the query: %j', (cell, messages) => {
    const { chart, diagnostics } = readDirectives(cell);
    expect([chart, diagnostics.map(({ message }) => message)]).toEqual([{}, messages]);
  });

  test('are found with their spans', () => {
    const cell = '%time last 1h\n// @viz  bar';
    const [found] = directivesIn(cell);
    expect([found?.name, found?.value].map(span => cell.slice(span?.from, span?.to))).toEqual(['viz', 'bar']);
  });
});

describe('chart comments in an editor', () => {
  const offered = (cell: string) =>
    completeCell(cell, cell.length, environment).items.map(({ label }) => label);
  test.each<[string, readonly string[]]>([
    ['// @', ['viz', 'stack', 'log', 'unit', 'annotations', 'beside']],
    ['// @annotations o', ['on', 'off']],
    ['// @unit m', []],
    ['%time last 1h\n// @v', ['viz']],
    ['// @viz s', ['scatter', 'shares', 'stat']],
  ])('complete %j', (cell, labels) => expect(offered(cell)).toEqual(labels));

  test.each<[string, readonly string[]]>([
    ['// @viz bar\nweb', ['MagicName @viz', 'MagicArguments bar']],
    ['web\n// @viz bar', []],
    ['// about @viz\nweb', []],
  ])('are highlighted only as directives: %j', (cell, nodes) => {
    const found: string[] = [];
    aplParser()
      .parse(cell)
      .iterate({
        enter: ({ name, from, to }) =>
          void (name.startsWith('Magic') && found.push(`${name} ${cell.slice(from, to)}`)),
      });
    expect(found).toEqual(nodes);
  });
});

describe('render', () => {
  test.each<[string, string, object]>([
    ['web | count', 'web | count', {}],
    ['web | count | render piechart', 'web | count', { kind: 'pie' }],
    [
      'web | count\n| render timechart with (title="a | b", yaxis=log, legend=hidden) // why',
      'web | count // why',
      { kind: 'line', title: 'a | b', log: true, legend: false },
    ],
    ['web | render areachart with (kind=stacked)', 'web', { kind: 'area', stack: true }],
    ['web | render stackedareachart with (kind=unstacked)', 'web', { kind: 'area', stack: false }],
    ['web | render table', 'web', { kind: 'none' }],
    ["web | where s == '| render bar'", "web | where s == '| render bar'", {}],
    ['let a = 1;\nweb | where x > a | // how\nrender bar', 'let a = 1;\nweb | where x > a', { kind: 'bar' }],
  ])('is removed from a query before it is sent: %j', (written, text, chart) => {
    const found = withoutRender(new QueryText(written));
    expect({ text: found.query.text, chart: found.chart }).toEqual({ text, chart });
    const kinds = (query: QueryText) => query.pipeline?.operators.map(({ kind }) => kind);
    expect(kinds(found.query)).toEqual(kinds(new QueryText(text)));
  });

  test.each(['web | render nonsense', 'web | render', 'web | render bar with (colour=red)'])(
    'with an error is left to the service: %j',
    text => {
      const query = new QueryText(text);
      expect(withoutRender(query)).toEqual({ query, chart: {} });
    },
  );
});
