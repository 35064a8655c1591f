/**
 * Where an output stands: its kernel, and the cell whose query made it.
 */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { whereLine } from '../../../../kernel/apl/editor/condition.js';

type SessionContext = NotebookPanel['sessionContext'];

/** The surroundings of an output; both are looked up when they are needed, as outputs move with their documents. */
export interface Place {
  kernel(output: HTMLElement): Kernel.IKernelConnection | undefined;
  /** Adds a `where` line to the query of an output; false where its cell cannot be written. */
  addCondition(output: HTMLElement, query: string, condition: string): boolean;
}

/** Finds the places of outputs in the documents of an application. */
export function placeIn(shell: JupyterFrontEnd.IShell, notebooks: INotebookTracker | null): Place {
  return {
    kernel: output => {
      for (const widget of shell.widgets('main')) {
        if (!widget.node.contains(output)) continue;
        return sessionOf(widget)?.session?.kernel ?? undefined;
      }
      return undefined;
    },
    addCondition: (output, query, condition) => {
      const panel = notebooks?.find(each => each.node.contains(output));
      const cell = panel?.content.widgets.find(each => each.node.contains(output));
      if (cell === undefined || cell.model.type !== 'code' || cell.model.getMetadata('editable') === false)
        return false;
      const shared = cell.model.sharedModel;
      const line = whereLine(shared.getSource(), query, condition);
      if (line === undefined) return false;
      shared.updateSource(line.at, line.at, line.text);
      return true;
    },
  };
}

/** Documents carry the session in their context, consoles have it themselves. */
function sessionOf(widget: object): SessionContext | undefined {
  if ('sessionContext' in widget) return widget.sessionContext as SessionContext;
  if ('context' in widget && typeof widget.context === 'object' && widget.context !== null)
    return (widget.context as { readonly sessionContext?: SessionContext }).sessionContext;
  return undefined;
}
