/** The style of the page: the tokens of all pages of Onrecord, and nothing that is fetched. */
export const STYLE: string = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#f6f4ef, #101215); --sheet: light-dark(#fffefb, #171a1e); --well: light-dark(#f3f0e9, #1f2329); --hover: light-dark(#f1eee6, #22262d);
  --hair: light-dark(#e3dfd5, #2b3037); --edge: light-dark(#87827a, #737b88);
  --ink: light-dark(#1a1c20, #eceae5); --ink-2: light-dark(#474a51, #bbbdc3); --ink-3: light-dark(#62656d, #989da7);
  --pen: light-dark(#22489f, #9bb8ff); --pen-soft: light-dark(#e7ecf8, #1d2941); --pen-line: light-dark(#9db2e0, #45598a);
  --run: light-dark(#0a6069, #67cbd4); --run-soft: light-dark(#e0f0f0, #12292d);
  --wait: light-dark(#7f4c00, #f2b75f); --wait-soft: light-dark(#faedd3, #322612);
  --doubt: light-dark(#73299a, #d6a3f2); --doubt-soft: light-dark(#f3e6f9, #2d1d38);
  --done: light-dark(#1c6236, #76cd92); --done-soft: light-dark(#e2f1e5, #14291c);
  --fail: light-dark(#a8231c, #ff9388); --fail-soft: light-dark(#fbe6e2, #391b19);
  --stop: light-dark(#55585f, #a9adb6); --stop-soft: light-dark(#ecebe7, #25282e);
  --add-line: light-dark(#e6f4e8, #13261a); --add-mark: light-dark(#b9e2c2, #22563a);
  --del-line: light-dark(#fcebe8, #311b1a); --del-mark: light-dark(#f5c4bd, #6b2a26);
  --untrusted: light-dark(#fbf3df, #272116); --untrusted-line: light-dark(#b07a1c, #c9943a);
  --t-read: light-dark(#748cc6, #4d66a6); --t-write: light-dark(#22489f, #9bb8ff); --t-fresh: light-dark(#1a1c20, #eceae5); --t-out: light-dark(#0a6069, #67cbd4);
  --sans: ui-sans-serif, system-ui, "Segoe UI", sans-serif; --mono: ui-monospace, "SF Mono", Consolas, monospace;
  --gut: 44px; --row: 30px;
}
*, *::before, *::after { box-sizing: border-box; }
html { font-size: 16px; -webkit-text-size-adjust: 100%; scroll-padding-top: 52px; }
body { margin: 0 auto; padding: 0 24px 96px; max-width: 1040px; background: var(--paper); color: var(--ink); font: 400 0.875rem/1.5 var(--sans); font-variant-numeric: tabular-nums; }
h1, h2, h3, h4, p, ul, ol, dl, dd, pre, blockquote { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 1.25rem; line-height: 1.3; font-weight: 600; overflow-wrap: anywhere; text-wrap: balance; }
h2 { font-size: 1rem; line-height: 1.4; font-weight: 600; margin-bottom: 8px; }
h3 { font-size: 0.875rem; line-height: 1.4; font-weight: 600; }
h4 { font-size: 0.8125rem; line-height: 1.4; font-weight: 600; margin: 8px 0 4px; }
small, .cap { font-size: 0.75rem; line-height: 1.45; font-weight: 400; color: var(--ink-3); }
.dim { color: var(--ink-3); }
code, pre, .seq { font-family: var(--mono); font-size: 0.75rem; }
code { overflow-wrap: anywhere; }
a { color: var(--pen); text-decoration-color: var(--pen-line); text-underline-offset: 2px; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--pen); outline-offset: 2px; border-radius: 3px; }
pre { padding: 8px 12px; background: var(--well); border-radius: 3px; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 560px; overflow: auto; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 12px; top: 8px; background: var(--sheet); padding: 8px 12px; }
.cp { font: 600 0.75rem/1 var(--mono); color: var(--fail); background: var(--fail-soft); border-radius: 2px; padding: 1px 3px; white-space: nowrap; }
.cut { display: block; margin-top: 8px; font: 400 0.75rem/1.4 var(--sans); color: var(--wait); }
.run { --c: var(--run); --g: var(--run-soft); } .wait { --c: var(--wait); --g: var(--wait-soft); } .doubt { --c: var(--doubt); --g: var(--doubt-soft); }
.done { --c: var(--done); --g: var(--done-soft); } .fail { --c: var(--fail); --g: var(--fail-soft); } .stop { --c: var(--stop); --g: var(--stop-soft); }
.st { display: inline-block; padding: 1px 8px; border-radius: 10px; font: 500 0.75rem/18px var(--sans); white-space: nowrap; color: var(--c); background: var(--g); }
.hash { font-size: 0.75rem; color: var(--ink-2); background: var(--well); border-radius: 3px; padding: 1px 5px; white-space: nowrap; }
.tag { font: 500 0.75rem/18px var(--sans); color: var(--ink-2); background: var(--well); border-radius: 3px; padding: 1px 6px; white-space: nowrap; }
.top { padding: 32px 0 16px; }
.brand { display: flex; align-items: center; gap: 8px; margin-bottom: 16px; font-weight: 600; }
.seal { width: 9px; height: 9px; border-radius: 50%; background: var(--ink); box-shadow: 0 0 0 3px var(--paper), 0 0 0 4px var(--ink); margin: 0 4px; }
.meta { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; margin-top: 8px; font-size: 0.8125rem; color: var(--ink-2); }
.figures { display: grid; grid-template-columns: repeat(5, 1fr); margin-top: 16px; background: var(--sheet); border: 1px solid var(--hair); border-radius: 6px; }
.figures > div { padding: 12px 16px; border-left: 1px solid var(--hair); } .figures > div:first-child { border-left: 0; }
.figures dt { font-size: 0.75rem; color: var(--ink-3); } .figures dd { font-size: 1.25rem; line-height: 1.3; font-weight: 600; overflow-wrap: anywhere; }
.tokens { margin-top: 12px; } .bar { display: block; width: 100%; height: 8px; border-radius: 2px; background: var(--well); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin-top: 4px; font-size: 0.75rem; color: var(--ink-3); }
.legend i, th i { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 5px; }
i.t-read { background: var(--t-read); } i.t-write { background: var(--t-write); } i.t-fresh { background: var(--t-fresh); } i.t-out { background: var(--t-out); }
rect.t-read { fill: var(--t-read); } rect.t-write { fill: var(--t-write); } rect.t-fresh { fill: var(--t-fresh); } rect.t-out { fill: var(--t-out); }
.proof, .removed { margin-top: 12px; padding: 8px 12px; border-radius: 6px; font-size: 0.8125rem; overflow-wrap: anywhere; }
.proof { color: var(--done); background: var(--done-soft); } .proof .hash { background: none; color: inherit; padding: 0; } .proof a { color: inherit; }
.removed { color: var(--wait); background: var(--wait-soft); }
nav { position: sticky; top: 0; z-index: 3; margin: 0 -24px; padding: 0 24px; background: var(--paper); border-bottom: 1px solid var(--hair); overflow-x: auto; scrollbar-width: none; }
nav ul { display: flex; gap: 4px; } nav a { display: block; padding: 11px 10px; font-weight: 500; font-size: 0.8125rem; color: var(--ink-2); text-decoration: none; white-space: nowrap; }
nav li:first-child a { padding-left: 0; } nav a:hover { color: var(--ink); }
main > section { margin-top: 32px; }
.seq { color: var(--ink-3); text-decoration: none; } a.seq:hover { color: var(--pen); text-decoration: underline; } .cap .seq, p .seq { padding: 0; }
.turn, .events, .card, main > section > details, main > section > .kv, .grid { background: var(--sheet); border: 1px solid var(--hair); border-radius: 6px; }
.turn { margin-top: 12px; padding-bottom: 12px; content-visibility: auto; contain-intrinsic-size: auto 500px; }
.turnh { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 10px; padding: 8px 16px; background: var(--well); border-bottom: 1px solid var(--hair); border-radius: 6px 6px 0 0; }
.turnh small { margin-left: auto; }
.msg { display: grid; grid-template-columns: var(--gut) minmax(0, 1fr); padding: 12px 16px 0 0; }
.msg > .seq { padding: 2px 0 0 16px; }
.msg .body { padding-left: 12px; border-left: 2px solid transparent; min-width: 0; } .msg.you .body { border-left-color: var(--ink); }
.who small { margin-left: 6px; }
.said { max-width: 72ch; white-space: pre-wrap; overflow-wrap: anywhere; }
.said + .said { margin-top: 8px; }
.note p { color: var(--c, var(--ink-2)); overflow-wrap: anywhere; }
.calls { margin-top: 8px; border: 1px solid var(--hair); border-radius: 6px; } .calls > li { border-top: 1px solid var(--hair); } .calls > li:first-child { border-top: 0; } .calls > li.made { padding-left: 20px; }
summary { cursor: pointer; list-style: none; } summary::-webkit-details-marker { display: none; }
summary::before { content: "›"; display: inline-block; width: 14px; height: 14px; flex: none; line-height: 12px; text-align: center; color: var(--ink-3); font-weight: 600; transition: rotate 80ms; } details[open] > summary::before { rotate: 90deg; }
details > .in { padding: 0 12px 12px; min-width: 0; }
.calls summary { display: flex; align-items: baseline; gap: 2px 8px; padding: 6px 10px; }
.tool { font-weight: 600; white-space: nowrap; } .about { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 0.8125rem; color: var(--ink-3); }
details[open] > summary .about { white-space: normal; overflow-wrap: anywhere; }
.step { display: grid; grid-template-columns: 32px minmax(0, 1fr); gap: 0 8px; margin-top: 6px; font-size: 0.8125rem; } .step > .seq { text-align: right; padding-top: 2px; } .step span { overflow-wrap: anywhere; }
.step > div > span { color: var(--c, inherit); } .step pre, .step .quote { margin-top: 4px; }
.quote { background: var(--untrusted); border-left: 3px solid var(--untrusted-line); padding: 8px 12px; border-radius: 0 3px 3px 0; font-size: 0.8125rem; overflow-wrap: anywhere; } .quote .said { max-height: 480px; overflow: auto; }
.quote footer { display: flex; flex-wrap: wrap; gap: 2px 12px; margin-top: 4px; font-size: 0.75rem; color: var(--ink-2); }
.card { margin-top: 12px; overflow: hidden; content-visibility: auto; contain-intrinsic-size: auto 500px; }
.card > header { padding: 14px 16px 12px; } .card .line { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; font-size: 0.75rem; color: var(--ink-3); } .card h3 { margin-top: 6px; font-size: 1rem; overflow-wrap: anywhere; text-wrap: pretty; }
.blk { border-top: 1px solid var(--hair); padding: 12px 16px; min-width: 0; } .blk h4:first-child { margin-top: 0; } .blk .blk { border: 1px solid var(--hair); border-radius: 6px; margin-top: 8px; } .blk details { margin-top: 8px; font-size: 0.8125rem; } .blk details > .in { padding: 4px 0 0; }
.verdict { background: var(--well); } .verdict pre { background: var(--sheet); margin: 4px 0; }
.warn { margin-top: 4px; font-size: 0.75rem; color: var(--wait); overflow-wrap: anywhere; }
.kv { display: grid; grid-template-columns: 116px minmax(0, 1fr); gap: 4px 12px; font-size: 0.8125rem; } .kv dt { color: var(--ink-3); overflow-wrap: anywhere; } .kv dd { overflow-wrap: anywhere; white-space: pre-wrap; min-width: 0; } main > section > .kv { padding: 12px 16px; } .kv pre { margin: 0; }
.letter { margin-top: 8px; padding-top: 8px; border-top: 1px solid var(--hair); white-space: pre-wrap; overflow-wrap: anywhere; max-width: 72ch; }
.diff { font: 400 0.75rem/20px var(--mono); border: 1px solid var(--hair); border-radius: 6px; overflow: hidden; } .dh { display: flex; flex-wrap: wrap; gap: 2px 12px; padding: 4px 12px; background: var(--well); border-bottom: 1px solid var(--hair); font-family: var(--sans); color: var(--ink-2); overflow-wrap: anywhere; }
.l { display: grid; grid-template-columns: 36px 36px 20px minmax(0, 1fr); } .l span { color: var(--ink-3); text-align: right; padding-right: 8px; user-select: none; } .l span:nth-child(3) { text-align: center; padding: 0; } .l code { white-space: pre-wrap; }
.l.add { background: var(--add-line); } .l.del { background: var(--del-line); } .hunk { padding: 2px 12px; background: var(--well); color: var(--ink-3); font-family: var(--sans); }
ins { background: var(--add-mark); text-decoration: none; border-radius: 2px; padding: 0 2px; } del { background: var(--del-mark); border-radius: 2px; padding: 0 2px; }
.bar + .grid, p + .grid { margin-top: 8px; } .grid { width: 100%; border-spacing: 0; border-collapse: separate; overflow: hidden; } .grid th { text-align: left; font-size: 0.75rem; font-weight: 500; color: var(--ink-3); } .grid th, .grid td { padding: 6px 12px; border-bottom: 1px solid var(--hair); font-size: 0.8125rem; overflow-wrap: anywhere; vertical-align: top; } .grid tr:last-child > * { border-bottom: 0; } .grid tfoot > tr > * { border-top: 1px solid var(--ink-3); font-weight: 600; color: var(--ink); }
.grid .num { text-align: right; white-space: nowrap; } .grid tbody th, .grid tfoot th { color: var(--ink); white-space: nowrap; }
.key { display: inline-flex; align-items: center; gap: 6px; margin-left: 12px; } .key i { width: 9px; height: 9px; border-radius: 50%; border: 2px solid var(--ink-2); } .key i.fact { background: var(--ink-2); }
.events { overflow: hidden; } .group { content-visibility: auto; contain-intrinsic-size: auto 900px; } .group + .group > .turnh { border-radius: 0; border-top: 1px solid var(--hair); }
.steph { padding: 10px 16px 2px calc(var(--gut) + 24px); font-size: 0.8125rem; color: var(--ink-2); } .steph small { float: right; }
.ev { content-visibility: auto; contain-intrinsic-size: auto 30px; } .ev > summary { display: grid; grid-template-columns: var(--gut) 24px minmax(0, 1fr) 96px 64px; align-items: center; min-height: var(--row); padding-right: 16px; font-size: 0.8125rem; line-height: 1.35; } .ev > summary::before { display: none; } .ev > summary:hover, .req > summary:hover, .calls summary:hover { background: var(--hover); }
.ev:target > summary, .req:target > summary { background: var(--pen-soft); box-shadow: inset 3px 0 0 var(--pen); }
.ev .seq { text-align: right; padding-right: 12px; } .ev[open] > summary .tx { white-space: normal; overflow-wrap: anywhere; padding-block: 5px; } .ev > .in { padding-left: calc(var(--gut) + 24px); }
.dot { position: relative; align-self: stretch; } .dot::before { content: ""; position: absolute; left: 6px; top: 0; bottom: 0; width: 1px; background: var(--hair); } .dot::after { content: ""; position: absolute; left: 2px; top: calc(50% - 4.5px); width: 9px; height: 9px; border-radius: 50%; border: 2px solid var(--c, var(--ink-2)); background: var(--c, var(--ink-2)); } .dec .dot::after { background: var(--sheet); }
.tx { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; } .tx b { font-weight: 600; } .ms { text-align: right; font-size: 0.75rem; color: var(--ink-3); white-space: nowrap; }
svg.wf { width: 84px; height: 5px; justify-self: end; } svg.wf rect { fill: var(--c, var(--edge)); opacity: 0.8; } svg.wf rect.waiting { opacity: 0.4; }
.req { margin-top: 8px; } .req > summary { display: grid; grid-template-columns: 14px minmax(0, 1fr) 160px minmax(0, 1.4fr); gap: 2px 12px; align-items: center; padding: 8px 16px; font-size: 0.8125rem; } .rsum { text-align: right; }
.parts { margin-top: 8px; border: 1px solid var(--hair); border-radius: 6px; overflow: hidden; } .parts > * { border-top: 1px solid var(--hair); padding: 6px 12px; font-size: 0.8125rem; } .parts > :first-child { border-top: 0; } .parts pre { margin-top: 4px; max-height: 400px; } .shared { background: var(--well); color: var(--ink-2); } .sign { display: inline-block; width: 12px; font-family: var(--mono); color: var(--ink-3); } .sign.add { color: var(--done); } .shared.del .sign { color: var(--fail); }
main > section > details:not(.req) { margin-top: 8px; } main > section > details:not(.req) > summary { padding: 8px 16px; font-weight: 500; } main > section > .kv + details { margin-top: 8px; } #agent details details > summary { padding: 4px 0; } #agent details details > .in { padding: 4px 0 8px 14px; } .rules li { padding: 3px 0; font-size: 0.8125rem; overflow-wrap: anywhere; } .req > .in > p { margin-top: 8px; } .long { font-size: 0.75rem; }
#proof p { max-width: 72ch; margin-bottom: 12px; }
@media (max-width: 720px) {
  :root { --gut: 34px; --row: 44px; }
  body { padding: 0 12px 64px; font-size: 15px; } .top { padding-top: 20px; } nav { margin: 0 -12px; padding: 0 12px; } nav a { padding: 13px 10px; }
  .figures { grid-template-columns: 1fr 1fr 1fr; } .figures > div { padding: 10px 12px; } .figures > div:nth-child(4) { border-left: 0; } .figures > div:nth-child(n + 4) { border-top: 1px solid var(--hair); } .figures > div:last-child { grid-column: span 2; }
  .turnh { padding: 8px 12px; } .turnh small { margin-left: 0; flex-basis: 100%; } .msg { padding-right: 12px; } .msg > .seq { padding-left: 10px; }
  .calls summary { display: grid; grid-template-columns: 14px minmax(0, 1fr) auto; padding: 10px; } .about { grid-column: 2 / -1; grid-row: 2; white-space: normal; overflow-wrap: anywhere; } .calls .st { grid-column: 3; grid-row: 1; white-space: normal; }
  .ev > summary { grid-template-columns: var(--gut) 20px minmax(0, 1fr) 56px; padding-right: 12px; } .ev .wf { display: none; } .ev .tx { white-space: normal; overflow-wrap: anywhere; padding-block: 6px; } .ev .seq { padding-right: 8px; } .ev > .in { padding-left: 12px; } .steph { padding-left: calc(var(--gut) + 20px); }
  .req > summary { grid-template-columns: 14px minmax(0, 1fr); padding: 10px 12px; } .rbar { grid-column: 2; } .rsum { grid-column: 2; text-align: left; }
  .kv { grid-template-columns: minmax(0, 1fr); gap: 0; } .kv dd { margin-bottom: 8px; } .card > header, .blk { padding-inline: 12px; }
  .grid thead { display: none; } .grid, .grid tbody, .grid tfoot { display: block; } .grid tr { display: flex; flex-wrap: wrap; gap: 0 16px; padding: 8px 12px; border-bottom: 1px solid var(--hair); } .grid tr:last-child { border-bottom: 0; } .grid th[scope] { flex: 1 0 100%; } .grid th, .grid td, .grid tfoot > tr > * { padding: 0; border: 0; } .grid td::before { content: attr(data-l) " "; color: var(--ink-3); font-weight: 400; } .grid .num { text-align: left; white-space: normal; }
  .key { margin-left: 0; margin-right: 12px; }
}
@media (forced-colors: active) { .st, .proof, .removed, .quote { border: 1px solid CanvasText; } .dot::after { forced-color-adjust: none; } }
@media (prefers-reduced-motion: reduce) { summary::before { transition: none; } }
@media print {
  :root { color-scheme: light; } body { max-width: none; padding: 0; background: none; font-size: 10pt; } nav, .skip { display: none; } pre, .quote .said { max-height: none; overflow: visible; }
  .turn, .card, .group, .ev { content-visibility: visible; } .card, .ev, .msg { break-inside: avoid; } .turnh, h2, h3 { break-after: avoid; } main > section { break-before: auto; }
}
`;
