/** What tokens cost: US dollars per million, by class, and the amount for one usage. Pure. */
import type { Usage } from '../event/content.ts';

/** US dollars per million tokens. A class without a price of its own is priced as input. */
export type Rates = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Cache written for longer than the provider's shortest lifetime. */
  readonly cacheWriteLong?: number;
};

/** Rates for whole requests whose input, cache included, has more than `above` tokens. */
export type Tier = { readonly above: number; readonly rates: Rates };

export type TieredRates = { readonly base: Rates; readonly tiers: readonly Tier[] };

/** All tokens that went in, from a cache or not. */
export const inputTokens = ({ cacheRead, cacheWrite, input }: Usage): number =>
  cacheRead + cacheWrite + input;

export const ratesFor = ({ base, tiers }: TieredRates, tokens: number): Rates =>
  tiers.filter(({ above }) => tokens > above).toSorted((one, other) => other.above - one.above)[0]?.rates ??
  base;

const MILLION = 1_000_000;
/** Sums of binary fractions are rounded to a billionth of a dollar, far below any price. */
const STEPS_PER_USD = 1_000_000_000;

export const roundUsd = (usd: number): number => Math.round(usd * STEPS_PER_USD) / STEPS_PER_USD;

/** US dollars for one usage: four disjoint classes, each at its rate. */
export const amountOf = (usage: Usage, rates: Rates): number => {
  const { input, output, cacheRead = input, cacheWrite = input, cacheWriteLong = cacheWrite } = rates;
  const long = Math.min(usage.cacheWriteLong ?? 0, usage.cacheWrite);
  const sum =
    usage.input * input +
    usage.output * output +
    usage.cacheRead * cacheRead +
    (usage.cacheWrite - long) * cacheWrite +
    long * cacheWriteLong;
  return roundUsd(sum / MILLION);
};
