/** What must come of a scenario, as it is written. Whatever is not named is free, but for the writes. */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';

export type CallPattern =
  | string
  | {
      readonly tool: string;
      /** Members that the arguments have, and their values; others are free. */
      readonly args?: JsonObject;
      /** Texts that stand in members of the arguments. */
      readonly contains?: Readonly<Record<string, string>>;
      /** How it was closed: ok, failed, denied, rejected, responded, cancelled, expired, withheld, given-up. */
      readonly end?: string;
    };

/**
 * `ordered-writes`: the writes of the list, in order, and no others; reads of the list somewhere, others are free.
 * `strict`: these calls in this order and no others. `subset`: each of these somewhere.
 */
export type CallMatch = 'ordered-writes' | 'strict' | 'subset';

export type FileExpect = {
  readonly equals?: string;
  readonly contains?: string | readonly string[];
  readonly lacks?: string | readonly string[];
  readonly absent?: true;
};

export type Bound = number | { readonly atMost?: number; readonly atLeast?: number };

export type CsvExpect = {
  readonly where: Readonly<Record<string, string>>;
  readonly has: Readonly<Record<string, string>>;
};
export type MailExpect = {
  /** The folder it lies in. */
  readonly in: string;
  readonly to?: string;
  readonly subject?: string;
  readonly contains?: string | readonly string[];
  /** How many there are; default 1. */
  readonly count?: number;
};
export type CalendarExpect = {
  readonly at: string;
  readonly zone: string;
  readonly id: string;
  /** Local: "2026-12-04T10:00". */
  readonly start: string;
  readonly absent?: true;
};
export type QueryExpect = {
  readonly at: string;
  readonly query: string;
  readonly rows: readonly JsonObject[];
};

export type Expect = {
  readonly calls?: readonly CallPattern[];
  readonly match: CallMatch;
  /** Tools that are not even asked for. */
  readonly never?: readonly string[];
  /** The first call of the one comes before the first of the other. */
  readonly before?: readonly (readonly [string, string])[];
  /** Tools with an effect that were executed to their end, in order. */
  readonly effects?: readonly string[];
  /** Tools about which a person was asked, in order. */
  readonly asked?: readonly string[];
  /** Files that are not as they were before, all of them. */
  readonly changed?: readonly string[];
  readonly files?: Readonly<Record<string, FileExpect>>;
  readonly csv?: Readonly<Record<string, readonly CsvExpect[]>>;
  readonly mail?: readonly MailExpect[];
  readonly calendar?: readonly CalendarExpect[];
  readonly databases?: readonly QueryExpect[];
  /** Of the last answer. */
  readonly text?: {
    readonly contains?: string | readonly string[];
    readonly lacks?: string | readonly string[];
  };
  /** US dollars. */
  readonly cost?: Bound;
  readonly steps?: Bound;
  /** Requests that could not reuse all of the one before. */
  readonly cacheBreaks?: Bound;
  /** Of each turn, in order; of all turns where it is one word. `open`: the turn has not ended. */
  readonly outcome: string | readonly string[];
  readonly reason?: string;
  /** Tools whose calls wait for a person at the end, and those in doubt. Default: none. */
  readonly waiting: readonly string[];
  readonly inDoubt: readonly string[];
  /** Steps of the script that nobody asks for, because a turn ends before. */
  readonly unusedSteps: number;
};

const text = z.string().min(1);
const texts = z.union([text, z.array(text).min(1)]);
const OUTCOMES = ['done', 'failed', 'refused', 'stopped', 'cancelled', 'withdrawn', 'open'] as const;
const ENDS = [
  'ok',
  'failed',
  'denied',
  'rejected',
  'responded',
  'cancelled',
  'expired',
  'withheld',
  'given-up',
] as const;
const outcome = z.enum(OUTCOMES);

const bound = z.union(
  [z.number().min(0), z.strictObject({ atMost: z.number().optional(), atLeast: z.number().optional() })],
  'must be a number, or { atMost, atLeast }',
);

const callPattern = z.union(
  [
    text,
    z.strictObject({
      tool: text,
      args: z.record(z.string(), z.json()).optional(),
      contains: z.record(z.string(), text).optional(),
      end: z.enum(ENDS).optional(),
    }),
  ],
  'must be a tool, or { tool, args, contains, end }',
);

const SELECT = /^\s*(?:select|with)\b/i;

export const expectSchema: z.ZodType<Expect> = z.strictObject({
  calls: z.array(callPattern).optional(),
  match: z.enum(['ordered-writes', 'strict', 'subset']).default('ordered-writes'),
  never: z.array(text).optional(),
  before: z.array(z.tuple([text, text])).optional(),
  effects: z.array(text).optional(),
  asked: z.array(text).optional(),
  changed: z.array(text).optional(),
  files: z
    .record(
      text,
      z.strictObject({
        equals: z.string().optional(),
        contains: texts.optional(),
        lacks: texts.optional(),
        absent: z.literal(true).optional(),
      }),
    )
    .optional(),
  csv: z
    .record(
      text,
      z.array(z.strictObject({ where: z.record(text, z.string()), has: z.record(text, z.string()) })),
    )
    .optional(),
  mail: z
    .array(
      z.strictObject({
        in: text,
        to: text.optional(),
        subject: text.optional(),
        contains: texts.optional(),
        count: z.int().min(0).optional(),
      }),
    )
    .optional(),
  calendar: z
    .array(
      z.strictObject({
        at: text,
        zone: text,
        id: text,
        start: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, 'must be a local time: 2026-12-04T10:00'),
        absent: z.literal(true).optional(),
      }),
    )
    .optional(),
  databases: z
    .array(
      z.strictObject({
        at: text,
        query: z.string().regex(SELECT, 'must be a SELECT'),
        rows: z.array(z.record(z.string(), z.json())),
      }),
    )
    .optional(),
  text: z.strictObject({ contains: texts.optional(), lacks: texts.optional() }).optional(),
  cost: bound.optional(),
  steps: bound.optional(),
  cacheBreaks: bound.optional(),
  outcome: z.union([outcome, z.array(outcome).min(1)]).default('done'),
  reason: text.optional(),
  waiting: z.array(text).default([]),
  inDoubt: z.array(text).default([]),
  unusedSteps: z.int().min(0).default(0),
}) as unknown as z.ZodType<Expect>;

export const listOf = (given: string | readonly string[] | undefined): readonly string[] =>
  given === undefined ? [] : typeof given === 'string' ? [given] : given;

/** Whether every member of the pattern is in the value, at any depth; lists are compared whole. */
export const holds = (pattern: Json | undefined, value: Json | undefined): boolean => {
  if (isJsonObject(pattern))
    return isJsonObject(value) && Object.entries(pattern).every(([name, one]) => holds(one, value[name]));
  if (!Array.isArray(pattern)) return pattern === value;
  const wanted = pattern as readonly Json[];
  const found = Array.isArray(value) ? (value as readonly Json[]) : [];
  return wanted.length === found.length && wanted.every((one, i) => holds(one, found[i]));
};

/** What a kill or a fault may change: a request that is asked again costs again, and a cache may be gone. */
export const inPeaceOrNot = (expect: Expect): Expect => {
  const { cost, steps, cacheBreaks, ...rest } = expect;
  // Named to be left out.
  void [cost, steps, cacheBreaks];
  return rest;
};
