import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';

/** The type of the kernel's charts, and the rank of JupyterLab's renderer for it: before pictures and text. */
const vegaType = 'application/vnd.vega.v5+json';
const vegaRank = 57;

/**
 * Makes the charts of the kernel as wide as their output, now and whenever that changes, and lets them shrink in print.
 * JupyterLab's own renderer draws them; other charts are left as they are.
 */
export function fitCharts(rendermime: IRenderMimeRegistry): void {
  const factory = rendermime.getFactory(vegaType);
  if (factory === undefined) return;
  addStyle();
  const createRenderer = (options: IRenderMime.IRendererOptions) => fitted(factory.createRenderer(options));
  rendermime.addFactory({ safe: factory.safe, mimeTypes: [vegaType], createRenderer }, vegaRank);
}

const chartClass = 'apl-chart';

/** Without this the container of vega-embed is as wide as the chart, which then could not follow the output. */
const style = `
.${chartClass} > .vega-embed { display: block; }
.${chartClass} > .vega-embed > .chart-wrapper { width: 100%; }
.${chartClass} svg.marks { display: block; max-width: 100%; height: auto; }
@media print { .${chartClass} > .vega-embed { padding-right: 0; } .${chartClass} details { display: none; } }
`;

function addStyle(): void {
  const element = document.createElement('style');
  element.textContent = style;
  document.head.append(element);
}

function fitted(renderer: IRenderMime.IRenderer): IRenderMime.IRenderer {
  const render = renderer.renderModel.bind(renderer);
  renderer.renderModel = async model => {
    if (!('apl' in model.metadata)) return render(model);
    renderer.node.classList.add(chartClass);
    await render(model);
    // vega-embed gives its menu a picture and no name.
    for (const menu of renderer.node.querySelectorAll('summary')) menu.ariaLabel = 'Save the chart';
    follow(renderer);
  };
  return renderer;
}

/** Charts measure their output on a resize event of the window. */
function follow(renderer: IRenderMime.IRenderer): void {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (renderer.node.clientWidth === width) return;
    width = renderer.node.clientWidth;
    window.dispatchEvent(new Event('resize'));
  });
  observer.observe(renderer.node);
  renderer.disposed.connect(() => observer.disconnect());
}
