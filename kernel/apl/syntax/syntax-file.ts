import type { Span } from './ast.js';

/** A cell of an `.apl` file; `from` is where its line `// %%` starts, if it has one. */
export interface FileCell extends Span {
  /** Where the content of the cell starts. */
  readonly body: number;
  /** True for prose, which is written in comments. */
  readonly prose: boolean;
}

/** Returns the cells of an `.apl` file, in order and without gaps: a line `// %%` begins one, `// %% [markdown]` one of prose. */
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

/** Returns the cell of an `.apl` file that `offset` is in. */
export function fileCellAt(source: string, offset: number): FileCell {
  const found = splitFile(source).findLast(cell => cell.from <= offset);
  return found ?? { from: 0, body: 0, prose: false, to: source.length };
}
