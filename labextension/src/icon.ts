import { LabIcon } from '@jupyterlab/ui-components';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon-brand1 jp-icon-selectable" fill="#1976d2">
    <rect x="3" y="3" width="3" height="18" rx="1.5"/>
    <rect x="9" y="4" width="12" height="3" rx="1.5"/>
    <rect x="9" y="10.5" width="9" height="3" rx="1.5"/>
    <rect x="9" y="17" width="5" height="3" rx="1.5"/>
  </g>
</svg>`;

/** A pipe and shrinking rows after it: the icon of APL files. */
export const aplIcon = new LabIcon({ name: 'axiom-apl:file', svgstr: svg });

const star = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="m12 5.6 1.9 4.5 4.9.4-3.7 3.2 1.1 4.8-4.2-2.6-4.2 2.6 1.1-4.8-3.7-3.2 4.9-.4zm0-4.1L8.9 8.7 1.1 9.4 7 14.5l-1.8 7.7L12 18.1l6.8 4.1L17 14.5l5.9-5.1-7.8-.7z"/>
</svg>`;

/** The outline of a star: saves a query. */
export const starIcon = new LabIcon({ name: 'axiom-apl:star', svgstr: star });
