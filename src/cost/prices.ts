/**
 * THE BILL: where prices come from, and what a usage costs by them. A price is only used for the model it was
 * made for: a name that merely begins like a known one is unknown, and unknown is never 0.
 */
import type { PriceMark, Usage } from '../event/content.ts';
import { amountOf, inputTokens, ratesFor, type Rates, type TieredRates } from './rates.ts';

export type PriceQuery = {
  readonly provider: string;
  readonly model: string;
  /** When the request was sent, milliseconds since 1970 UTC: prices change by date. */
  readonly at: number;
};

export type Price = { readonly rates: TieredRates; readonly mark: PriceMark };

/** One place that knows prices; undefined where it does not know the model. */
export type Prices = { priceOf(query: PriceQuery): Price | undefined };

/** US dollars and where the price came from. */
export type Cost = { readonly cost: number; readonly price: PriceMark };

export const costOf = (prices: Prices, query: PriceQuery, usage: Usage): Cost | undefined => {
  const price = prices.priceOf(query);
  if (!price) return undefined;
  return { cost: amountOf(usage, ratesFor(price.rates, inputTokens(usage))), price: price.mark };
};

/** The rates that a request of so many input tokens is billed at. */
export const ratesAt = (prices: Prices, query: PriceQuery, tokens: number): Rates | undefined => {
  const price = prices.priceOf(query);
  return price && ratesFor(price.rates, tokens);
};

/** The first that knows the model answers: overrides before a catalogue. */
export const inOrder = (...lists: readonly Prices[]): Prices => ({
  priceOf: (query) => {
    for (const list of lists) {
      const price = list.priceOf(query);
      if (price) return price;
    }
    return undefined;
  },
});

/** One line of a price list that somebody wrote. */
export type PriceRow = TieredRates & {
  readonly provider: string;
  /** The exact name that requests use, a date suffix included. */
  readonly model: string;
  /** The first day it holds, as YYYY-MM-DD in UTC. Absent: always. */
  readonly from?: string;
};

/** Rows of one source. Of several for a model the one that began last before the request counts. */
export const priceList = (
  rows: readonly PriceRow[],
  { source, date }: { readonly source: string; readonly date: string },
): Prices => ({
  priceOf: ({ provider, model, at }) => {
    const [row] = rows
      .filter((one) => one.provider === provider && one.model === model && began(one) <= at)
      .toSorted((one, other) => began(other) - began(one));
    return row && { rates: { base: row.base, tiers: row.tiers }, mark: { source, date, model: row.model } };
  },
});

const began = ({ from }: PriceRow): number =>
  from === undefined ? -Infinity : Date.parse(`${from}T00:00:00Z`);
