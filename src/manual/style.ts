/** The style of the documentation: the tokens of all pages of Onrecord, and nothing that is fetched. */
export const STYLE: string = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#f6f4ef, #101215); --sheet: light-dark(#fffefb, #171a1e); --well: light-dark(#f3f0e9, #1f2329); --hover: light-dark(#f1eee6, #22262d);
  --hair: light-dark(#e3dfd5, #2b3037); --edge: light-dark(#87827a, #737b88);
  --ink: light-dark(#1a1c20, #eceae5); --ink-2: light-dark(#474a51, #bbbdc3); --ink-3: light-dark(#62656d, #989da7);
  --pen: light-dark(#22489f, #9bb8ff); --pen-soft: light-dark(#e7ecf8, #1d2941);
  --found: light-dark(#faedd3, #322612);
  --sans: ui-sans-serif, system-ui, "Segoe UI", sans-serif; --mono: ui-monospace, "SF Mono", Consolas, monospace;
  --bar: 48px;
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: calc(var(--bar) + 12px); }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 1rem/1.6 var(--sans); }
a { color: var(--pen); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--pen); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 10px; z-index: 9; background: var(--sheet); padding: 4px 8px; }
header { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; justify-content: space-between; gap: 16px; height: var(--bar); padding: 0 24px; background: var(--sheet); border-bottom: 1px solid var(--hair); }
.brand { color: var(--ink); font-weight: 600; text-decoration: none; }
form { display: flex; gap: 6px; min-width: 0; }
input, button { font: 400 0.875rem/1.2 var(--sans); min-height: 32px; border: 1px solid var(--edge); border-radius: 6px; background: var(--sheet); color: var(--ink); }
input { width: 240px; min-width: 0; padding: 0 10px; }
input::placeholder { color: var(--ink-3); }
button { padding: 0 12px; cursor: pointer; }
button:hover { background: var(--hover); }
.sheet { display: grid; grid-template-columns: 232px minmax(0, 46rem); gap: 48px; justify-content: center; padding: 24px 24px 96px; }
nav.contents { position: sticky; top: calc(var(--bar) + 24px); align-self: start; max-height: calc(100vh - var(--bar) - 48px); overflow: auto; font-size: 0.875rem; }
details.contents { display: none; }
.contents h2 { margin: 16px 0 4px; font-size: 0.75rem; line-height: 1.4; font-weight: 600; color: var(--ink-3); }
nav.contents h2:first-child { margin-top: 0; }
.contents ul { list-style: none; margin: 0; padding: 0; }
.contents li a { display: block; padding: 3px 8px; border-radius: 3px; color: var(--ink-2); text-decoration: none; }
.contents li a:hover { background: var(--hover); color: var(--ink); }
.contents li a[aria-current] { background: var(--pen-soft); color: var(--pen); font-weight: 500; }
h1, h2, h3 { line-height: 1.3; overflow-wrap: anywhere; text-wrap: balance; }
h1 { margin: 0 0 16px; font-size: 1.75rem; font-weight: 650; letter-spacing: -0.01em; }
main h2 { margin: 40px 0 12px; font-size: 1.25rem; font-weight: 600; }
main h3 { margin: 28px 0 8px; font-size: 1.0625rem; font-weight: 600; }
main h2 a, main h3 a { color: inherit; text-decoration: none; }
main h2 a:hover, main h3 a:hover { text-decoration: underline; }
:target { background: var(--found); }
p, ul, ol, pre, .wide, blockquote { margin: 0 0 16px; }
main ul, main ol { padding-left: 22px; }
main li { margin: 4px 0; overflow-wrap: anywhere; }
main p { overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; border: 1px solid var(--hair); border-radius: 6px; }
code { font: 400 0.875em/1.5 var(--mono); background: var(--well); border-radius: 3px; padding: 1px 4px; }
pre { overflow: auto; padding: 12px 16px; border: 1px solid var(--hair); border-radius: 6px; background: var(--sheet); font-size: 0.875rem; line-height: 1.5; }
pre code { padding: 0; background: none; font-size: 0.8125rem; overflow-wrap: normal; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; line-height: 1.5; }
th, td { text-align: left; vertical-align: top; padding: 6px 14px 6px 0; border-bottom: 1px solid var(--hair); }
th { font-weight: 600; color: var(--ink-2); }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td:first-child code { white-space: nowrap; }
blockquote { padding-left: 14px; border-left: 3px solid var(--edge); color: var(--ink-2); }
hr { border: 0; border-top: 1px solid var(--hair); margin: 32px 0; }
.on-page { margin: 0 0 24px; font-size: 0.875rem; color: var(--ink-2); }
.on-page ul { columns: 2 14rem; list-style: none; padding: 8px 0 0; margin: 0; }
summary { cursor: pointer; }
.file { margin: 48px 0 0; padding-top: 12px; border-top: 1px solid var(--hair); font-size: 0.8125rem; color: var(--ink-3); }
.found { list-style: none; padding: 0 !important; }
.found li { padding: 10px 0; border-bottom: 1px solid var(--hair); }
.found p { margin: 2px 0 0; font-size: 0.875rem; color: var(--ink-2); }
.where { font-size: 0.8125rem; color: var(--ink-3); }
mark { background: var(--found); color: inherit; border-radius: 2px; }
@media (max-width: 860px) {
  header { padding: 0 16px; }
  form { flex: 1; justify-content: flex-end; }
  input { width: 100%; max-width: 240px; }
  .sheet { display: block; padding: 16px 16px 64px; }
  nav.contents { display: none; }
  details.contents { display: block; margin-bottom: 20px; padding: 8px 12px; border: 1px solid var(--hair); border-radius: 6px; background: var(--sheet); font-size: 0.9375rem; }
  .contents li a { padding: 9px 8px; }
  h1 { font-size: 1.5rem; }
}
@media print {
  header, .contents, .on-page, .file { display: none !important; }
  .sheet { display: block; padding: 0; }
}
`;
