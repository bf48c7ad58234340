/**
 * The prices of @pydantic/genai-prices, whose data is bundled: nothing is fetched. It finds models by how their
 * names begin, so that a successor is priced as its predecessor; what it finds is checked here once more.
 */
import { calcPrice, type MatchLogic, type ModelPrice } from '@pydantic/genai-prices';
import type { Prices } from './prices.ts';
import type { Rates, TieredRates } from './rates.ts';

export const CATALOGUE_VERSION = '0.1.8';
/** The day its data is of. */
export const CATALOGUE_DATE = '2026-09-23';

const SOURCE: string = `genai-prices ${CATALOGUE_VERSION}`;
/** Enough that the catalogue answers; what it adds up is not used. */
const PROBE = { input_tokens: 1, output_tokens: 1 } as const;

export const catalogue: Prices = {
  priceOf: ({ provider, model, at }) => {
    const found = calcPrice(PROBE, model, { providerId: provider, timestamp: new Date(at) });
    if (!found || found.provider.id !== provider) return undefined;
    if (!isMeant(found.model.id, found.model.match, model)) return undefined;
    const rates = ratesOf(found.model_price);
    return rates && { rates, mark: { source: SOURCE, date: CATALOGUE_DATE, model: found.model.id } };
  },
};

/** What may follow a model's name without making it another model. */
const SUFFIX = /^-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/;

const isMeant = (id: string, match: MatchLogic, asked: string): boolean =>
  asked === id || (asked.startsWith(id) && SUFFIX.test(asked.slice(id.length))) || isListed(match, asked);

/** Whether the name stands in the catalogue as it is, or fits a pattern that its author wrote. */
const isListed = (match: MatchLogic, asked: string): boolean => {
  if ('or' in match) return match.or.some((one) => isListed(one, asked));
  if ('equals' in match) return match.equals === asked;
  return 'regex' in match && new RegExp(match.regex).test(asked);
};

const KEYS = {
  input: 'input_mtok',
  output: 'output_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWriteLong: 'cache_write_1h_mtok',
} as const;

const ratesOf = (price: ModelPrice): TieredRates | undefined => {
  const starts = new Set<number>();
  for (const key of Object.values(KEYS)) {
    const value = price[key];
    if (typeof value === 'object') for (const { start } of value.tiers) starts.add(start);
  }
  const base = ratesAbove(price, 0);
  const tiers = [...starts].map((above) => ({ above, rates: ratesAbove(price, above) }));
  if (!base || tiers.some(({ rates }) => !rates)) return undefined;
  return { base, tiers: tiers.flatMap(({ above, rates }) => (rates ? [{ above, rates }] : [])) };
};

const ratesAbove = (price: ModelPrice, tokens: number): Rates | undefined => {
  const at = (key: keyof typeof KEYS): number | undefined => {
    const value = price[KEYS[key]];
    if (typeof value !== 'object') return value;
    const tier = value.tiers
      .toSorted((one, other) => other.start - one.start)
      .find((one) => one.start <= tokens);
    return tokens > 0 ? (tier?.price ?? value.base) : value.base;
  };
  const [input, output] = [at('input'), at('output')];
  const [cacheRead, cacheWrite, cacheWriteLong] = [at('cacheRead'), at('cacheWrite'), at('cacheWriteLong')];
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(cacheWriteLong !== undefined && { cacheWriteLong }),
  };
};
