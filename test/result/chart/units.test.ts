import { expect, test } from 'vitest';
import { scaleFor } from '../../../kernel/result/chart/units.js';

test.each<[unit: string, largest: number, shown: number, unit: string]>([
  ['s', 0.15, 150, 'ms'],
  ['s', 0.05, 50, 'ms'],
  ['s', 90, 90, 's'],
  ['s', 7200, 120, 'min'],
  ['s', 10_800, 3, 'h'],
  ['s', 0, 0, 's'],
  ['ms', 1500, 1.5, 's'],
  ['ms', 250, 250, 'ms'],
  ['ns', 2_500, 2.5, '\u00b5s'],
  ['us', 1, 1, '\u00b5s'],
  ['s', 1e-12, 0.001, 'ns'],
  ['bytes', 1536, 1.5, 'KiB'],
  ['decbytes', 1500, 1.5, 'kB'],
  ['mbytes', 2048, 2, 'GiB'],
  ['Bps', 3e6, 3, 'MB/s'],
  ['percentunit', 0.25, 25, '%'],
  ['percent', 25, 25, '%'],
  ['', 0.15, 0.15, ''],
  ['', 999_999, 999_999, ''],
  ['', 90e9, 90e9, ''],
  ['', 5e-300, 5e-300, ''],
  ['curUSD', 3e6, 3e6, 'curUSD'],
  ['constructor', 5, 5, 'constructor'],
])('%j up to %d is drawn as %d %s', (unit, largest, shown, drawnUnit) => {
  const scale = scaleFor(unit, largest);
  expect([Number((largest * scale.factor).toPrecision(12)), scale.unit]).toEqual([shown, drawnUnit]);
});
