/** A cache measurement as one page: the plan, the rules, three plots, every figure, and what keeping warm is worth. */
import type { Rates } from '../../cost/rates.ts';
import { countOf, formatCost, formatCount, formatDuration, formatShare } from '../../view/format.ts';
import { breakEvenMs, WARM_RULES, warmRow } from '../../view/warm-keeping.ts';
import { markup, pagePolicy, type Markup } from '../markup.ts';
import { STYLE } from '../crash/report-style.ts';
import type { CacheExperiment } from './experiment.ts';
import { plot, type Series } from './plot.ts';
import type { CacheRun, CellResult } from './run.ts';
import type { CacheRules } from './simulated.ts';

export type CacheReport = {
  readonly experiment: CacheExperiment;
  readonly run: CacheRun;
  readonly provider: string;
  readonly model: string;
  /** Where the provider was simulated, by these rules. */
  readonly rules: CacheRules | undefined;
  readonly rates: Rates | undefined;
  readonly day: string;
};

export const cachePage = (report: CacheReport): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(STYLE)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${report.model}: cache measurement</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
${head(report)}
${rulesPart(report)}
<section><h2>Tokens from the cache by pause</h2>${plot(
    series(report, (one) => one.readShare),
    { name: 'share of input read', format: (value) => formatShare(value), max: 1 },
  )}</section>
<section><h2>Time to the first token by pause</h2>${plot(
    series(report, (one) => one.firstTokenMs),
    { name: 'time to first token', format: formatDuration },
  )}</section>
<section><h2>Cost of a turn by pause, pings included</h2>${plot(series(report, withPings(report)), { name: 'cost of a turn', format: formatCost })}</section>
${figuresPart(report)}
${warmPart(report)}
</main>
</body>
</html>
`.markup;

const head = ({ experiment, run, provider, model, day, rules }: CacheReport): Markup => {
  const asked = `${countOf(experiment.turns, 'turn')} a session, ${countOf(run.results.length, 'session')} measured`;
  const stopped = run.stopped === undefined ? '' : ` Stopped before its end: ${run.stopped}.`;
  return markup`<header>
<p class="cap">Cache measurement${rules ? ', simulated provider' : ''}</p>
<h1>${provider} ${model}</h1>
<p class="cap">${day}. ${asked}, ${formatCost(run.spent)} spent.${stopped}</p>
</header>`;
};

const rulesPart = ({ rules }: CacheReport): Markup =>
  rules
    ? markup`<section><h2>Rules of the simulation</h2>
<p>The smallest prefix that is kept has ${rules.minimumTokens} tokens. A mark looks back ${rules.lookbackBlocks} blocks. A prefix is kept for ${formatDuration(rules.lifetimeMs)} after its last use. A token is ${rules.bytesPerToken} bytes. A million tokens cost ${formatCost(rules.rates.input)} uncached, ${formatCost(rules.rates.cacheWrite)} written, ${formatCost(rules.rates.cacheRead)} read, ${formatCost(rules.rates.output)} as output. The first token comes after ${rules.firstTokenMs.base} ms and ${rules.firstTokenMs.fresh} ms for each thousand tokens that are new, ${rules.firstTokenMs.cached} ms for each thousand from the cache. Nothing was sent anywhere.</p></section>`
    : markup`<section><h2>How it was measured</h2>
<p>Every request was sent to the provider and is in the record; the sessions are named below. Each prefix is unlike any other, so that nothing was in a cache before. Pings are sessions of their own with the same instructions.</p></section>`;

const withPings =
  ({ experiment }: CacheReport) =>
  ({ turnUsd, pingUsd }: CellResult): number | undefined =>
    turnUsd === undefined || pingUsd === undefined
      ? undefined
      : turnUsd + pingUsd / Math.max(1, experiment.turns - 1);

/** A line for each prefix size, and one more where it was kept warm. */
const series = ({ run }: CacheReport, of: (one: CellResult) => number | undefined): readonly Series[] => {
  const found = new Map<string, { gapMs: number; value: number }[]>();
  for (const result of run.results) {
    const { cell } = result;
    const name = `${formatCount(cell.prefixTokens)} tokens${cell.pingEveryMs === undefined ? '' : ', kept warm'}`;
    const value = of(result);
    const points = found.get(name) ?? [];
    if (value !== undefined) points.push({ gapMs: cell.gapMs, value });
    found.set(name, points);
  }
  return [...found].map(([name, points]) => ({ name, points }));
};

const share = (value: number | undefined): string =>
  value === undefined ? 'unknown' : formatShare(value, 1);

const figuresPart = ({ run }: CacheReport): Markup => {
  const rows = run.results.map(
    ({ cell, session, readShare, expectedShare, firstTokenMs, turnUsd, pingUsd }) => markup`
<tr><td class="num" data-l="prefix">${cell.prefixTokens}</td><td class="num" data-l="pause">${formatDuration(cell.gapMs)}</td><td data-l="warm">${cell.pingEveryMs === undefined ? 'no' : `pings each ${formatDuration(cell.pingEveryMs)}`}</td><td class="num" data-l="expected">${share(expectedShare)}</td><td class="num" data-l="read">${share(readShare)}</td><td class="num" data-l="first token">${formatDuration(firstTokenMs)}</td><td class="num" data-l="turn">${formatCost(turnUsd)}</td><td class="num" data-l="pings">${formatCost(pingUsd)}</td><td class="name" data-l="session"><code>${session}</code></td></tr>`,
  );
  return markup`<section><h2>Figures</h2>
<table><thead><tr><th class="num">prefix</th><th class="num">pause</th><th>kept warm</th><th class="num">expected</th><th class="num">read</th><th class="num">first token</th><th class="num">a turn</th><th class="num">all pings</th><th>session</th></tr></thead>
<tbody>${rows}</tbody></table>
<p class="cap">Means over all turns but the first. Expected is what the bytes allow.</p></section>`;
};

const MINUTE_MS = 60_000;
const GAPS_MIN = [5, 6, 10, 15, 20, 30, 45, 60, 90, 120] as const;

/** Break-even by pause: what the pings cost and what a cold prefix costs instead. */
const warmPart = ({ experiment, rates }: CacheReport): Markup => {
  if (!rates) return markup`<section><h2>Keeping warm</h2><p>No price is known for this model.</p></section>`;
  const tables = experiment.prefixTokens.map((tokens) => {
    const rows = GAPS_MIN.map((minutes) => warmRow(minutes * MINUTE_MS, tokens, rates)).map(
      ({ gapMs, pings, pingUsd, coldUsd, savedUsd }) => markup`
<tr><td class="num" data-l="pause">${formatDuration(gapMs)}</td><td class="num" data-l="pings">${pings}</td><td class="num" data-l="cost of pings">${formatCost(pingUsd)}</td><td class="num" data-l="cost of a cold prefix">${formatCost(coldUsd)}</td><td class="num" data-l="saved">${formatCost(savedUsd)}</td></tr>`,
    );
    const even = breakEvenMs(tokens, rates);
    const words = even > 0 ? `Pays up to pauses of ${formatDuration(even)}.` : 'Never pays.';
    return markup`<h3>${formatCount(tokens)} tokens</h3><p>${words}</p>
<table><thead><tr><th class="num">pause</th><th class="num">pings</th><th class="num">cost of pings</th><th class="num">cost of a cold prefix</th><th class="num">saved</th></tr></thead><tbody>${rows}</tbody></table>`;
  });
  return markup`<section><h2>Keeping a prefix warm</h2>
<p>A prefix is kept for ${formatDuration(WARM_RULES.lifetimeMs)}; a ping each ${formatDuration(WARM_RULES.pingEveryMs)} reads it again.</p>${tables}</section>`;
};
