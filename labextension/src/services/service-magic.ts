import type { Completion, CompletionResult } from '@codemirror/autocomplete';
import type { Kernel } from '@jupyterlab/services';
import { visible } from '../../../kernel/text.js';
import type { CellText } from '../link/workbench.js';

/** Timeout for the kernel to complete a magic line, in milliseconds: longer than its own for listing starred queries of the service. */
const timeoutMs = 6_000;

/** Returns true if the line up to `offset` begins with `%`. */
export function isMagicLine(cell: string, offset: number): boolean {
  const start = cell.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*%/.test(cell.slice(start, offset));
}

/** Completes a magic line through the kernel, which is the only one to know files, profiles and starred queries; null without a kernel. */
export async function completeMagic(
  { text, from }: CellText,
  offset: number,
  kernel: Kernel.IKernelConnection | undefined,
): Promise<CompletionResult | null> {
  if (kernel === undefined || kernel.isDisposed || kernel.status === 'dead') return null;
  const asked = kernel.requestComplete({ code: text, cursor_pos: [...text.slice(0, offset)].length });
  const { content } = (await within(asked, timeoutMs)) ?? {};
  if (content?.status !== 'ok' || content.matches.length === 0) return null;
  const [start, end] = [content.cursor_start, content.cursor_end].map(each => fromPoints(text, each));
  const types = readTypes(content.metadata._jupyter_types_experimental);
  return {
    from: from + (start ?? offset),
    to: from + (end ?? offset),
    options: content.matches.map((label, index) => toOption(label, types[index])),
    validFor: /^%{0,2}[\w.-]*$/,
  };
}

interface MatchType {
  readonly type?: unknown;
  readonly signature?: unknown;
}

function readTypes(value: unknown): readonly MatchType[] {
  return Array.isArray(value) ? (value as readonly MatchType[]) : [];
}

function toOption(label: string, { type, signature }: MatchType = {}): Completion {
  return {
    label,
    ...(visible(label) === label ? {} : { displayLabel: visible(label) }),
    type: typeof type === 'string' ? type : 'value',
    ...(typeof signature === 'string' ? { detail: signature } : {}),
  };
}

/** Returns the offset of a number of code points. */
function fromPoints(text: string, points: number): number {
  return [...text].slice(0, points).join('').length;
}

async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const late = new Promise<undefined>(resolve => {
    setTimeout(() => resolve(undefined), milliseconds);
  });
  return Promise.race([work.catch(() => undefined), late]);
}
