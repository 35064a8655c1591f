/**
 * Values as colours: a deeper colour is a greater value, on light and on dark.
 */
import type { Cell, HeatChart } from '../model.js';
import { RULE_LABELS_HEIGHT, ruleLayers } from './rules.js';
import {
  BESIDE_WIDTH,
  type Drawing,
  LABELS_SIGNAL,
  LABELS_WIDTH,
  namesBelow,
  namesBeside,
  PICTURE_WIDTH,
  TICKS,
  titleAbove,
  titlePlace,
} from './style.js';
import { timeGuide } from './xy.js';

/** Returns one view: time or names across, numbers or names up. */
export function heatDrawing(chart: HeatChart, interactive: boolean): Drawing {
  const { rows, axis } = chart;
  const names = isNames(rows) ? namesBeside(rows, rowId) : undefined;
  const height = isNames(rows) ? Math.max(3, rows.length) * ROW_HEIGHT : HEIGHT;
  return {
    views: [
      {
        width: PICTURE_WIDTH - BESIDE_WIDTH,
        height,
        ...withRules(
          {
            data: { values: chart.cells.map(cell => rowOf(cell, chart)) },
            transform: [
              { calculate: `${LABELS_SIGNAL}[datum.r]`, as: 'n' },
              { calculate: `${LABELS_SIGNAL}[datum.c]`, as: 'm' },
            ],
            mark: 'rect',
            encoding: {
              ...across(chart),
              ...upwards(chart),
              color: colors(chart),
              tooltip: tooltip(chart),
            },
          },
          chart,
          interactive,
        ),
      },
    ],
    labels: { ...names?.labels, ...(isNames(axis) ? namesBelow(axis, columnId).labels : {}) },
    titles: [isNames(rows) ? '' : rows.title, chart.unit],
    beside: names === undefined ? String(BESIDE_WIDTH) : `${names.width} + 30`,
    signals: names === undefined ? [] : [names.signal],
  };
}

/** The cells, and the rules over them. */
function withRules(cells: object, { axis, rules = [] }: HeatChart, interactive: boolean): object {
  if (isNames(axis) || rules.length === 0) return cells;
  const { below, above } = ruleLayers(rules, axis, { isFirst: true, interactive });
  return { layer: [cells, ...below, ...above] };
}

const HEIGHT = 220;
const ROW_HEIGHT = 22;

function isNames<T>(names: readonly string[] | T): names is readonly string[] {
  return Array.isArray(names);
}

function rowId(index: number): string {
  return `r${index}`;
}

function columnId(index: number): string {
  return `c${index}`;
}

function rowOf({ x, width, y, height, v }: Cell, { axis, rows }: HeatChart): object {
  return {
    ...(isNames(axis) ? { c: columnId(x) } : { t: x, e: x + width }),
    ...(isNames(rows) ? { r: rowId(y) } : { y, z: y + height }),
    v,
  };
}

function across({ axis }: HeatChart): object {
  if (!isNames(axis))
    return {
      x: {
        field: 't',
        type: 'temporal',
        scale: { type: 'utc', nice: false },
        axis: timeGuide(axis.start, axis.end, true),
      },
      x2: { field: 'e' },
    };
  return {
    x: {
      ...{ field: 'c', type: 'nominal', sort: null },
      scale: { domain: axis.map((_, index) => columnId(index)), padding: 0.04 },
      axis: namesBelow(axis, columnId).guide,
    },
  };
}

function upwards({ rows, rules = [] }: HeatChart): object {
  if (!isNames(rows))
    return {
      y: {
        ...{ field: 'y', type: 'quantitative' },
        scale: { domain: [rows.low, rows.high], zero: false, nice: TICKS },
        axis: {
          ...titleAbove(0, rules.length === 0 ? 0 : RULE_LABELS_HEIGHT),
          tickCount: TICKS,
          minExtent: LABELS_WIDTH,
          maxExtent: LABELS_WIDTH,
        },
      },
      y2: { field: 'z' },
    };
  return {
    y: {
      ...{ field: 'r', type: 'nominal', sort: null },
      scale: { domain: rows.map((_, index) => rowId(index)), padding: 0.06 },
      axis: namesBeside(rows, rowId).guide,
    },
  };
}

/** Shades of one colour: the least can still be seen, on light and on dark. */
const SHADES = ['rgba(42, 133, 199, 0.12)', 'rgba(42, 133, 199, 1)'];

function colors({ least, most, isLog }: HeatChart): object {
  const low = least < most ? least : isLog ? most / 10 : most - 1;
  return {
    field: 'v',
    type: 'quantitative',
    scale: { type: isLog ? 'log' : 'linear', domain: [low, most], range: SHADES, zero: false, nice: false },
    legend: {
      ...{ title: titlePlace(1), orient: 'bottom', direction: 'horizontal', tickCount: TICKS },
      gradientLength: { expr: 'min(260, width - 20)' },
    },
  };
}

function tooltip({ axis, rows }: HeatChart): readonly object[] {
  const format = ',.12~r';
  return [
    isNames(axis)
      ? { field: 'm', type: 'nominal', title: 'column' }
      : {
          ...{
            field: 't',
            type: 'temporal',
            title: 'time (UTC)',
            timeUnit: 'utcyearmonthdatehoursminutesseconds',
          },
          format: '%Y-%m-%d %H:%M:%S',
        },
    ...(isNames(rows)
      ? [{ field: 'n', type: 'nominal', title: 'row' }]
      : [
          { field: 'y', type: 'quantitative', title: 'from', format },
          { field: 'z', type: 'quantitative', title: 'to', format },
        ]),
    { field: 'v', type: 'quantitative', title: 'value', format },
  ];
}
