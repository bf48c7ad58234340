/** The cache experiment against rules that are known, so that what it reports can be worked out by hand. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { cellsOf, pingsOf, planOf, type CacheExperiment } from '../../src/suite/cache/experiment.ts';
import { cachePage } from '../../src/suite/cache/report.ts';
import { runExperiment, type CacheRun } from '../../src/suite/cache/run.ts';
import {
  CACHE_RULES,
  JumpClock,
  SimulatedCache,
  simulatedModel,
  simulatedPrices,
  type CacheRules,
} from '../../src/suite/cache/simulated.ts';
import { breakEvenMs, warmRow } from '../../src/view/warm-keeping.ts';
import { FakeClock } from '../kit/clock.ts';

const MINUTE = 60_000;

const measure = (
  experiment: CacheExperiment,
  more: { budgetUsd?: number; rules?: CacheRules } = {},
): Promise<CacheRun> => {
  const { budgetUsd = 1000, rules = CACHE_RULES } = more;
  const clock = new JumpClock(systemClock);
  return runExperiment({
    experiment,
    model: simulatedModel(rules, clock),
    prices: simulatedPrices(rules),
    store: new MemoryLog(),
    clock,
    sleep: async (ms) => clock.jump(ms),
    budgetUsd,
    run: 'test',
    signal: new AbortController().signal,
  });
};

test('what-the-rules-say-is-measured: read within the lifetime, written anew after it, warm where it is pinged', async () => {
  const { results, stopped } = await measure({
    turns: 4,
    gapsMs: [MINUTE, 20 * MINUTE],
    prefixTokens: [8000],
    pingEveryMs: 4 * MINUTE,
  });
  expect(stopped).toBeUndefined();
  expect(results.map(({ cell }) => [cell.gapMs / MINUTE, cell.pingEveryMs !== undefined])).toEqual([
    [1, false],
    [20, false],
    [20, true],
  ]);
  const [soon, cold, warm] = results;
  expect(soon?.readShare).toBeGreaterThan(0.98);
  expect(cold?.readShare).toBe(0);
  expect(cold?.expectedShare).toBeGreaterThan(0.98);
  expect(warm?.readShare).toBeGreaterThan(0.98);
  // Four pings within twenty minutes, three pauses.
  expect(warm?.pingSessions).toHaveLength(12);
  // 8,000 tokens and some more: written at 2.50 or read at 0.20 a million.
  expect(cold?.turnUsd).toBeGreaterThan(8000 * 2.5e-6);
  expect(cold?.turnUsd).toBeLessThan(8200 * 2.5e-6);
  expect(soon?.turnUsd).toBeLessThan(8200 * 0.2e-6 + 100 * 2.5e-6);
  expect(cold?.firstTokenMs).toBeGreaterThan((soon?.firstTokenMs ?? 0) + 400);
});

test('a-prefix-below-the-minimum is never kept, and nothing is said about it', async () => {
  const { results } = await measure({ turns: 3, gapsMs: [1000], prefixTokens: [300] });
  expect(results[0]).toMatchObject({ readShare: 0 });
});

const body = (parts: number): string =>
  `{"system":"${'x'.repeat(8000)}","messages":[${Array.from({ length: parts }, (_, i) => `{"n":${i}}`).join(',')}]}`;

test('the-simulation keeps its rules: lookback, lifetime from the last use, marks only', () => {
  const clock = new FakeClock();
  const cache = new SimulatedCache(CACHE_RULES, clock);
  expect(cache.ask(body(1)).cacheRead).toBe(0);
  const second = cache.ask(body(2));
  expect(second.cacheRead).toBeGreaterThan(2000);
  expect(second.cacheWrite).toBeLessThan(10);
  clock.advance(4 * MINUTE);
  expect(cache.ask(body(2)).cacheRead).toBeGreaterThan(2000);
  clock.advance(4 * MINUTE);
  // Used four minutes ago, written eight minutes ago: still kept.
  expect(cache.ask(body(2)).cacheWrite).toBe(0);
  // Beyond the lookback only what stands before the conversation is found.
  const far = cache.ask(body(2 + CACHE_RULES.lookbackBlocks + 5));
  expect(far.cacheWrite).toBeGreaterThan(50);
  clock.advance(6 * MINUTE);
  expect(cache.ask(body(2)).cacheRead).toBe(0);
});

test('a-budget-ends-the-measurement, and a plan says beforehand what it may cost', async () => {
  const experiment: CacheExperiment = { turns: 4, gapsMs: [MINUTE, 20 * MINUTE], prefixTokens: [8000] };
  const plan = planOf(experiment, CACHE_RULES.rates);
  expect(plan).toMatchObject({ cells: 2, requests: 8, pings: 0, ms: 3 * 21 * MINUTE });
  // Eight times eight thousand tokens written: 0.16 and what the turns add.
  expect(plan.usd).toBeGreaterThan(0.16);
  expect(plan.usd).toBeLessThan(0.17);
  const whole = await measure(experiment);
  expect(whole.spent).toBeLessThan(plan.usd ?? 0);
  const cut = await measure(experiment, { budgetUsd: whole.spent / 2 });
  expect(cut.stopped).toBe('budget');
  expect(cut.spent).toBeLessThan(whole.spent / 2 + 0.03);
  expect(planOf(experiment, undefined).usd).toBeUndefined();
});

test('break-even by hand: pings cost what they read, a cold prefix what it writes more', () => {
  const rates = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
  // 100,000 tokens. A ping reads 0.02 and answers one token, 0.00001. Cold costs 0.25 - 0.02 = 0.23 more.
  expect(warmRow(4 * MINUTE, 100_000, rates)).toEqual({
    gapMs: 4 * MINUTE,
    pings: 0,
    pingUsd: 0,
    coldUsd: 0,
    savedUsd: 0,
  });
  expect(warmRow(6 * MINUTE, 100_000, rates)).toEqual({
    gapMs: 6 * MINUTE,
    pings: 1,
    pingUsd: 0.02001,
    coldUsd: 0.23,
    savedUsd: 0.20999,
  });
  // (60 - 5) / 4 = 13.75: fourteen pings, 0.28014.
  expect(warmRow(60 * MINUTE, 100_000, rates)).toMatchObject({
    pings: 14,
    pingUsd: 0.28014,
    savedUsd: -0.05014,
  });
  // 0.23 / 0.02001 = 11.49: eleven pings, five minutes and eleven times four.
  expect(breakEvenMs(100_000, rates)).toBe(49 * MINUTE);
  expect(warmRow(49 * MINUTE, 100_000, rates).savedUsd).toBeGreaterThan(0);
  expect(warmRow(49 * MINUTE + 1, 100_000, rates).savedUsd).toBeLessThan(0);
  expect(breakEvenMs(100_000, { input: 2, output: 10 })).toBe(0);
});

test('the-page says its rules, holds its plots and loads nothing', async () => {
  const experiment: CacheExperiment = {
    turns: 3,
    gapsMs: [MINUTE, 6 * MINUTE],
    prefixTokens: [2000],
    pingEveryMs: 4 * MINUTE,
  };
  const page = cachePage({
    experiment,
    run: await measure(experiment),
    provider: 'simulated',
    model: '<b>rules</b>',
    rules: CACHE_RULES,
    rates: CACHE_RULES.rates,
    day: 'Sun 29 Nov 2026, UTC',
  });
  expect(page.match(/<svg /g)).toHaveLength(3);
  expect(page).toContain('has 1,024 tokens. A mark looks back 20 blocks.');
  expect(page).toContain('&lt;b&gt;rules');
  expect(page).not.toMatch(/<script|https?:|<b>rules/);
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
});

test('cells: a pause too short for a ping is measured once', () => {
  const cells = cellsOf({
    turns: 2,
    gapsMs: [1000, 8 * MINUTE],
    prefixTokens: [1, 2],
    pingEveryMs: 4 * MINUTE,
  });
  expect(cells).toHaveLength(6);
  expect(cells.map(pingsOf)).toEqual([0, 0, 1, 0, 0, 1]);
});
