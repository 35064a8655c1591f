import { textOf } from './languages/expression.js';
import { translateCommand } from './languages/spl.js';

interface Row {
  readonly written: RegExp;
  readonly instead: (match: RegExpExecArray) => string;
}

/** What other tools write between two pipes; more of them are commands of SPL. */
const rows: readonly Row[] = [
  {
    written:
      /^(?:e?grep|rg|line_contains)\s+(?:-[EFi]+\s+)*(?:(-v)\s+)?(?:-[EFi]+\s+)*(["']?)([^"'\s|\\[\]()*+?^$]+|[^"'|\\[\]()*+?^$]+\2)$/,
    instead: ([, inverts, , text = '']) =>
      `search ${inverts === undefined ? '' : 'not '}${textOf(text.replace(/["']$/, ''))}`,
  },
  { written: /^(?:wc(?:\s+-l)?|length|size|len|consume)(?:\(\))?$/, instead: () => 'count' },
  { written: /^uniq(?:ue)?(?:\(\))?$/, instead: () => 'distinct *' },
  {
    written: /^head(?:\(\s*(\d*)\s*\)|\s+-(?:n\s*)?(\d+))?$/,
    instead: ([, called, option]) => `limit ${called || option || '10'}`,
  },
  {
    written: /^tail(?:\(\s*(\d*)\s*\)|\s+(?:-(?:n\s*)?)?(\d+))?$/,
    instead: ([, called, option]) => `sort by _time desc | limit ${called || option || '10'}`,
  },
  {
    written: /^fields\s+-\s*(.+)$/,
    instead: ([, names = '']) => `project-away ${names.replace(/[\s,]+/g, ', ')}`,
  },
  {
    written: /^(?:select|filter)\((.*\.\w.*)\)$/,
    instead: ([, condition = '']) => `where ${withoutDots(condition)}`,
  },
  { written: /^map\(\s*\.(\w[\w.]*)\s*\)$/, instead: ([, name = '']) => `project ${name}` },
  {
    written: /^(?:group_?by|count_?by|value_counts)\(\s*\.?["']?(\w[\w.]*)["']?\s*\)$/,
    instead: ([, name = '']) => `summarize count() by ${name}`,
  },
  { written: /^unique_by\(\s*\.?(\w[\w.]*)\s*\)$/, instead: ([, name = '']) => `distinct ${name}` },
  {
    written: /^(?:sort_by|sort_values|order_?by|arrange)\(\s*\.?["']?(\w[\w.]*)["']?\s*\)$/,
    instead: ([, name = '']) => `sort by ${name} asc`,
  },
  {
    written: /^(?:nlargest|top)\(\s*(\d+)\s*,\s*["']?(\w[\w.]*)["']?\s*\)$/,
    instead: ([, count = '', name = '']) => `top ${count} by ${name}`,
  },
  { written: /^(?:agg|aggregate)\((.+)\)$/, instead: ([, measures = '']) => `summarize ${measures}` },
  { written: /^(?:keys|describe|info|columns)(?:\(\))?$/, instead: () => 'getschema' },
];

/** A field of jq begins with a dot, and its `and`, `or` are those of APL. */
function withoutDots(condition: string): string {
  return condition.replace(/(^|[\s(])\.(?=[A-Za-z_])/g, '$1');
}

/** Returns a stage of another tool, without the pipe before it, as stages of APL; undefined if it is not known. */
export function translatedStage(text: string): string | undefined {
  for (const { written, instead } of rows) {
    const match = written.exec(text);
    if (match !== null) return instead(match);
  }
  return translateCommand(text);
}
