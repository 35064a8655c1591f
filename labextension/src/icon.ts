import { LabIcon } from '@jupyterlab/ui-components';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon-brand1 jp-icon-selectable" fill="#1976d2">
    <rect x="3" y="3" width="3" height="18" rx="1.5"/>
    <rect x="9" y="4" width="12" height="3" rx="1.5"/>
    <rect x="9" y="10.5" width="9" height="3" rx="1.5"/>
    <rect x="9" y="17" width="5" height="3" rx="1.5"/>
  </g>
</svg>`;

/** A pipe and the shrinking rows after it: the icon of APL files. */
export const aplIcon = new LabIcon({ name: 'axiom-apl:file', svgstr: svg });
