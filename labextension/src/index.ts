import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry,
} from '@jupyterlab/codemirror';
import { ICompletionProviderManager } from '@jupyterlab/completer';
import { IConsoleTracker } from '@jupyterlab/console';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { explainerOf } from './cell/cell-explain.js';
import { addPatterns } from './cell/cell-patterns.js';
import { addExplained } from './cell/explained.js';
import { addCharts } from './charts/charts-renderer.js';
import type { EditorOptions } from './editor.js';
import { addGrid } from './grid/grid-renderer.js';
import { placeIn } from './grid/surface/surface-place.js';
import { aplIcon } from './icon.js';
import { languageId, mimeType } from './language-names.js';
import { undoSteps } from './link/undo-step.js';
import { type Trackers, Workbench } from './link/workbench.js';
import { addTraces } from './trace/trace-renderer.js';

/** Adds the language to editors; its code is loaded when the first APL source is shown. */
const language: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:language',
  description: 'Highlighting, completion, diagnostics, hover documentation and commands for APL.',
  autoStart: true,
  requires: [IEditorLanguageRegistry, IEditorExtensionRegistry],
  optional: [ISettingRegistry, INotebookTracker, IConsoleTracker, IEditorTracker, ICommandPalette, ILauncher],
  activate: (
    app: JupyterFrontEnd,
    languages: IEditorLanguageRegistry,
    extensions: IEditorExtensionRegistry,
    settings: ISettingRegistry | null,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null,
    files: IEditorTracker | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
  ) => {
    const workbench = workbenchOf({ notebooks, consoles, files });
    void import('./commands.js').then(({ addCommands }) => addCommands(app, workbench, palette, launcher));
    void settings?.load(language.id).then(async loaded => {
      const { formatOnSaveAndRun } = await import('./services/format-on.js');
      formatOnSaveAndRun(loaded, files, notebooks);
    });
    extensions.addExtension({
      name: 'apl:undo-steps',
      factory: ({ model }) => EditorExtensionRegistry.createImmutableExtension(undoSteps(model.sharedModel)),
    });
    languages.addLanguage({
      name: languageId,
      displayName: 'APL (Axiom)',
      mime: mimeType,
      filename: /\.apl$/i,
      load: async () => {
        const [{ aplSupport }, options] = await Promise.all([import('./editor.js'), readOptions(settings)]);
        // A query is soon followed by a result: loads the grid's code in advance.
        void import('./grid/grid-open.js');
        return aplSupport(workbench, options);
      },
    });
  },
};

/** Prevents JupyterLab's own completer from opening automatically in APL, where this extension's opens; it still opens on request. */
const completer: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:completer',
  description: 'A single completion list for APL.',
  autoStart: true,
  optional: [ICompletionProviderManager],
  activate: (_app: JupyterFrontEnd, manager: ICompletionProviderManager | null) => {
    manager?.registerProvider({
      identifier: 'apl:none-while-typing',
      rank: 2000,
      isApplicable: async ({ editor }) => editor?.model.mimeType === mimeType,
      shouldShowContinuousHint: () => false,
      fetch: async () => ({ start: 0, end: 0, items: [] }),
    });
  },
};

/** Shows `.apl` files with their own icon and opens them as APL source. */
const fileType: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:file-type',
  description: 'The `.apl` file type for APL queries.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    app.docRegistry.addFileType({
      name: languageId,
      displayName: 'APL Query',
      extensions: ['.apl'],
      mimeTypes: [mimeType],
      contentType: 'file',
      fileFormat: 'text',
      icon: aplIcon,
    });
  },
};

/** The parts of the page that a plugin for outputs works with. */
interface OutputContext {
  readonly app: JupyterFrontEnd;
  readonly rendermime: IRenderMimeRegistry;
  readonly notebooks: INotebookTracker | null;
  readonly workbench: Workbench;
}

/** Returns a plugin that adds renderers of outputs. */
function outputPlugin(
  name: string,
  description: string,
  add: (context: OutputContext) => void,
): JupyterFrontEndPlugin<void> {
  return {
    id: `@apl-kernel/labextension:${name}`,
    description,
    autoStart: true,
    requires: [IRenderMimeRegistry],
    optional: [INotebookTracker, IConsoleTracker, IEditorTracker],
    activate: (
      app: JupyterFrontEnd,
      rendermime: IRenderMimeRegistry,
      notebooks: INotebookTracker | null,
      consoles: IConsoleTracker | null,
      files: IEditorTracker | null,
    ) => add({ app, rendermime, notebooks, workbench: workbenchOf({ notebooks, consoles, files }) }),
  };
}

/** Draws the charts of results; JupyterLab's renderer for other charts is available once all plugins are. */
const charts = outputPlugin(
  'charts',
  'Interactive charts of results, as wide as their outputs, that show values and set the time range.',
  ({ app, rendermime, notebooks, workbench }) => {
    void app.started.then(() => addCharts(rendermime, workbench, notebooks));
  },
);

/** Shows results as grids over all rows in the kernel. */
const grid = outputPlugin(
  'grid',
  'Results as grids with sorting, filters, search and copy.',
  ({ app, rendermime, notebooks, workbench }) =>
    addGrid(rendermime, placeIn(app.shell, notebooks), workbench, output =>
      explainerOf(output, notebooks, workbench),
    ),
);

/** Adds buttons beside the templates of log lines, and below an explanation. */
const patterns = outputPlugin(
  'patterns',
  'Log line templates to split, keep or exclude, and explanations to continue from.',
  ({ rendermime, notebooks, workbench }) => {
    addPatterns(rendermime, notebooks, workbench);
    addExplained(rendermime, notebooks, workbench);
  },
);

/** Shows interactive traces in place of their static drawings. */
const traces = outputPlugin(
  'traces',
  'Traces with folding, search, zoom and span details.',
  ({ app, rendermime, notebooks, workbench }) =>
    addTraces(rendermime, { place: placeIn(app.shell, notebooks), workbench, notebooks }),
);

/**
 * Adds the time range, the profile, the parameters and a stop button to the toolbars of notebooks, and cell commands to the cell toolbar.
 */
const toolbar: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:toolbar',
  description:
    'Time range, profile, parameters, dashboard and stop button of notebooks; star and range of cells.',
  autoStart: true,
  requires: [INotebookTracker, IToolbarWidgetRegistry],
  optional: [IConsoleTracker, IEditorTracker, ICommandPalette, ILayoutRestorer],
  activate: async (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    registry: IToolbarWidgetRegistry,
    consoles: IConsoleTracker | null,
    files: IEditorTracker | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
  ) => {
    const workbench = workbenchOf({ notebooks, consoles, files });
    const [{ addCellCommands }, { addToolbar }, { Dashboards }] = await Promise.all([
      import('./cell/cell-commands.js'),
      import('./toolbar/toolbar.js'),
      import('./dashboard/dashboards.js'),
    ]);
    const dashboards = new Dashboards(app, workbench);
    const context = { app, workbench, notebooks, palette, dashboards };
    addCellCommands(context);
    addToolbar(context, registry);
    if (restorer !== null) dashboards.restore(restorer, notebooks);
  },
};

/** Lists in a side panel what the kernel of the current notebook knows. */
const panel: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:panel',
  description: 'Datasets, fields, results, starred queries, history and profiles in a side panel.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [
    IConsoleTracker,
    IEditorTracker,
    ICommandPalette,
    ILayoutRestorer,
    IStateDB,
    IFileBrowserFactory,
    ILauncher,
  ],
  activate: async (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    consoles: IConsoleTracker | null,
    files: IEditorTracker | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    state: IStateDB | null,
    browsers: IFileBrowserFactory | null,
    launcher: ILauncher | null,
  ) => {
    const [{ AplPanel }, { remember }, { addImport, importFiles, IMPORT_FILE }, { acceptFiles }] =
      await Promise.all([
        import('./panel/panel.js'),
        import('./panel/memory.js'),
        import('./cell/import/command.js'),
        import('./cell/import/drop.js'),
      ]);
    const workbench = workbenchOf({ notebooks, consoles, files });
    addImport({ app, workbench, notebooks, browsers, palette, launcher });
    const widget = new AplPanel(workbench, notebooks, () => void app.commands.execute(IMPORT_FILE));
    acceptFiles(widget.node, browsers, {
      isOpen: () => widget.panel !== undefined,
      take: async files => widget.panel && importFiles({ workbench }, widget.panel, files),
    });
    app.shell.add(widget, 'left', { rank: 650 });
    // JupyterLab restores the panel at its side; Notebook 7 keeps neither layouts nor states of its pages.
    restorer?.add(widget, widget.id);
    if (state !== null) void remember(widget, state);
    app.commands.addCommand('apl:panel', {
      label: 'Show APL Panel',
      execute: () => {
        app.shell.activateById(widget.id);
        widget.focusFilter();
      },
    });
    palette?.addItem({ command: 'apl:panel', category: 'APL' });
  },
};

const plugins: JupyterFrontEndPlugin<void>[] = [
  ...[language, completer, fileType, charts, grid],
  ...[traces, patterns, toolbar, panel],
];

/** The plugins of this extension, one for each concern. */
export default plugins;

let workbench: Workbench | undefined;

/** Returns the workbench of the page: every plugin gets the same trackers. */
function workbenchOf(trackers: Trackers): Workbench {
  workbench ??= new Workbench(trackers);
  return workbench;
}

async function readOptions(registry: ISettingRegistry | null): Promise<EditorOptions> {
  const { composite } = registry === null ? { composite: {} } : await registry.load(language.id);
  const given = composite as Readonly<Record<string, unknown>>;
  return {
    closeBrackets: given.autoClosingBrackets !== false,
    completeWhileTyping: given.completeWhileTyping !== false,
    markMistakes: given.markMistakes !== false,
  };
}
