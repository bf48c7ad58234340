/**
 * The bill of sessions: one line for every attempt of a model request that cost something or may have. What is
 * not known is counted and named, never taken for nothing.
 */
import type { PriceMark, Usage } from '../event/content.ts';
import type { LogEvent } from '../event/events.ts';
import { evolve, initial } from '../session/evolve.ts';
import type { SessionState } from '../session/state.ts';

/** `unknown`: answered, without a price. `maybe-billed`: no answer on record, and it may be billed all the same. */
export type Billing = 'known' | 'unknown' | 'maybe-billed';

export type SpendLine = {
  readonly session: string;
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** The event that says so. */
  readonly seq: number;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  readonly billing: Billing;
  /** False where the request failed or was lost: paid for nothing, if it was paid. */
  readonly isAnswered: boolean;
  /** US dollars; undefined where it is not known. */
  readonly cost: number | undefined;
  /** Absent where the model said the cost itself, or nobody did. */
  readonly price: PriceMark | undefined;
  readonly usage: Usage | undefined;
  /** Milliseconds to the first token and to the end; undefined where there was none, or the process was lost. */
  readonly firstTokenMs: number | undefined;
  readonly ms: number | undefined;
};

/** Every attempt of a session, in the order in which they ended. */
export const spendLines = (session: string, events: readonly LogEvent[]): readonly SpendLine[] => {
  let state = initial(session);
  const lines: SpendLine[] = [];
  for (const event of events) {
    const found = lineOf(state, event);
    if (found) lines.push(found);
    state = evolve(state, event);
  }
  return lines;
};

const lineOf = (state: SessionState, event: LogEvent): SpendLine | undefined => {
  const { session, agent, active } = state;
  const { provider, name: model } = agent.model;
  const common = { session, agent: agent.name, provider, model, seq: event.seq, at: event.at };
  switch (event.type) {
    case 'response.received': {
      const { turn, step, attempt, cost, price, usage, firstTokenMs, ms } = event.data;
      const billing = cost === undefined ? 'unknown' : 'known';
      const known = { billing, isAnswered: true, cost, price, usage, firstTokenMs, ms } as const;
      return { ...common, turn, step, attempt, ...known };
    }
    case 'request.failed': {
      const { turn, step, attempt, cost, price, usage, maybeBilled, ms } = event.data;
      if (cost === undefined && !maybeBilled) return undefined;
      const billing = cost === undefined ? 'maybe-billed' : 'known';
      const known = { billing, isAnswered: false, cost, price, usage, firstTokenMs: undefined, ms } as const;
      return { ...common, turn, step, attempt, ...known };
    }
    case 'driver.changed': {
      if (active?.request?.phase !== 'open') return undefined;
      const { step, attempt } = active.request;
      return { ...common, turn: active.turn, step, attempt, billing: 'maybe-billed', ...NOTHING_KNOWN };
    }
    default:
      return undefined;
  }
};

const NOTHING_KNOWN = {
  isAnswered: false,
  cost: undefined,
  price: undefined,
  usage: undefined,
  firstTokenMs: undefined,
  ms: undefined,
} as const;

export type Spend = {
  readonly name: string;
  readonly attempts: number;
  /** US dollars that are known. */
  readonly cost: number;
  /** Answers without a price, and attempts without an answer that may be billed. */
  readonly unknown: number;
  readonly maybeBilled: number;
  readonly usage: Usage;
  /** Milliseconds until all answers were there, and the mean to a first token; undefined where none is known. */
  readonly ms: number;
  readonly firstTokenMs: number | undefined;
};

export const SPEND_KEYS = ['call', 'step', 'turn', 'session', 'agent', 'model', 'day'] as const;
export type SpendKey = (typeof SPEND_KEYS)[number];

/** Sums by what is asked for, in the order in which each first appears. `dayOf` names the local day of a moment. */
export const spendBy = (
  lines: readonly SpendLine[],
  key: SpendKey,
  dayOf: (at: number) => string,
): readonly Spend[] => {
  const groups = new Map<string, SpendLine[]>();
  for (const line of lines) {
    const name = spendName(line, key, dayOf);
    const group = groups.get(name);
    if (group) group.push(line);
    else groups.set(name, [line]);
  }
  return [...groups].map(([name, group]) => spendOf(name, group));
};

/** Under which name a line is summed. */
export const spendName = (line: SpendLine, key: SpendKey, dayOf: (at: number) => string): string => {
  switch (key) {
    case 'call':
      return `${line.session} ${line.turn}.${line.step}#${line.attempt}`;
    case 'step':
      return `${line.session} ${line.turn}.${line.step}`;
    case 'turn':
      return `${line.session} ${line.turn}`;
    case 'session':
      return line.session;
    case 'agent':
      return line.agent;
    case 'model':
      return line.model;
    case 'day':
      return dayOf(line.at);
    default:
      return key satisfies never;
  }
};

/** Dollars are added as whole billionths: a hundred thousand answers add no error of their own. */
const BILLIONTHS = 1_000_000_000;

export const spendOf = (name: string, lines: readonly SpendLine[]): Spend => {
  const sum = (of: (line: SpendLine) => number): number => lines.reduce((total, line) => total + of(line), 0);
  const firsts = lines.flatMap(({ firstTokenMs }) => (firstTokenMs === undefined ? [] : [firstTokenMs]));
  const long = sum(({ usage }) => usage?.cacheWriteLong ?? 0);
  return {
    name,
    attempts: lines.length,
    cost: sum(({ cost = 0 }) => Math.round(cost * BILLIONTHS)) / BILLIONTHS,
    unknown: lines.filter(({ billing }) => billing === 'unknown').length,
    maybeBilled: lines.filter(({ billing }) => billing === 'maybe-billed').length,
    usage: {
      cacheRead: sum(({ usage }) => usage?.cacheRead ?? 0),
      cacheWrite: sum(({ usage }) => usage?.cacheWrite ?? 0),
      input: sum(({ usage }) => usage?.input ?? 0),
      output: sum(({ usage }) => usage?.output ?? 0),
      ...(long > 0 && { cacheWriteLong: long }),
    },
    ms: sum(({ ms = 0 }) => ms),
    firstTokenMs:
      firsts.length === 0 ? undefined : firsts.reduce((total, ms) => total + ms, 0) / firsts.length,
  };
};
