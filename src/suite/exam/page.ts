/**
 * A report as one page that can be sent to somebody: no script, nothing loaded from anywhere, every text of others
 * escaped and made visible. What is shown is filtered by the style alone.
 */
import { countOf, formatBytes, formatCost, formatDuration } from '../../view/format.ts';
import { STYLE as BASE } from '../crash/report-style.ts';
import { markup, pagePolicy, type Markup } from '../markup.ts';
import { NOISE, type Deed } from './deeds.ts';
import type { Divergence } from './divergence.ts';
import type { SentRequest } from './sent-requests.ts';
import type { ExamReport, ExamRun, PairDifference, RunVerdict } from './exam.ts';

/** UTF-16 units of a call's arguments that are shown. */
export const ARGS_SHOWN_MAX = 600;
const NOTHING: Markup = { markup: '' };

const STYLE: string = `${BASE}
.filter { margin-top: 24px; font-size: 0.8125rem; display: flex; flex-wrap: wrap; gap: 4px 16px; border: 0; padding: 0; }
.filter label { padding: 8px 0; }
body:has(#only-bad:checked) .exam.quiet, body:has(#only-other:checked) .exam:not(.other) { display: none; }
.exam { margin-top: 8px; background: var(--sheet); border: 1px solid var(--hair); border-radius: 6px; }
.exam > summary { padding: 10px 12px; cursor: pointer; overflow-wrap: anywhere; }
.exam > summary .one { color: var(--c); font-weight: 500; margin-left: 12px; }
.exam > div { padding: 0 12px 12px; overflow-wrap: anywhere; }
.exam ul { margin: 4px 0; padding-left: 20px; color: var(--c); }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 280px), 1fr)); gap: 12px; margin-top: 12px; }
.sides ol { margin: 4px 0 0; padding: 0; list-style: none; border-top: 1px solid var(--hair); }
.sides li { padding: 6px 8px; border-bottom: 1px solid var(--hair); font-size: 0.8125rem; }
.sides li.here { background: var(--fail-soft); }
.sides li > code { display: block; }
.sides a { color: inherit; }
.sides section { margin-top: 12px; min-width: 0; }
.request { margin-top: 6px; font-size: 0.75rem; color: var(--ink-3); }
.request > summary { padding: 6px 0; cursor: pointer; overflow-wrap: anywhere; }
.request > pre { margin: 0; padding: 8px; max-height: 24rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--well); border-radius: 4px; font: 0.75rem/1.5 ui-monospace, "SF Mono", Consolas, monospace; color: var(--ink-2); }
.request > pre:target { outline: 2px solid var(--ink-3); }
`;

const SIGNS: Readonly<Record<RunVerdict, readonly [sign: string, state: string]>> = {
  passed: ['✓', 'done'],
  failed: ['✗', 'fail'],
  errored: ['!', 'wait'],
};

/** The page as UTF-8 text. */
export const examPage = (report: ExamReport, differences: readonly PairDifference[]): string => {
  const { runs, ms, complete } = report;
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const bad = runs.filter(({ verdict }) => verdict !== 'passed').length;
  const verdict =
    bad === 0
      ? markup`<p class="verdict done">✓ All passed.</p>`
      : markup`<p class="verdict fail">✗ ${countOf(bad, 'run')} did not pass.</p>`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(STYLE)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Suite: ${countOf(scenarios.length, 'scenario')}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
<header>
<p class="cap">Suite</p>
<h1>${countOf(scenarios.length, 'scenario')}, ${countOf(runs.length, 'run')}</h1>
${verdict}
<p class="cap">${complete ? '' : 'Stopped before its end. '}${formatDuration(ms)}. No difference is: ${NOISE.join('; ')}.</p>
</header>
${sums(runs)}
<fieldset class="filter">
<label><input type="radio" name="show" id="all" checked> all</label>
<label><input type="radio" name="show" id="only-bad"> not passed, or otherwise</label>
<label><input type="radio" name="show" id="only-other"> with a difference</label>
</fieldset>
${scenarios.map((scenario) => exam(scenario, runs, differences))}
</main>
</body>
</html>
`.markup;
};

const sums = (runs: readonly ExamRun[]): Markup => {
  const models = [...new Set(runs.map(({ model }) => model))];
  const rows = models.map((model) => {
    const here = runs.filter((run) => run.model === model);
    const count = (verdict: RunVerdict): number => here.filter((run) => run.verdict === verdict).length;
    const known = here.every(({ cost }) => cost !== undefined);
    const cost = here.reduce((sum, run) => sum + (run.cost ?? 0), 0);
    const steps = here.reduce((sum, run) => sum + run.steps, 0);
    return markup`
<tr><td class="name">${model}</td><td class="num" data-l="passed">${count('passed')}</td><td class="num ${count('failed') > 0 ? 'fail' : 'none'}" data-l="failed">${count('failed')}</td><td class="num ${count('errored') > 0 ? 'wait' : 'none'}" data-l="errored">${count('errored')}</td><td class="num" data-l="cost">${formatCost(cost)}${known ? '' : ' known'}</td><td class="num" data-l="steps">${steps}</td></tr>`;
  });
  return markup`<section>
<h2>By model</h2>
<table>
<thead><tr><th>model</th><th class="num">passed</th><th class="num">failed</th><th class="num">errored</th><th class="num">cost</th><th class="num">steps</th></tr></thead>
<tbody>${rows}
</tbody>
</table>
</section>`;
};

const exam = (scenario: string, runs: readonly ExamRun[], differences: readonly PairDifference[]): Markup => {
  const here = runs.filter((run) => run.scenario === scenario);
  const pairs = differences.filter((one) => one.scenario === scenario);
  const quiet = pairs.length === 0 && here.every(({ verdict }) => verdict === 'passed');
  const many = new Set(here.map(({ model }) => model)).size > 1;
  const verdicts = here.map(({ verdict, model, repeat }) => {
    const [sign, state] = SIGNS[verdict];
    const times = repeat > 1 ? ` ${repeat}` : '';
    return markup`<span class="one ${state}">${sign} ${verdict}${many ? `, ${model}` : ''}${times}</span>`;
  });
  return markup`<details class="exam ${quiet ? 'quiet' : ''} ${pairs.length > 0 ? 'other' : ''}"${{ markup: quiet ? '' : ' open' }}>
<summary>${scenario} ${verdicts}</summary>
<div>${here.map(problems)}${pairs.map(pair)}
<div class="sides">${here.filter(({ repeat }) => repeat === 1).map((run) => side(run, { pair: pairs[0], quiet, at: runs.indexOf(run) }))}</div>
</div>
</details>`;
};

const problems = ({ problems: found, model, verdict }: ExamRun): Markup =>
  found.length === 0
    ? NOTHING
    : markup`<p class="cap">${model}</p><ul class="${SIGNS[verdict][1]}">${found.map(({ expectation, message }) => markup`<li>${expectation}: ${message}</li>`)}</ul>`;

const pair = ({ models, divergence }: PairDifference): Markup => {
  const { path, cause, values } = divergence;
  const text = (value: (typeof values)[number]): string =>
    value === undefined ? 'nothing more' : cut(JSON.stringify(value));
  const definitions = (divergence.one || divergence.other ? divergence.definitions : []).map(
    ({ path: where, text: words }) => markup`<p class="cap">request 1: ${words} <code>${where}</code></p>`,
  );
  return markup`${definitions}<p class="verdict fail">First difference${path === '' ? '' : ` at ${path}`}: ${cause}.</p>
<p class="cap">${models[0]}: <code>${text(values[0])}</code></p><p class="cap">${models[1]}: <code>${text(values[1])}</code></p>`;
};

const cut = (text: string): string =>
  text.length > ARGS_SHOWN_MAX ? `${text.slice(0, ARGS_SHOWN_MAX)}…` : text;

/** What one model did, in order; the deed in which it first differs is marked. */
const side = (run: ExamRun, { pair: first, quiet, at }: SidePlace): Markup => {
  const { model, signature, steps, cost } = run;
  // As they happened: a signature has its reads in an order of its own.
  const deeds = (signature?.deeds ?? []).toSorted((left, right) => left.seq - right.seq);
  // Where all is well nobody has to look, and the page stays small.
  const requests = quiet ? [] : run.requests;
  const idOf = ({ seq }: SentRequest): string => `run-${at + 1}-request-${seq}`;
  const before = (deed: Deed): SentRequest | undefined => requests.findLast(({ seq }) => seq < deed.seq);
  return markup`<section><h2>${model}</h2><p class="cap">${countOf(steps, 'step')}, ${formatCost(cost)}</p>
<ol>${deeds.map((deed) => item(deed, first?.divergence, linkTo(before(deed), idOf)))}</ol>
${requests.map((sent) => exact(sent, idOf(sent)))}</section>`;
};

type SidePlace = {
  readonly pair: PairDifference | undefined;
  readonly quiet: boolean;
  /** Of the run in the report. */
  readonly at: number;
};

const linkTo = (sent: SentRequest | undefined, idOf: (sent: SentRequest) => string): Markup =>
  sent ? markup` <a href="#${idOf(sent)}">request ${String(sent.seq)}</a>` : NOTHING;

/** The link goes to what is inside, so that a browser opens it. */
const exact = ({ seq, turn, step, bytes, digest, body }: SentRequest, id: string): Markup =>
  markup`<details class="request"><summary>request ${String(seq)}, step ${`${turn}.${step}`}, ${formatBytes(bytes)}, SHA-256 ${digest.slice(0, 12)}…</summary><pre id="${id}">${body ?? 'Too large to be kept in this page.'}</pre></details>`;

const item = (deed: Deed, divergence: Divergence | undefined, request: Markup): Markup => {
  const here = deed === divergence?.one || deed === divergence?.other;
  const { args, end, verdict, reason } = deed.value;
  const how = [verdict, end, reason].filter((word) => typeof word === 'string').join(', ');
  const shown = args === undefined ? NOTHING : markup`<code>${cut(JSON.stringify(args))}</code>`;
  return markup`<li class="${here ? 'here' : ''}">${String(deed.seq)} <b>${deed.what}</b> <span class="cap">${how}${request}</span>${shown}</li>`;
};
