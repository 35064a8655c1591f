/** Makes a change to a cell or a file a single undo step: JupyterLab joins changes less than half a second apart. */
import { type Extension, Prec } from '@codemirror/state';
import { ViewPlugin, type ViewUpdate } from '@codemirror/view';

/** Prefix of the user events of changes that are steps of their own, such as `input.apl.format`. */
const STEP = 'input.apl';

/** A shared model of JupyterLab to write to. */
interface Shared {
  getSource(): string;
  updateSource(from: number, to: number, text: string): void;
}

/** A span of text, in UTF-16 code units, and its replacement. */
export interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Changes a shared model in its own undo step. */
export function asStep(shared: object, change: () => void): void {
  endStep(shared);
  change();
  endStep(shared);
}

/** Replaces a span of text of a shared model in its own undo step. */
export function writeStep(shared: Shared, from: number, to: number, text: string): void {
  asStep(shared, () => shared.updateSource(from, to, text));
}

/** Rewrites a whole text in its own undo step; unchanged parts are left alone, so the cursor stays in place. */
export function rewrite(shared: Shared, text: string): void {
  const { from, to, insert } = replacement(shared.getSource(), text);
  writeStep(shared, from, to, insert);
}

/** Returns the smallest replacement that turns one text into another; it splits no surrogate pair. */
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

/** Returns the extension of an editor for the text of `shared`: one plugin ends the undo step before the view writes, the other after. */
export function undoSteps(shared: object): Extension {
  const ender = () =>
    ViewPlugin.define(() => ({
      update: ({ transactions }: ViewUpdate) => {
        if (transactions.some(transaction => transaction.isUserEvent(STEP))) endStep(shared);
      },
    }));
  return [Prec.highest(ender()), Prec.lowest(ender())];
}

/** Ends the undo step: later changes are not joined with earlier ones. */
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
