import { describe, expect, test } from 'vitest';
import { looksFor } from '../../../kernel/result/chart/palette.js';

const red = '#d5443a';
const amber = '#bf7f00';
const blue = '#2a85c7';
const green = '#119a76';
const grey = '#868c96';

describe('colors reflect severity', () => {
  test.each<[readonly string[], readonly string[]]>([
    [
      ['error', 'WARN', 'Info', 'debug'],
      [red, amber, blue, grey],
    ],
    [
      ['fatal', 'critical', 'warning', 'ok'],
      [red, red, amber, green],
    ],
    [
      ['200', '301', '404', '503', '100'],
      [green, blue, amber, red, grey],
    ],
    [
      ['2xx', '5xx', 'null'],
      [green, red, '#7f79c6'],
    ],
  ])('%j', (names, colors) => {
    expect(looksFor(names.map(name => [name])).map(look => look.color)).toEqual(colors);
  });

  test('in any key of the group', () => {
    expect(
      looksFor([
        ['api', 'error'],
        ['api', 'info'],
      ]).map(look => look.color),
    ).toEqual([red, blue]);
  });

  test('names without a severity are not red, amber, blue or green beside names with one', () => {
    const colors = looksFor([['error'], ['one'], ['two'], ['three'], ['four']])
      .slice(1)
      .map(look => look.color);
    for (const color of colors) expect([red, amber, blue, green]).not.toContain(color);
  });
});

test('every line has a distinct look', () => {
  const looks = (names: readonly string[]) =>
    new Set(looksFor(names.map(name => [name])).map(look => JSON.stringify(look))).size;
  expect(looks(Array.from({ length: 10 }, (_, index) => `service ${index}`))).toBe(10);
  expect(looks(['500', '502', '503', '504'])).toBe(4);
  expect(looks(['error', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])).toBe(10);
});

describe('every color', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'].concat('error', 'warn', 'info', 'ok', 'debug');
  const plain = looksFor(names.slice(0, 6).map(name => [name]));
  const graded = looksFor(names.slice(4).map(name => [name]));
  const colors = [...new Set([...plain, ...graded].map(look => look.color))];

  test.each(['#ffffff', '#14171c'])('has enough contrast to %s', background => {
    for (const color of colors) expect(contrast(color, background)).toBeGreaterThanOrEqual(3);
  });

  test.each(Object.entries(deficiencies()))('differs from its neighbors for %s', (_, matrix) => {
    const first = plain.slice(0, 4).map(look => look.color);
    const levels = [red, amber, blue, green];
    for (const set of [first, levels])
      for (const [a, b] of pairs(set)) expect(distance(seen(a, matrix), seen(b, matrix))).toBeGreaterThan(10);
  });
});

type Triple = readonly [number, number, number];

/** Returns simulations of missing cones in linear RGB, after Machado, Oliveira and Fernandes (2009). */
function deficiencies(): Readonly<Record<string, readonly Triple[]>> {
  return {
    protanopia: [
      [0.152286, 1.052583, -0.204868],
      [0.114503, 0.786281, 0.099216],
      [-0.003882, -0.048116, 1.051998],
    ],
    deuteranopia: [
      [0.367322, 0.860646, -0.227968],
      [0.280085, 0.672501, 0.047413],
      [-0.01182, 0.04294, 0.968881],
    ],
    tritanopia: [
      [1.255528, -0.076749, -0.178779],
      [-0.078411, 0.930809, 0.147602],
      [0.004733, 0.691367, 0.3039],
    ],
  };
}

function pairs(colors: readonly string[]): readonly (readonly [string, string])[] {
  return colors.flatMap((a, index) => colors.slice(index + 1).map(b => [a, b] as const));
}

function linear(color: string): Triple {
  const [r, g, b] = [1, 3, 5].map(at => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return [r ?? 0, g ?? 0, b ?? 0];
}

function seen(color: string, matrix: readonly Triple[]): Triple {
  const source = linear(color);
  const [r, g, b] = matrix.map(row =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, weight, index) => sum + weight * (source[index] ?? 0), 0),
      ),
    ),
  );
  return [r ?? 0, g ?? 0, b ?? 0];
}

function luminance([r, g, b]: Triple): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => y - x);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** Returns the distance of two colors in CIE Lab. */
function distance(a: Triple, b: Triple): number {
  const [x, y] = [lab(a), lab(b)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

function lab([r, g, b]: Triple): Triple {
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(luminance([r, g, b]));
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
