/**
 * Models that came after the catalogue's day, so that they are not unknown: from platform.claude.com/docs,
 * about-claude/pricing and the release notes, read on the day below. An override file goes first.
 */
import { priceList, type PriceRow, type Prices } from './prices.ts';
import type { Rates } from './rates.ts';

const rates = (
  ...[input, output, cacheRead, cacheWrite, cacheWriteLong]: readonly [number, number, number, number, number]
): Rates => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  cacheWriteLong,
});

const row = (model: string, base: Rates, more: Partial<PriceRow> = {}): PriceRow => ({
  provider: 'anthropic',
  model,
  base,
  tiers: [],
  ...more,
});

const HAIKU_TIER_TOKENS = 100_000;

const ROWS: readonly PriceRow[] = [
  row('claude-fable-5-1', rates(10, 50, 0.25, 12.5, 20)),
  row('claude-opus-5-5', rates(4, 20, 0.2, 5, 8)),
  row('claude-sonnet-5-5', rates(2, 10, 0.2, 2.5, 4)),
  row('claude-sonnet-5-5', rates(2, 10, 0.1, 2.5, 4), { from: '2026-10-07' }),
  row('claude-haiku-5-5', rates(0.1, 0.5, 0.01, 0.125, 0.2), {
    tiers: [{ above: HAIKU_TIER_TOKENS, rates: rates(0.5, 2.5, 0.05, 0.625, 1) }],
  }),
];

export const LATER: Prices = priceList(ROWS, { source: 'platform.claude.com pricing', date: '2026-11-29' });
