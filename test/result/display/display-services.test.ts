import { describe, expect, test } from 'vitest';
import { type Figures, mapSvg, mapText } from '../../../kernel/result/display/display-services.js';

const figures = (calls: number, failed: number): Figures => ({
  ...{ calls, failed, rate: calls / 60, p50: '1ms', p95: '20ms' },
});

test('a text map of services has a line for each service and its calls', () => {
  const services = [
    { name: 'web', figures: figures(120, 0) },
    { name: 'cart', figures: figures(60, 0.05) },
    { name: 'db', figures: figures(6, 0) },
  ];
  const calls = [
    { caller: undefined, service: 'web', figures: figures(120, 0) },
    { caller: 'web', service: 'cart', figures: figures(60, 0.05) },
    { caller: 'web', service: 'db', figures: figures(3, 0) },
    { caller: 'cart', service: 'db', figures: figures(3, 0) },
  ];
  expect(mapText('Services', services, calls).split('\n')).toEqual([
    'Services',
    '3 services and 3 call paths between them; 1 service with 1% or more failed requests, in red.',
    '',
    'web: 2/s, p95 20ms → cart, db',
    'cart: 1/s, 5% failed, p95 20ms → db',
    'db: 6/min, p95 20ms',
  ]);
});

test('the direction of a call to or from a right-to-left name is not reversed', () => {
  const [shop, cart] = ['\u05d7\u05e0\u05d5\u05ea', '\u05e2\u05d2\u05dc\u05d4'];
  const services = [shop, cart].map(name => ({ name, figures: figures(60, 0) }));
  const calls = [{ caller: shop, service: cart, figures: figures(60, 0) }];
  const [from, to] = [shop, cart].map(name => `\u2068${name}\u2069`);
  expect(mapText('Services', services, calls)).toContain(`${from}: 1/s, p95 20ms \u2192 ${to}\n`);
  expect(mapSvg('Services', services, calls)).toContain(`<title>${from} \u2192 ${to}: 60 requests`);
});

describe('a map of services', () => {
  const drawn = (names: readonly string[], pairs: readonly (readonly [string | undefined, string])[]) => {
    const svg = mapSvg(
      'Services',
      names.map(name => ({ name, figures: figures(60, 0) })),
      pairs.map(([caller, service]) => ({ caller, service, figures: figures(60, 0) })),
    );
    const boxes = new Map(
      [
        ...svg.matchAll(/<g><title>(\w+): [^<]*<\/title><rect x="(\d+)" y="(\d+)" width="156" height="58"/g),
      ].map(([, name = '', x, y]) => [
        name,
        { left: Number(x), right: Number(x) + 156, middle: Number(y) + 29 },
      ]),
    );
    const lines = [
      ...svg.matchAll(/<path d="M(\S+) (\S+?)([A-Z][^"]*)" fill="none"[^>]*><title>(.*?) \u2192 (\w+):/g),
    ].map(([, x, y, path = '', caller = '', service = '']) => {
      const numbers = path.match(/-?[\d.]+/g)?.map(Number) ?? [];
      return { caller, service, start: [Number(x), Number(y)], numbers };
    });
    const height = Number(/<svg [^>]*height="(\d+(?:\.\d+)?)"/.exec(svg)?.[1]);
    return { boxes, lines, height };
  };

  test.each<readonly [string, readonly (readonly [string, string])[]]>([
    [
      'a chain',
      [
        ['web', 'cart'],
        ['cart', 'db'],
      ],
    ],
    [
      'a call past a column',
      [
        ['web', 'cart'],
        ['cart', 'db'],
        ['web', 'db'],
      ],
    ],
    [
      'a cycle',
      [
        ['web', 'cart'],
        ['cart', 'web'],
        ['web', 'db'],
        ['db', 'web'],
      ],
    ],
    [
      'a call to itself',
      [
        ['web', 'web'],
        ['web', 'cart'],
        ['web', 'db'],
      ],
    ],
    [
      'calls from below to above',
      [
        ['web', 'a'],
        ['web', 'b'],
        ['web', 'c'],
        ['c', 'web'],
        ['c', 'a'],
        ['b', 'c'],
      ],
    ],
  ])('draws each call of %s from its caller to its service', (_, pairs) => {
    const names = [...new Set(pairs.flat())];
    const { boxes, lines } = drawn(names, pairs);
    expect([...boxes.keys()].toSorted()).toEqual(names.toSorted());
    expect(lines.map(({ caller, service }) => [caller, service])).toEqual(pairs);
    for (const { caller, service, start, numbers } of lines) {
      const [from, to] = [boxes.get(caller), boxes.get(service)];
      expect(start).toEqual([from?.right, from?.middle]);
      expect(numbers.slice(-2)).toEqual([(to?.left ?? 0) - 2, to?.middle]);
    }
  });

  test('draws requests from outside to the left of their service', () => {
    const { boxes, lines } = drawn(
      ['web', 'cart'],
      [
        [undefined, 'web'],
        [undefined, 'cart'],
        ['web', 'cart'],
      ],
    );
    for (const { service, start, numbers } of lines.slice(0, 2)) {
      const to = boxes.get(service);
      expect(start).toEqual([(to?.left ?? 0) - 30, to?.middle]);
      expect(numbers).toEqual([(to?.left ?? 0) - 2]);
    }
    expect(lines.map(({ caller }) => caller)).toEqual(['from outside', 'from outside', 'web']);
  });

  test('has room below for calls that go back', () => {
    const { boxes, lines, height } = drawn(
      ['web', 'cart'],
      [
        ['web', 'cart'],
        ['cart', 'web'],
      ],
    );
    const back = lines.find(({ start, numbers }) => Number(numbers.at(-2)) < Number(start[0]));
    const middle = boxes.get('web')?.middle ?? 0;
    // The lowest point of a curve whose two control points are equally low.
    const lowest = middle + 0.75 * ((back?.numbers[1] ?? 0) - middle);
    expect(back?.numbers[1]).toBe(back?.numbers[3]);
    expect(height).toBe(lowest + 12);
  });
});
