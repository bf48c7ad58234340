/**
 * Whether a prefix is worth keeping warm: what asking again before a cache forgets costs, and what a cold prefix
 * costs instead. From prices, sizes and idle gaps. Pure.
 */
import type { Rates } from '../cost/rates.ts';
import { roundUsd } from '../cost/rates.ts';
import { ratesAt, type Prices } from '../cost/prices.ts';
import type { ReuseRow } from './cache-reuse.ts';

export type WarmRules = {
  /** Milliseconds that a prefix is kept after it was written or read. */
  readonly lifetimeMs: number;
  /** Milliseconds between two pings; shorter than the lifetime. */
  readonly pingEveryMs: number;
  /** Tokens that a ping has answered. */
  readonly pingOutput: number;
};

/** The shortest lifetime of any provider, with time to spare. */
export const WARM_RULES: WarmRules = { lifetimeMs: 5 * 60_000, pingEveryMs: 4 * 60_000, pingOutput: 1 };

export type WarmRow = {
  readonly gapMs: number;
  readonly pings: number;
  /** US dollars for the pings, and what the request after the gap pays more where nobody pinged. */
  readonly pingUsd: number;
  readonly coldUsd: number;
  /** What pinging saves; negative where it costs more than it saves. */
  readonly savedUsd: number;
};

const MILLION = 1_000_000;

export const warmRow = (
  gapMs: number,
  tokens: number,
  rates: Rates,
  rules: WarmRules = WARM_RULES,
): WarmRow => {
  const { input, output, cacheRead = input, cacheWrite = input } = rates;
  const cold = gapMs > rules.lifetimeMs;
  const pings = cold ? Math.ceil((gapMs - rules.lifetimeMs) / rules.pingEveryMs) : 0;
  const pingUsd = roundUsd((pings * (tokens * cacheRead + rules.pingOutput * output)) / MILLION);
  const coldUsd = cold ? roundUsd((tokens * Math.max(0, cacheWrite - cacheRead)) / MILLION) : 0;
  return { gapMs, pings, pingUsd, coldUsd, savedUsd: roundUsd(coldUsd - pingUsd) };
};

/** The longest gap, in whole pings, over which pinging costs no more than it saves; 0 where it never does. */
export const breakEvenMs = (tokens: number, rates: Rates, rules: WarmRules = WARM_RULES): number => {
  const { coldUsd } = warmRow(rules.lifetimeMs + 1, tokens, rates, rules);
  const { pingUsd } = warmRow(rules.lifetimeMs + 1, tokens, rates, rules);
  if (pingUsd <= 0 || coldUsd < pingUsd) return 0;
  return rules.lifetimeMs + Math.floor(coldUsd / pingUsd) * rules.pingEveryMs;
};

export type WarmReport = {
  /** For each request that came after a gap beyond the lifetime. */
  readonly rows: readonly (WarmRow & { readonly number: number; readonly tokens: number })[];
  readonly pingUsd: number;
  readonly savedUsd: number;
  /** Requests whose model no price list knows. */
  readonly unknown: number;
};

export type Warmed = { readonly provider: string; readonly model: string; readonly at: number };

/** What pinging would have cost and saved in a session, for the part of each prefix that could be reused. */
export const warmReport = (
  reuse: readonly ReuseRow[],
  prices: Prices,
  model: Warmed,
  rules: WarmRules = WARM_RULES,
): WarmReport => {
  const rows: (WarmRow & { number: number; tokens: number })[] = [];
  let unknown = 0;
  for (const { number, gapMs = 0, sharedTokens: tokens } of reuse) {
    if (gapMs <= rules.lifetimeMs || tokens === undefined || tokens === 0) continue;
    const rates = ratesAt(prices, model, tokens);
    if (rates) rows.push({ number, tokens, ...warmRow(gapMs, tokens, rates, rules) });
    else unknown++;
  }
  const sum = (of: (row: WarmRow) => number): number => roundUsd(rows.reduce((all, row) => all + of(row), 0));
  return { rows, unknown, pingUsd: sum((row) => row.pingUsd), savedUsd: sum((row) => row.savedUsd) };
};
