/** A query on a page, and the result printed for it. */
export interface PageExample {
  readonly apl: string;
  /** Line number on the page, from 1. */
  readonly line: number;
  readonly output?: PrintedTable;
}

export interface PrintedTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Returns the queries in the Markdown of a page; syntax descriptions do not count. */
export function examplesIn(markdown: string): PageExample[] {
  const lines = markdown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').split('\n');
  const found: PageExample[] = [];
  let heading = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('#')) heading = line;
    const fence = /^\s*(`{3,})\s*(\w*)/.exec(line);
    if (fence === null) continue;
    const [, ticks = '', language = ''] = fence;
    const end = lines.findIndex((each, index) => index > at && each.trim() === ticks);
    if (end < 0) break;
    const apl = lines
      .slice(at + 1, end)
      .join('\n')
      .trim();
    if (/^(kusto|apl|kql)$/.test(language) && !/syntax/i.test(heading) && /^[\w[(/"']/.test(apl)) {
      const output = outputAfter(lines, end + 1);
      const stated = statedIn(apl, at + 1);
      if (stated.length > 0) found.push(...stated);
      else found.push({ apl, line: at + 1, ...(output === undefined ? {} : { output }) });
    }
    at = end;
  }
  return found;
}

/** Returns the expressions of a block whose lines end with their value as a comment. */
function statedIn(block: string, line: number): PageExample[] {
  return block.split('\n').flatMap((text, index) => {
    const [, expression = '', value = ''] =
      /^([^|]+?)\s*\/\/\s*(true|false|-?[\d.]+)$/i.exec(text.trim()) ?? [];
    if (expression === '') return [];
    const output = { columns: ['value'], rows: [[value.toLowerCase()]] };
    return [{ apl: `print value = ${expression}`, line: line + index + 1, output }];
  });
}

/** Returns the table after a query, before the next query or heading. */
function outputAfter(lines: readonly string[], from: number): PrintedTable | undefined {
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^\s*(#|`{3,}|<\/?(Tab|Accordion))/.test(line)) return undefined;
    if (!line.trimStart().startsWith('|')) continue;
    const table: string[][] = [];
    for (let row = at; lines[row]?.trimStart().startsWith('|'); row += 1) table.push(cells(lines[row] ?? ''));
    const [columns = [], rule = [], ...rows] = table;
    if (!rule.every(cell => /^:?-+:?$/.test(cell))) return undefined;
    return { columns: columns.map(name => name.replace(/^\['(.*)'\]$/, '$1')), rows };
  }
  return undefined;
}

/** Returns the cells of a table line, without code and emphasis markup around them. */
function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map(cell =>
      cell
        .trim()
        .replace(/\\([|_*[\]{}<>])/g, '$1')
        .replace(/^`([^`]*)`$/, '$1')
        .replace(/^\*\*(.*)\*\*$/, '$1'),
    );
}
