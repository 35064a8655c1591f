/** What is written into a cell or a file in one press, as one step of its undo: JupyterLab joins changes less than half a second apart. */
import { type Extension, Prec } from '@codemirror/state';
import { ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** The user events of changes that are a step each begin with it, such as `input.apl.format`. */
const STEP = 'input.apl';

/** A shared model of JupyterLab that is written to. */
interface Shared {
  getSource(): string;
  updateSource(from: number, to: number, text: string): void;
}

/** A part of a text, in UTF-16 code units, and what it becomes. */
export interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Changes a shared model in a step of its own. */
export function asStep(shared: object, change: () => void): void {
  endStep(shared);
  change();
  endStep(shared);
}

/** Replaces a part of the text of a shared model in a step of its own. */
export function writeStep(shared: Shared, from: number, to: number, text: string): void {
  asStep(shared, () => shared.updateSource(from, to, text));
}

/** Writes a whole text in a step of its own; what stays the same is left alone, so that the cursor stays there. */
export function rewrite(shared: Shared, text: string): void {
  const { from, to, insert } = replacement(shared.getSource(), text);
  writeStep(shared, from, to, insert);
}

/** The least replacement that makes one text another; it splits no surrogate pair. */
export function replacement(before: string, after: string): Replacement {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from += 1;
  if (isHigh(before[from - 1])) from -= 1;
  let kept = 0;
  while (kept < shorter - from && before.at(-1 - kept) === after.at(-1 - kept)) kept += 1;
  if (kept > 0 && isLow(before.at(-kept))) kept -= 1;
  return { from, to: before.length - kept, insert: after.slice(from, after.length - kept) };
}

/** The extension of an editor whose text is that of `shared`: one plugin ends the step before the view writes, the other after. */
export function undoSteps(shared: object): Extension {
  const ender = () =>
    ViewPlugin.define(() => ({
      update: ({ transactions }: ViewUpdate) => {
        if (transactions.some(transaction => transaction.isUserEvent(STEP))) endStep(shared);
      },
    }));
  return [Prec.highest(ender()), Prec.lowest(ender())];
}

/** What is written next is not joined with what was written before. */
function endStep(shared: object): void {
  const { undoManager } = shared as { readonly undoManager?: { stopCapturing(): void } | null };
  undoManager?.stopCapturing();
}

function isHigh(unit: string | undefined): boolean {
  return unit !== undefined && unit >= '\ud800' && unit <= '\udbff';
}

function isLow(unit: string | undefined): boolean {
  return unit !== undefined && unit >= '\udc00' && unit <= '\udfff';
}
