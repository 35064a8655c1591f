/**
 * One row of numbers, large enough to be read from afar.
 */
import type { StatChart } from '../model.js';
import { type Drawing, PICTURE_WIDTH, TEXT_COLOR, widest } from './style.js';

/** Returns one view with as many numbers in a row as have room. Neither a number nor a name is cut: it would be another. */
export function statDrawing({ tiles }: StatChart): Drawing {
  const longest = tiles.reduce((most, { text }) => Math.max(most, text.length), 0);
  const size = longest <= 16 ? 30 : 20;
  const names = widest(tiles.map(each => each.name)) * (NAME_SIZE / 11);
  const tile = Math.max(170, Math.ceil(longest * size * 0.6) + 24, Math.ceil(names) + 16);
  const columns = `max(1, min(${tiles.length}, floor(outer / ${tile})))`;
  const place = {
    x: { field: 'x', type: 'quantitative', scale: null, axis: null },
    tooltip: [
      { field: 'n', type: 'nominal', title: 'name' },
      { field: 'e', type: 'nominal', title: 'exact value' },
    ],
  };
  const at = (offset: number) => ({
    y: { field: `y${offset}`, type: 'quantitative', scale: null, axis: null },
  });
  const [name, number] = [16, 52];
  const text = { type: 'text', align: 'left', baseline: 'alphabetic' };
  return {
    views: [
      {
        width: PICTURE_WIDTH - BESIDE,
        height: ROW,
        data: { values: tiles.map((each, i) => ({ i, n: each.name, x0: each.text, e: each.exact })) },
        transform: [
          { calculate: `(datum.i % ${columns}) * ${tile}`, as: 'x' },
          ...[name, number].map(offset => ({
            calculate: `floor(datum.i / ${columns}) * ${ROW} + ${offset}`,
            as: `y${offset}`,
          })),
        ],
        layer: [
          {
            mark: { ...text, fontSize: NAME_SIZE, color: TEXT_COLOR },
            encoding: { ...place, ...at(name), text: { field: 'n', type: 'nominal' } },
          },
          {
            mark: { ...text, fontSize: size, fontWeight: 600, color: TEXT_COLOR },
            encoding: { ...place, ...at(number), text: { field: 'x0', type: 'nominal' } },
          },
        ],
      },
    ],
    labels: {},
    titles: [],
    beside: String(BESIDE),
    height: `ceil(${tiles.length} / ${columns}) * ${ROW}`,
  };
}

const ROW = 74;
const NAME_SIZE = 12;
const BESIDE = 12;
