/** The shapes of the bill and of cache reuse as the window shows them. */
import { z } from '@hono/zod-openapi';
import type { SpendReport } from '../view/spend-report.ts';

export type SpendView = SpendReport & {
  readonly zone: string;
  /** Titles of the sessions that are named. */
  readonly titles: Readonly<Record<string, { readonly title: string; readonly agent: string }>>;
  /** Sessions that cannot be read and are not in the sums. */
  readonly unread: number;
};

export type BreakView = {
  /** In words: "a clock in the instructions". */
  readonly cause: string;
  readonly quotes: readonly { readonly before: string; readonly after: string }[];
  readonly count: number;
  /** Null where the provider did not count. */
  readonly lostTokens: number | null;
  readonly lostUsd: number | null;
  /** The last request that broke so, from 1. */
  readonly request: number;
  readonly seq: number;
};

export type SessionReuse = {
  readonly session: string;
  readonly title: string;
  readonly agent: string;
  readonly requests: number;
  /** Tokens that went in, as providers counted them; null where none did. */
  readonly tokens: number | null;
  readonly cacheRead: number;
  readonly breaks: readonly BreakView[];
};

export type ReuseView = {
  /** The last changed first. */
  readonly sessions: readonly SessionReuse[];
  /** Sessions of the stretch that were not looked at: there are more than are read at once. */
  readonly more: boolean;
  readonly unread: number;
};

const group = z.looseObject({ name: z.string(), attempts: z.number().int(), cost: z.number() });

export const spendShape: z.ZodType<SpendView> = z
  .looseObject({
    zone: z.string(),
    total: group,
    days: z.array(group),
    agents: z.array(group),
    models: z.array(group),
    sessions: z.array(group),
    unread: z.number().int(),
  })
  .openapi('Spend') as unknown as z.ZodType<SpendView>;

export const reuseViewShape: z.ZodType<ReuseView> = z
  .object({
    sessions: z.array(z.looseObject({ session: z.string(), requests: z.number().int() })),
    more: z.boolean(),
    unread: z.number().int(),
  })
  .openapi('ReuseOfSessions') as unknown as z.ZodType<ReuseView>;
