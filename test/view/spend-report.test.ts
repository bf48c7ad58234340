/** The bill of a page: every dollar stands in exactly one day, agent, model and session, and is told apart where prices say so. */
import { expect, test } from 'vitest';
import { priceList } from '../../src/cost/prices.ts';
import { percentiles, spendReport } from '../../src/view/spend-report.ts';
import type { SpendLine } from '../../src/view/spend.ts';

const DAY_MS = 86_400_000;
const FIRST = Date.UTC(2026, 10, 27, 12);
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const prices = priceList(
  [
    {
      provider: 'acme',
      model: 'large',
      base: { input: 10, output: 50, cacheRead: 1, cacheWrite: 12 },
      tiers: [],
    },
  ],
  { source: 'by hand', date: '2026-11-01' },
);

const line = (given: Partial<SpendLine>): SpendLine => ({
  session: 's_A',
  agent: 'clerk',
  provider: 'acme',
  model: 'large',
  turn: 1,
  step: 1,
  attempt: 1,
  seq: 4,
  at: FIRST,
  billing: 'known',
  isAnswered: true,
  cost: undefined,
  price: undefined,
  usage: undefined,
  firstTokenMs: undefined,
  ms: undefined,
  ...given,
});

const usage = { cacheRead: 1000, cacheWrite: 500, input: 200, output: 100 };
/** By hand: 1000 × 1 + 500 × 12 + 200 × 10 + 100 × 50 millionths of a dollar. */
const PRICED = 0.014;

const LINES = [
  line({ cost: PRICED, usage, firstTokenMs: 400, ms: 900 }),
  // Paid by other prices than today's list says: known, and not told apart.
  line({ cost: 0.5, usage, firstTokenMs: 600, ms: 1500, at: FIRST + DAY_MS, session: 's_B' }),
  line({ cost: 0.002, isAnswered: false, ms: 80, agent: 'scout', model: 'small', at: FIRST + DAY_MS }),
  line({ billing: 'maybe-billed', isAnswered: false, at: FIRST + DAY_MS }),
  // Outside of the days that are asked for.
  line({ cost: 99, at: FIRST - DAY_MS }),
];

const days = ['2026-11-27', '2026-11-28', '2026-11-29'];
const report = spendReport(LINES, { days, dayOf, prices, sessionsMax: 1 });

test('sums agree by day, agent and model, and a day without a request is there with nothing', () => {
  expect(report.total.cost).toBeCloseTo(0.516, 9);
  expect(report.days.map(({ name, cost }) => [name, cost])).toEqual([
    ['2026-11-27', PRICED],
    ['2026-11-28', expect.closeTo(0.502, 9) as number],
    ['2026-11-29', 0],
  ]);
  for (const groups of [report.days, report.agents, report.models])
    expect(groups.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(report.total.cost, 9);
  expect(report.agents.map(({ name }) => name)).toEqual(['clerk', 'scout']);
  expect(report.sessions.map(({ name }) => name)).toEqual(['s_B']);
});

test('what prices explain is told apart by class, all else is known and unsplit', () => {
  const { split } = report.total;
  expect(split).toEqual({
    cacheRead: 0.001,
    cacheWrite: 0.006,
    input: 0.002,
    output: 0.005,
    unsplit: expect.closeTo(0.502, 9) as number,
  });
});

test('what brought no answer is apart, and time is of answers only', () => {
  expect(report.wasted).toEqual({ attempts: 2, cost: 0.002 });
  expect(report.total.firstToken).toEqual({ count: 2, median: 400, p90: 600, p99: 600 });
  expect(report.total.answer).toMatchObject({ count: 2, median: 900, p99: 1500 });
  expect(report.days[2]?.firstToken).toBeNull();
});

test('percentiles are by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, n) => 100 - n);
  expect(percentiles(hundred)).toEqual({ count: 100, median: 50, p90: 90, p99: 99 });
  expect(percentiles([])).toBeNull();
});
