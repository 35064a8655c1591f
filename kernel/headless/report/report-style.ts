/** Style sheet of a report: light or dark on a screen, always light on paper, without scrolling or folding. */
export const REPORT_STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1f2328; --line: #d8dee8; --code: #f5f7fa; --dim: #5d6673; --error: #b42318;
  --word: #6f42c1; --name: #0b5cad; --text: #0a6b3d; --value: #9a4b00; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6e9ee; --line: #343b48; --code: #1d222b; --dim: #98a2b3; --error: #ff8a80;
    --word: #c9a6ff; --name: #7cc0ff; --text: #7fd6a4; --value: #ffb77a; }
}
body { margin: 0; font: 15px/1.6 system-ui, sans-serif; background: var(--paper); color: var(--ink); }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { line-height: 1.25; }
h2 { margin-top: 1.6em; line-height: 1.3; }
p, li { max-width: 72ch; overflow-wrap: anywhere; }
pre { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; margin: 0; overflow-x: auto; }
code { font: 0.9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
section { margin: 14px 0; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0 0 24px; padding: 10px 0; border: solid var(--line); border-width: 1px 0; font-size: 13px; }
dl.facts dt { color: var(--dim); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
.source { border: 1px solid var(--line); border-radius: 6px; background: var(--code); padding: 8px 12px; }
.source span { unicode-bidi: isolate; }
.apl-advice { display: none; }
.data { margin: 2px 0 0; font-size: 12px; color: var(--dim); }
.data a { color: var(--name); }
details.code > summary { cursor: pointer; color: var(--dim); font-size: 13px; }
details.code > .source { margin-top: 4px; }
.tok-keyword, .tok-operatorKeyword { color: var(--word); }
.tok-variableName, .tok-propertyName, .tok-className, .tok-namespace { color: var(--name); }
.tok-string, .tok-string2 { color: var(--text); }
.tok-number, .tok-bool, .tok-atom, .tok-literal { color: var(--value); }
.tok-comment, .tok-meta { color: var(--dim); }
.tok-invalid { color: var(--error); }
.output { margin: 8px 0 0; overflow-x: auto; }
.output .apl-size span[title]::after { content: ' (' attr(title) ')'; font-weight: 400; color: var(--dim); }
.output img { max-width: 100%; height: auto; }
.output.stdout, .output.stderr { color: var(--dim); }
.error { color: var(--error); white-space: pre-wrap; }
table { border-collapse: collapse; }
.output table { font-size: 13px; line-height: 1.4; }
th, td { border: 1px solid var(--line); padding: 3px 9px; }
thead:not(:has(th:not(:empty))) { display: none; }
@media screen and (min-width: 900px) {
  .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); grid-auto-flow: row dense; column-gap: 16px; align-items: start; }
  .columns > * { grid-column: 1 / -1; min-width: 0; }
  .columns > .apl-beside-1 { grid-column: 1; }
  .columns > .apl-beside-2 { grid-column: 2; }
  main:has(.columns) { max-width: 1240px; }
}
@media (max-width: 600px) {
  main { padding: 16px 14px 40px; }
  h1 { font-size: 1.5em; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: 4px; }
}
@media screen and (max-width: 600px) { .output img[src^="data:image/svg"] { min-width: 640px; } }
@page { margin: 14mm; }
@page wide { size: landscape; }
@page widest { size: A3 landscape; }
@media print {
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  p, li { max-width: none; }
  h1, h2, h3, h4 { break-after: avoid; }
  .part ~ .part:not(:has(tbody tr:nth-child(16))) { break-inside: avoid; }
  section:is(:has(.apl-table th:nth-child(12)), :not(:has(.source, .output)):has(+ section .apl-table th:nth-child(12))) { page: wide; }
  section:is(:has(.apl-table th:nth-child(17)), :not(:has(.source, .output)):has(+ section .apl-table th:nth-child(17))) { page: widest; }
  main section table.apl-table:has(th:nth-child(17)):not(:has(th:nth-child(31))) th { min-width: 7ch !important; }
  .output img { width: auto; max-height: 180mm; }
  .output img, .source, dl.facts { break-inside: avoid; }
  .output:not(:has(tbody tr:nth-child(16))) { break-inside: avoid; }
  .source:not(:last-child), section:not(:has(.source, .output)):not(:last-child) { break-after: avoid; }
  details.code > summary, .data { display: none; }
  summary { list-style: none; }
  .output, pre { overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 9pt; }
  details.code::details-content { display: block; content-visibility: visible; }
}
`;

/** Hides the types of fields; units stay. */
export const SETUP_STYLE = `
.apl-table th :is(small:not(:has(span)), br:has(+ small:not(:has(span))), small > span:first-child) { display: none; }
`;
