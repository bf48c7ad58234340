/** The style of the crash page: the tokens of the pages, and nothing that is fetched. */
export const STYLE: string = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#f6f4ef, #101215); --sheet: light-dark(#fffefb, #171a1e); --well: light-dark(#f3f0e9, #1f2329);
  --hair: light-dark(#e3dfd5, #2b3037);
  --ink: light-dark(#1a1c20, #eceae5); --ink-2: light-dark(#474a51, #bbbdc3); --ink-3: light-dark(#62656d, #989da7);
  --wait: light-dark(#7f4c00, #f2b75f); --wait-soft: light-dark(#faedd3, #322612);
  --doubt: light-dark(#73299a, #d6a3f2); --doubt-soft: light-dark(#f3e6f9, #2d1d38);
  --done: light-dark(#1c6236, #76cd92); --done-soft: light-dark(#e2f1e5, #14291c);
  --fail: light-dark(#a8231c, #ff9388); --fail-soft: light-dark(#fbe6e2, #391b19);
}
*, *::before, *::after { box-sizing: border-box; }
html { font-size: 16px; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 0.875rem/1.5 ui-sans-serif, system-ui, "Segoe UI", sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 960px; margin: 0 auto; padding: 32px 24px 64px; }
h1, h2, p, dl, dd, ol { margin: 0; padding: 0; }
h1 { font-size: 1.25rem; line-height: 1.25; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 0.875rem; line-height: 1.4; font-weight: 600; }
code { font: 0.75rem/1.5 ui-monospace, "SF Mono", Consolas, monospace; color: var(--ink-3); overflow-wrap: anywhere; }
section { margin-top: 32px; }
.cap { font-size: 0.75rem; line-height: 1.4; color: var(--ink-3); margin-top: 4px; }
.done { --c: var(--done); --g: var(--done-soft); } .doubt { --c: var(--doubt); --g: var(--doubt-soft); }
.fail { --c: var(--fail); --g: var(--fail-soft); } .wait { --c: var(--wait); --g: var(--wait-soft); }
.verdict { margin-top: 12px; padding: 8px 12px; border-radius: 6px; font-weight: 500; color: var(--c); background: var(--g); overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(4, 1fr); margin-top: 24px; background: var(--sheet); border: 1px solid var(--hair); border-radius: 6px; }
.figures > div { padding: 12px 16px; border-left: 1px solid var(--hair); }
.figures > div:first-child { border-left: 0; }
.figures dt { font-size: 0.75rem; color: var(--ink-3); }
.figures dd { font-size: 1.625rem; line-height: 1.25; font-weight: 600; color: var(--c, var(--ink)); }
table { width: 100%; margin-top: 8px; border-collapse: separate; border-spacing: 0; background: var(--sheet); border: 1px solid var(--hair); border-radius: 6px; }
th { padding: 8px 12px; font-size: 0.75rem; font-weight: 500; text-align: left; color: var(--ink-3); border-bottom: 1px solid var(--hair); white-space: nowrap; }
td { padding: 7px 12px; font-size: 0.8125rem; border-bottom: 1px solid var(--hair); }
tbody tr:last-child td { border-bottom-color: var(--ink-3); }
tfoot td { border-bottom: 0; font-weight: 600; }
td.name code { margin-left: 6px; white-space: nowrap; }
.num { text-align: right; white-space: nowrap; }
td.none { color: var(--ink-3); }
td.doubt, td.fail, td.wait { color: var(--c); font-weight: 600; }
.count { margin-left: 4px; color: var(--ink-3); font-weight: 400; }
.kills { list-style: none; margin-top: 8px; background: var(--sheet); border: 1px solid var(--hair); border-radius: 6px; }
.kills li { display: grid; grid-template-columns: 112px minmax(0, 1fr); gap: 2px 12px; padding: 8px 12px; font-size: 0.8125rem; border-top: 1px solid var(--hair); }
.kills li:first-child { border-top: 0; }
.kills .said { grid-column: 2; color: var(--c); overflow-wrap: anywhere; }
@media (max-width: 720px) {
  main { padding: 16px 12px 48px; }
  body { font-size: 15px; }
  .figures { grid-template-columns: 1fr 1fr; }
  .figures > div:nth-child(odd) { border-left: 0; }
  .figures > div:nth-child(n + 3) { border-top: 1px solid var(--hair); }
  thead { display: none; }
  table, tbody, tfoot { display: block; }
  tr { display: flex; flex-wrap: wrap; gap: 0 16px; padding: 10px 12px; border-bottom: 1px solid var(--hair); }
  tfoot tr { border-bottom: 0; }
  td { display: block; padding: 0; border: 0; }
  td.name { flex: 1 0 100%; }
  td.num::before { content: attr(data-l) " "; color: var(--ink-3); font-weight: 400; }
  td.num.none { display: none; }
  .kills li { grid-template-columns: minmax(0, 1fr); }
  .kills .said { grid-column: 1; }
}
@media (forced-colors: active) { .verdict, .figures, table, .kills { border: 1px solid CanvasText; } }
@media print { body { background: none; } }
`;
