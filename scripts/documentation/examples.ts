/** A query of a page, and the result that the page prints for it. */
export interface PageExample {
  readonly apl: string;
  /** Of the page, from 1. */
  readonly line: number;
  readonly output?: PrintedTable;
}

export interface PrintedTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Returns the queries in the Markdown of a page; those that show a syntax are none. */
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

/** The expressions of a block whose lines end with a comment that is their value. */
function statedIn(block: string, line: number): PageExample[] {
  return block.split('\n').flatMap((text, index) => {
    const [, expression = '', value = ''] =
      /^([^|]+?)\s*\/\/\s*(true|false|-?[\d.]+)$/i.exec(text.trim()) ?? [];
    if (expression === '') return [];
    const output = { columns: ['value'], rows: [[value.toLowerCase()]] };
    return [{ apl: `print value = ${expression}`, line: line + index + 1, output }];
  });
}

/** The table that follows a query, before the next query or heading. */
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

/** The cells of a line of a table, without the marks of code and emphasis around them. */
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
