/**
 * A crash matrix as one page that can be sent to somebody: no script, nothing loaded from anywhere, and every text
 * of others escaped and made visible.
 */
import { createHash } from 'node:crypto';
import { countOf, formatCount, formatDuration } from '../../view/format.ts';
import { reveal } from '../../view/reveal.ts';
import { matrixRows, verdictCounts, type KillResult, type Matrix } from './matrix.ts';
import type { Verdict } from './judge.ts';
import { POINT_WORDS, whereWords } from './points.ts';
import { STYLE } from './report-style.ts';
import { doubtWords, unjudgedWords, wrongWords } from './words.ts';

/** Kills of one list; more make a page that nobody reads and a phone cannot show. */
export const KILLS_LISTED_MAX = 500;

/** Markup that may go into the page. Only this file makes it, from its own words and escaped text. */
type Markup = { readonly markup: string };

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  reveal(text).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

type Value = Markup | string | number | readonly Markup[];

/** Our own markup with values in it: a string or number is text of others, a list is one after the other. */
const markup = (words: TemplateStringsArray, ...values: readonly Value[]): Markup => ({
  markup: words.map((word, i) => word + textOf(values[i] ?? '')).join(''),
});

const textOf = (value: Value): string => {
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return formatCount(value);
  if ('markup' in value) return value.markup;
  return value.map((one) => one.markup).join('');
};

const NOTHING: Markup = { markup: '' };

const VERDICTS: Readonly<Record<Verdict, { readonly words: string; readonly state: string }>> = {
  'same-end': { words: 'same end', state: 'done' },
  'in-doubt': { words: 'in doubt', state: 'doubt' },
  twice: { words: 'twice', state: 'fail' },
  lost: { words: 'lost', state: 'fail' },
  unproved: { words: 'not proved', state: 'fail' },
  'other-end': { words: 'other end', state: 'fail' },
  'not-reached': { words: 'not reached', state: 'wait' },
};

/** The page as UTF-8 text. */
export const crashPage = (matrix: Matrix): string => {
  const { scenario, results } = matrix;
  const wrong = results.filter((one) => one.wrong);
  const unjudged = results.filter(({ verdict }) => verdict === 'not-reached');
  const doubtful = results.filter(({ verdict }) => verdict === 'in-doubt');
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${scenario}: crash test</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
${head(matrix)}
${figures(matrix)}
${byBoundary(matrix)}
${killList('Wrong', wrong, 'What each of these kills did must not happen.')}
${killList('Not judged', unjudged, 'These kills met another boundary than the one they were meant for.')}
${killList('In doubt', doubtful, 'Nobody can know whether the effect happened. The call waits for a person to say; nothing is run again.')}
</main>
</body>
</html>
`.markup;
};

/** Nothing but the one style of this page, known by its digest. */
const policy = (): string => {
  const digest = createHash('sha256').update(STYLE).digest('base64');
  return `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
};

const head = ({ scenario, results, mode, seed, ms, complete, boundaries }: Matrix): Markup => {
  const kinds = mode === 'real' ? 'real kills (SIGKILL)' : 'simulated kills';
  const soFar = complete ? '' : 'Stopped before its end. ';
  return markup`<header>
<p class="cap">Crash test</p>
<h1>${scenario}</h1>
${verdictLine(results)}
<p class="cap">${soFar}${countOf(boundaries.length, 'boundary', 'boundaries')}, ${kinds}, ${formatDuration(ms)}, seed ${String(seed)}</p>
</header>`;
};

const verdictLine = (results: readonly KillResult[]): Markup => {
  const unjudged = results.filter(({ verdict }) => verdict === 'not-reached').length;
  if (results.some((one) => one.wrong)) return markup`<p class="verdict fail">✗ ${wrongWords(results)}</p>`;
  if (unjudged > 0) return markup`<p class="verdict wait">! ${unjudgedWords(unjudged)}</p>`;
  return markup`<p class="verdict done">✓ No effect ran twice, nothing was lost. ${doubtWords(results)}</p>`;
};

const figures = ({ results }: Matrix): Markup => {
  const counts = verdictCounts(results);
  const wrong = results.filter((one) => one.wrong).length;
  const figure = (name: string, count: number, state: string = ''): Markup =>
    markup`<div class="${count > 0 ? state : ''}"><dt>${name}</dt><dd>${count}</dd></div>`;
  return markup`<dl class="figures">
${figure('kills', results.length)}
${figure('same end', counts['same-end'])}
${figure('in doubt', counts['in-doubt'], 'doubt')}
${figure('wrong', wrong, 'fail')}
</dl>`;
};

const COLUMNS: readonly Verdict[] = [
  'same-end',
  'in-doubt',
  'twice',
  'lost',
  'unproved',
  'other-end',
  'not-reached',
];
/** These have a column only where there is something in it. */
const RARE: ReadonlySet<Verdict> = new Set(['unproved', 'other-end', 'not-reached']);
/** Numbers of these stand in their colour. */
const LOUD: ReadonlySet<string> = new Set(['doubt', 'fail', 'wait']);

const byBoundary = (matrix: Matrix): Markup => {
  const total = verdictCounts(matrix.results);
  const columns = COLUMNS.filter((verdict) => !RARE.has(verdict) || total[verdict] > 0);
  const cell = (verdict: Verdict, count: number): Markup => {
    const { words, state } = VERDICTS[verdict];
    const look = count === 0 ? 'none' : LOUD.has(state) ? state : '';
    return markup`<td class="num ${look}" data-l="${words}">${count}</td>`;
  };
  const cells = (counts: Readonly<Record<Verdict, number>>, kills: number): Markup =>
    markup`<td class="num" data-l="kills">${kills}</td>${columns.map((one) => cell(one, counts[one]))}`;
  const titles = columns.map((one) => markup`<th class="num">${VERDICTS[one].words}</th>`);
  const rows = matrixRows(matrix).map(
    (row) => markup`
<tr><td class="name">${POINT_WORDS[row.point]} <code>${row.point}</code></td>${cells(row, row.kills)}</tr>`,
  );
  return markup`<section>
<h2>By boundary</h2>
<table>
<thead><tr><th>boundary</th><th class="num">kills</th>${titles}</tr></thead>
<tbody>${rows}
</tbody>
<tfoot><tr><td class="name">all</td>${cells(total, matrix.results.length)}</tr></tfoot>
</table>
</section>`;
};

const killList = (title: string, kills: readonly KillResult[], words: string): Markup => {
  if (kills.length === 0) return NOTHING;
  const more = kills.length - KILLS_LISTED_MAX;
  const rest =
    more > 0 ? markup`<p class="cap">… ${more} more; the command has them all with --json.</p>` : NOTHING;
  return markup`<section>
<h2>${title} <span class="count">${kills.length}</span></h2>
<p class="cap">${words}</p>
<ol class="kills">${kills.slice(0, KILLS_LISTED_MAX).map(killItem)}
</ol>
${rest}</section>`;
};

const killItem = ({ kill, struck, verdict, detail }: KillResult): Markup => {
  const { words, state } = VERDICTS[verdict];
  const said = detail === '' ? words : `${words}: ${detail}`;
  const where = struck.map(
    (place, i) =>
      markup`${i > 0 ? ', then ' : ''}${POINT_WORDS[place.point]} <code>${whereWords(place)}</code>`,
  );
  return markup`
<li><code class="only">--only ${kill.join(',')}</code><span>${where}</span><span class="said ${state}">${said}</span></li>`;
};
