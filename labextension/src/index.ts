import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { fitCharts } from './charts.js';
import { placeIn } from './grid/place.js';
import { addGrid } from './grid/renderer.js';
import { aplIcon } from './icon.js';

/** The language id and MIME type, as in the kernel's `language_info`; plain `apl` is the array language of 1966. */
const languageId = 'axiom-apl';
const mimeType = 'text/x-axiom-apl';

/** Teaches the editors the language; its code is fetched when the first APL text is shown. */
const language: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:language',
  description: 'Highlighting, folding, indentation and comment toggling for APL.',
  autoStart: true,
  requires: [IEditorLanguageRegistry],
  optional: [ISettingRegistry],
  activate: (
    _app: JupyterFrontEnd,
    languages: IEditorLanguageRegistry,
    settings: ISettingRegistry | null,
  ) => {
    languages.addLanguage({
      name: languageId,
      displayName: 'APL (Axiom)',
      mime: mimeType,
      filename: /\.apl$/i,
      load: async () => {
        const [{ aplSupport }, closeBrackets] = await Promise.all([
          import('./editor.js'),
          readCloseBrackets(settings),
        ]);
        return aplSupport({ closeBrackets });
      },
    });
  },
};

/** Shows `.apl` files with their own icon and opens them as APL text. */
const fileType: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:file-type',
  description: 'The file type of APL queries, `.apl`.',
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

/** Fits charts to their outputs; JupyterLab's renderer for them is there once all plugins are. */
const charts: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:charts',
  description: 'Charts of results as wide as their outputs.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  activate: (app: JupyterFrontEnd, rendermime: IRenderMimeRegistry) => {
    void app.started.then(() => fitCharts(rendermime));
  },
};

/** Shows results as grids over all rows that the kernel holds. */
const grid: JupyterFrontEndPlugin<void> = {
  id: '@apl-kernel/labextension:grid',
  description: 'Results as grids to sort, filter, search and copy from.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [INotebookTracker],
  activate: (app: JupyterFrontEnd, rendermime: IRenderMimeRegistry, notebooks: INotebookTracker | null) =>
    addGrid(rendermime, placeIn(app.shell, notebooks)),
};

const plugins: JupyterFrontEndPlugin<void>[] = [language, fileType, charts, grid];

/** The plugins of this extension, one for each concern. */
export default plugins;

async function readCloseBrackets(registry: ISettingRegistry | null): Promise<boolean> {
  if (registry === null) return true;
  const settings = await registry.load(language.id);
  return settings.composite.autoClosingBrackets !== false;
}
