/**
 * The bill of a stretch of days for a page: by day, agent, model and session, with the classes of tokens that the money
 * went into as far as prices say so, and how long answers took. Pure. What is not known has a place of its own.
 */
import { ratesAt, type Prices } from '../cost/prices.ts';
import { amountOf, inputTokens, type Rates } from '../cost/rates.ts';
import type { Usage } from '../event/content.ts';
import { spendName, spendOf, type Spend, type SpendKey, type SpendLine } from './spend.ts';

/** US dollars by class of tokens; `unsplit` is what is known to be paid and not for what. */
export type SpendSplit = {
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly input: number;
  readonly output: number;
  readonly unsplit: number;
};

/** Milliseconds; of `count` answers. */
export type Percentiles = {
  readonly count: number;
  readonly median: number;
  readonly p90: number;
  readonly p99: number;
};

export type SpendGroup = Spend & {
  readonly split: SpendSplit;
  /** Null where no answer said when its first token came, or when it ended. */
  readonly firstToken: Percentiles | null;
  readonly answer: Percentiles | null;
};

export type SpendReport = {
  readonly total: SpendGroup;
  /** Every day of the stretch, also those on which nothing was asked. */
  readonly days: readonly SpendGroup[];
  /** The dearest first. */
  readonly agents: readonly SpendGroup[];
  readonly models: readonly SpendGroup[];
  readonly sessions: readonly SpendGroup[];
  /** Requests that brought no answer, and what is known of their cost. */
  readonly wasted: { readonly attempts: number; readonly cost: number };
};

export type SpendOptions = {
  /** Local days, "2026-11-27", in order. */
  readonly days: readonly string[];
  readonly dayOf: (at: number) => string;
  readonly prices: Prices;
  /** Sessions that are named; the rest is in the sums. */
  readonly sessionsMax: number;
};

export const spendReport = (lines: readonly SpendLine[], options: SpendOptions): SpendReport => {
  const { days, dayOf, prices, sessionsMax } = options;
  const asked = new Set(days);
  const within = lines.filter(({ at }) => asked.has(dayOf(at)));
  const by = (key: SpendKey): readonly SpendGroup[] =>
    groupsBy(within, (line) => spendName(line, key, dayOf), prices);
  const byDay = new Map(by('day').map((group) => [group.name, group]));
  const failed = within.filter(({ isAnswered }) => !isAnswered);
  return {
    total: groupOf('total', within, prices),
    days: days.map((day) => byDay.get(day) ?? groupOf(day, [], prices)),
    agents: by('agent').toSorted(dearest),
    models: by('model').toSorted(dearest),
    sessions: by('session').toSorted(dearest).slice(0, sessionsMax),
    wasted: { attempts: failed.length, cost: spendOf('wasted', failed).cost },
  };
};

const groupsBy = (
  lines: readonly SpendLine[],
  nameOf: (line: SpendLine) => string,
  prices: Prices,
): readonly SpendGroup[] => {
  const groups = new Map<string, SpendLine[]>();
  for (const line of lines) {
    const name = nameOf(line);
    const group = groups.get(name);
    if (group) group.push(line);
    else groups.set(name, [line]);
  }
  return [...groups].map(([name, group]) => groupOf(name, group, prices));
};

const dearest = (one: Spend, other: Spend): number =>
  other.cost - one.cost || other.attempts - one.attempts || (one.name < other.name ? -1 : 1);

const groupOf = (name: string, lines: readonly SpendLine[], prices: Prices): SpendGroup => ({
  ...spendOf(name, lines),
  split: splitOf(lines, prices),
  firstToken: percentiles(lines.flatMap(({ firstTokenMs }) => firstTokenMs ?? [])),
  answer: percentiles(lines.flatMap(({ ms, isAnswered }) => (isAnswered ? (ms ?? []) : []))),
});

const NOTHING: SpendSplit = { cacheRead: 0, cacheWrite: 0, input: 0, output: 0, unsplit: 0 };
/** A cost that a price list of today explains to a hundredth is told by class; any other is what was recorded. */
const TOLERANCE = 0.01;

const splitOf = (lines: readonly SpendLine[], prices: Prices): SpendSplit =>
  lines.reduce((sum, line) => added(sum, splitOfLine(line, prices)), NOTHING);

const added = (one: SpendSplit, other: SpendSplit): SpendSplit => ({
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  input: one.input + other.input,
  output: one.output + other.output,
  unsplit: one.unsplit + other.unsplit,
});

const splitOfLine = ({ cost, usage, provider, model, at }: SpendLine, prices: Prices): SpendSplit => {
  if (cost === undefined) return NOTHING;
  const rates = usage && ratesAt(prices, { provider, model, at }, inputTokens(usage));
  const split = usage && rates && byClass(usage, rates);
  const sum = split ? split.cacheRead + split.cacheWrite + split.input + split.output : 0;
  if (!split || Math.abs(sum - cost) > cost * TOLERANCE) return { ...NOTHING, unsplit: cost };
  return split;
};

const NO_TOKENS: Usage = { cacheRead: 0, cacheWrite: 0, input: 0, output: 0 };

const byClass = (usage: Usage, rates: Rates): SpendSplit => {
  const { cacheRead, cacheWrite, cacheWriteLong, input, output } = usage;
  const long = cacheWriteLong === undefined ? {} : { cacheWriteLong };
  return {
    cacheRead: amountOf({ ...NO_TOKENS, cacheRead }, rates),
    cacheWrite: amountOf({ ...NO_TOKENS, cacheWrite, ...long }, rates),
    input: amountOf({ ...NO_TOKENS, input }, rates),
    output: amountOf({ ...NO_TOKENS, output }, rates),
    unsplit: 0,
  };
};

/** Nearest rank. Null of nothing. */
export const percentiles = (values: readonly number[]): Percentiles | null => {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { count: sorted.length, median: at(0.5), p90: at(0.9), p99: at(0.99) };
};
