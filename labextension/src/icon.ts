import { LabIcon } from '@jupyterlab/ui-components';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon-brand0 jp-icon-selectable" fill="none" stroke="#1976d2" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">
    <path d="M4 3.5v17"/>
    <path d="M9 6h11M9 12h7.5M9 18h4"/>
  </g>
</svg>`;

/** A pipe and the shrinking rows behind it: the icon of APL files. */
export const aplIcon = new LabIcon({ name: 'axiom-apl:file', svgstr: svg });
