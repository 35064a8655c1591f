import { expect, test } from 'vitest';
import { ruleCaption, ruleData } from '../../../../kernel/result/chart/draw/draw-rules.js';

const rule = (t: number, end?: number) => ({
  ...{ t, label: `at ${t}`, type: 'deploy', text: '' },
  ...(end === undefined ? {} : { end }),
});
const axis = { start: 10, end: 20 } as Parameters<typeof ruleData>[1];
const edge = (t: number, of = t) => ({ t, f: of, n: `at ${of}`, k: 'deploy', d: '' });

test('an annotation has an edge at each end within the axis', () => {
  expect(ruleData([rule(10), rule(20), rule(5, 10), rule(5, 15), rule(15, 25), rule(5, 25)], axis)).toEqual([
    {
      name: 'ruleBands',
      values: [
        { t: 10, e: 10 },
        { t: 10, e: 15 },
        { t: 15, e: 20 },
        { t: 10, e: 20 },
      ],
    },
    { name: 'ruleEdges', values: [edge(10), edge(20), edge(10, 5), edge(15, 5), edge(15)] },
    {
      name: 'ruleLabels',
      values: [10, 20, 10, 10, 15, 10].map((t, at) => ({ t, n: `at ${[10, 20, 5, 5, 15, 5][at]}` })),
    },
  ]);
  expect(ruleData([], axis)).toEqual([]);
});

test('a chart says where to read its annotations', () => {
  expect(ruleCaption([], true)).toEqual([]);
  expect(ruleCaption([rule(10)], true)).toEqual(['1 annotation, named under the pointer']);
  expect(ruleCaption([rule(10), rule(11)], false)).toEqual(['2 annotations, labeled where there is room']);
});
