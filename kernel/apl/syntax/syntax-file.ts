import type { Span } from './ast.js';

/** A cell of an `.apl` file; `from` is the start of its `// %%` line, if it has one. */
export interface FileCell extends Span {
  /** Start of the cell's content. */
  readonly body: number;
  /** True for prose, which is written in comments. */
  readonly prose: boolean;
}

/** Returns the cells of an `.apl` file, in order and without gaps: a line `// %%` starts a cell, `// %% [markdown]` a prose cell. */
export function splitFile(source: string): readonly FileCell[] {
  const marks = [...source.matchAll(/^\/\/ %%(.*)(?:\n|$)/gm)];
  const starts = marks.map(mark => ({
    from: mark.index,
    body: mark.index + mark[0].length,
    prose: mark[1]?.startsWith(' [markdown]') === true,
  }));
  if (starts[0]?.from !== 0) starts.unshift({ from: 0, body: 0, prose: false });
  return starts.map((start, index) => ({ ...start, to: starts[index + 1]?.from ?? source.length }));
}

/** Returns the cell of an `.apl` file that contains `offset`. */
export function fileCellAt(source: string, offset: number): FileCell {
  const found = splitFile(source).findLast(cell => cell.from <= offset);
  return found ?? { from: 0, body: 0, prose: false, to: source.length };
}
