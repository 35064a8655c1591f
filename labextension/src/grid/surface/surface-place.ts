/** The context of an output: its kernel, the cell with its query, and the setup kept for the next run of that cell. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { CodeConsole } from '@jupyterlab/console';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { type WhereLine, whereLine } from '../../../../kernel/apl/editor/where-line.js';
import { cut, visible } from '../../../../kernel/text.js';
import { commandCell } from '../../cell/cell-run.js';
import { homeOf, type ShownOutput } from '../../link/home.js';
import { type ZoneSetting, zoneOfNotebook, zoneOfOne } from '../../link/link-zone.js';
import { writeStep } from '../../link/undo-step.js';
import type { Setup, SetupStore } from '../setup.js';

type SessionContext = NotebookPanel['sessionContext'];

/** A line written into a cell. */
export interface WrittenLine extends WhereLine {
  /** Removes the line; returns false if the cell has changed since. */
  undo(): boolean;
}

/** The context of an output, looked up on demand, since outputs move with their documents. */
export interface Place {
  kernel(output: ShownOutput): Kernel.IKernelConnection | undefined;
  /** Adds a `where` line on a field to the query of an output; undefined if its cell is read-only. */
  addCondition(output: ShownOutput, query: string, field: string, condition: string): WrittenLine | undefined;
  /** Activates and focuses the cell of an output; in a console, the input cell. */
  leave(output: ShownOutput): void;
  /** The zone of the notebook's times, or of an output outside notebooks. */
  zone(output: ShownOutput): ZoneSetting;
  /** Stores the setup of a result for the next run of its cell, in the memory of the page; undefined outside notebooks. */
  setups(output: ShownOutput): SetupStore | undefined;
}

/** Looks up the context of outputs in the documents of an application. */
export function placeIn(shell: JupyterFrontEnd.IShell, notebooks: INotebookTracker | null): Place {
  const kept = new WeakMap<object, Map<string, Setup>>();
  return {
    kernel: output => {
      const session = homeOf(output, notebooks)?.panel.sessionContext ?? sessionAround(output, shell);
      return session?.session?.kernel ?? undefined;
    },
    addCondition: (output, query, field, condition) => {
      const cell = homeOf(output, notebooks)?.cell;
      if (cell === undefined || cell.model.getMetadata('editable') === false) return undefined;
      const shared = cell.model.sharedModel;
      const before = shared.getSource();
      const line = whereLine(before, query, field, condition);
      if (line === undefined) return undefined;
      writeStep(shared, line.at, line.at, line.text);
      const written = shared.getSource();
      const undo = () => {
        if (shared.getSource() !== written) return false;
        writeStep(shared, line.at, line.at + line.text.length, '');
        return true;
      };
      return { ...line, undo };
    },
    leave: output => {
      const home = homeOf(output, notebooks);
      if (home === undefined) consoleAround(output, shell)?.promptCell?.editor?.focus();
      else commandCell(home.panel.content, home.cell);
    },
    zone: output => {
      const model = homeOf(output, notebooks)?.panel.content.model;
      return model === undefined || model === null ? zoneOfOne() : zoneOfNotebook(model);
    },
    setups: output => {
      const home = homeOf(output, notebooks);
      const notebook = home?.panel.content.model ?? undefined;
      if (home === undefined || notebook === undefined) return undefined;
      const key = `${home.cell.model.id} ${home.result}`;
      const setups = kept.get(notebook) ?? new Map<string, Setup>();
      kept.set(notebook, setups);
      return {
        get setup() {
          return setups.get(key);
        },
        set setup(setup) {
          if (setup === undefined) setups.delete(key);
          else setups.set(key, setup);
        },
      };
    },
  };
}

/** Returns the session of the document or the console around an output outside notebooks. */
function sessionAround(output: ShownOutput, shell: JupyterFrontEnd.IShell): SessionContext | undefined {
  const widget = widgetAround(output, shell);
  return widget === undefined ? undefined : sessionOf(widget);
}

function consoleAround(output: ShownOutput, shell: JupyterFrontEnd.IShell): CodeConsole | undefined {
  const widget: object | undefined = widgetAround(output, shell);
  return widget !== undefined && 'console' in widget ? (widget.console as CodeConsole) : undefined;
}

function widgetAround({ node }: ShownOutput, shell: JupyterFrontEnd.IShell) {
  return [...shell.widgets('main')].find(widget => widget.node.contains(node));
}

/** Returns the session of a widget: documents have it in their context, consoles directly. */
function sessionOf(widget: object): SessionContext | undefined {
  if ('sessionContext' in widget) return widget.sessionContext as SessionContext;
  if ('context' in widget && typeof widget.context === 'object' && widget.context !== null)
    return (widget.context as { readonly sessionContext?: SessionContext }).sessionContext;
  return undefined;
}

/** Maximum length of an operator in a message. */
const LABEL_LENGTH = 80;

/** Describes what a line filters: the rows of the data, or the output of an operator. */
export function placeText({ before, after }: WrittenLine): string {
  const words = (text: string) => cut(visible(text), LABEL_LENGTH);
  if (after !== undefined) return `after ${words(after)}, to filter its output`;
  return before === undefined ? 'to the query' : `before ${words(before)}`;
}
