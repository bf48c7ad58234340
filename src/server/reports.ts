/** The shapes of what the door reports about a record, and of signing in. */
import { z } from '@hono/zod-openapi';
import type { Digest } from '../event/canonical.ts';
import type { SelectionChange } from '../event/events.ts';
import type { SessionStatus } from '../event/summary.ts';
import { digest } from './schemas.ts';

export type NewCancel = {
  readonly reason?: string | undefined;
  /** This turn or none, also where another one runs by now. */
  readonly turn?: number | undefined;
};

export type NewFork = {
  readonly at: number;
  readonly title?: string | undefined;
  readonly closeOpen?: boolean | undefined;
};

export type ForkView = {
  readonly session: string;
  /** Where it really branches off. */
  readonly parent: { readonly session: string; readonly seq: number; readonly hash: Digest };
  readonly url: string;
};

export type ReplayReport = {
  readonly session: string;
  readonly identical: boolean;
  readonly events: number;
  readonly decisions: number;
  readonly requests: number;
  /** Requests of a provider that this server has no adapter for: not compared. */
  readonly requestsUnknown: number;
  /** Where it differs first, and what it most likely comes from. */
  readonly difference: Readonly<Record<string, unknown>> | null;
};

export type VerifyReport = {
  readonly session: string;
  readonly proved: boolean;
  readonly events: number;
  readonly blobs: number;
  readonly requests: number;
  readonly decisions: number;
  readonly head: Digest;
  readonly findings: readonly { readonly seq: number; readonly kind: string; readonly message: string }[];
} & Readonly<Record<string, unknown>>;

export type CostView = {
  readonly name: string;
  readonly attempts: number;
  /** US dollars; null while a part of it is unknown. */
  readonly cost: number | null;
  readonly knownCost: number;
  /** Answers without a price, and attempts without an answer that may be billed. */
  readonly unknown: number;
  readonly maybeBilled: number;
  readonly usage: Readonly<Record<string, unknown>>;
  readonly ms: number;
  readonly firstTokenMs: number | null;
};

export type CostsView = {
  readonly by: string;
  readonly groups: readonly CostView[];
  readonly total: CostView;
  /** Sessions that cannot be read and are not in the sums. */
  readonly unread: number;
};

export type CallView = {
  readonly session: string;
  readonly call: string;
  readonly tool: string;
  /** Canonical JSON text. */
  readonly args: string;
  readonly rule: string;
  readonly attempt: number;
  readonly phase: string;
  readonly startedSeq: number | null;
  readonly askedSeq: number | null;
  /** How its last attempt ended. */
  readonly ended: string | null;
  readonly about: string | null;
};

/** All sessions of a store in numbers. */
export type Overview = {
  readonly sessions: number;
  /** False where the store has more than were counted. */
  readonly complete: boolean;
  readonly statuses: Readonly<Partial<Record<SessionStatus, number>>>;
  readonly agents: Readonly<Record<string, number>>;
  /** Calls that wait for a decision, and calls in doubt. */
  readonly waiting: number;
  readonly inDoubt: number;
};

export type NewSelection = {
  readonly change: SelectionChange;
  readonly reason?: string | undefined;
  /** Signed reasoning behind the change may go. */
  readonly dropsReasoning?: boolean | undefined;
};

export type NewCompaction = { readonly dropsReasoning?: boolean | undefined };

/** A token, or a ticket that stands for one. */
export type NewLogin = { readonly token: string } | { readonly ticket: string };

/** Who a token belongs to. */
export type Me = {
  readonly name: string;
  readonly kind: string;
  readonly roles: readonly string[];
  /** Its id, which says nothing of the token itself. */
  readonly token: string;
  readonly tenant?: string | undefined;
  /** Goes with every change that a cookie makes. */
  readonly forgeryToken?: string | undefined;
};

const NAME_LENGTH_MAX = 200;
const TURNS_NAMED_MAX = 1000;

export const newCancel: z.ZodType<NewCancel> = z
  .strictObject({
    reason: z.string().max(NAME_LENGTH_MAX).optional(),
    turn: z
      .number()
      .int()
      .min(1)
      .optional()
      .openapi({ description: 'This turn or none: then it can be sent again.' }),
  })
  .openapi('NewCancel');

export const newFork: z.ZodType<NewFork> = z
  .strictObject({
    at: z
      .number()
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .openapi({ description: 'The last event that both share.' }),
    title: z.string().min(1).max(NAME_LENGTH_MAX).optional(),
    closeOpen: z.boolean().optional().openapi({
      description: 'Where `at` stands inside a turn: the fork begins by closing what is open there.',
    }),
  })
  .openapi('NewFork');

export const forked: z.ZodType<ForkView> = z
  .strictObject({
    session: z.string(),
    parent: z.strictObject({ session: z.string(), seq: z.number().int(), hash: digest }),
    url: z.string(),
  })
  .openapi('Fork');

export const replayReport: z.ZodType<ReplayReport> = z
  .strictObject({
    session: z.string(),
    identical: z.boolean(),
    events: z.number().int(),
    decisions: z.number().int(),
    requests: z.number().int(),
    requestsUnknown: z.number().int(),
    difference: z.looseObject({}).nullable(),
  })
  .openapi('ReplayReport');

export const verifyReport: z.ZodType<VerifyReport> = z
  .looseObject({
    session: z.string(),
    proved: z.boolean(),
    events: z.number().int(),
    blobs: z.number().int(),
    requests: z.number().int(),
    decisions: z.number().int(),
    head: digest,
    findings: z.array(z.looseObject({ seq: z.number().int(), kind: z.string(), message: z.string() })),
  })
  .openapi('VerifyReport');

const cost = z
  .strictObject({
    name: z.string(),
    attempts: z.number().int(),
    cost: z.number().nullable(),
    knownCost: z.number(),
    unknown: z.number().int(),
    maybeBilled: z.number().int(),
    usage: z.looseObject({}),
    ms: z.number(),
    firstTokenMs: z.number().nullable(),
  })
  .openapi('Cost');

export const costs: z.ZodType<CostsView> = z
  .strictObject({ by: z.string(), groups: z.array(cost), total: cost, unread: z.number().int() })
  .openapi('Costs');

export const callShape: z.ZodType<CallView> = z
  .strictObject({
    session: z.string(),
    call: z.string(),
    tool: z.string(),
    args: z.string(),
    rule: z.string(),
    attempt: z.number().int(),
    phase: z.string(),
    startedSeq: z.number().int().nullable(),
    askedSeq: z.number().int().nullable(),
    ended: z.string().nullable(),
    about: z.string().nullable(),
  })
  .openapi('Call');

export const reuseShape: z.ZodType<Readonly<Record<string, unknown>>> = z
  .looseObject({
    number: z.number().int(),
    seq: z.number().int(),
    bytes: z.number(),
    sharedBytes: z.number(),
  })
  .openapi('Reuse');

export const requestPlan: z.ZodType<Readonly<Record<string, unknown>>> = z
  .looseObject({
    session: z.string(),
    request: z.union([z.number().int(), z.literal('next')]),
    bytes: z.number().nullable(),
    sharedBytes: z.number().nullable(),
    counts: z.looseObject({}).nullable(),
    parts: z.array(z.looseObject({ kind: z.string(), state: z.string() })).nullable(),
  })
  .openapi('RequestPlan');

export const overviewShape: z.ZodType<Overview> = z
  .strictObject({
    sessions: z.number().int(),
    complete: z.boolean(),
    statuses: z.record(z.string(), z.number().int()),
    agents: z.record(z.string(), z.number().int()),
    waiting: z.number().int(),
    inDoubt: z.number().int(),
  })
  .openapi('Overview');

const turnNumbers = z.array(z.number().int().min(1)).min(1).max(TURNS_NAMED_MAX);
const policy = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('all') }),
  z.strictObject({ kind: z.literal('last-turns'), turns: z.number().int().min(1) }),
  z.strictObject({ kind: z.literal('budget'), tokens: z.number().int().min(1) }),
]);

export const newSelection: z.ZodType<NewSelection> = z
  .strictObject({
    change: z.discriminatedUnion('do', [
      z.strictObject({ do: z.enum(['leave-out', 'take-back', 'pin', 'unpin']), turns: turnNumbers }),
      z.strictObject({ do: z.literal('policy'), policy: policy.optional() }),
    ]),
    reason: z.string().max(NAME_LENGTH_MAX).optional(),
    dropsReasoning: z.boolean().optional(),
  })
  .openapi('NewSelection') as unknown as z.ZodType<NewSelection>;

export const newCompaction: z.ZodType<NewCompaction> = z
  .strictObject({ dropsReasoning: z.boolean().optional() })
  .openapi('NewCompaction');

const credential = z.string().min(1).max(NAME_LENGTH_MAX);
export const newLogin: z.ZodType<NewLogin> = z
  .union([z.strictObject({ token: credential }), z.strictObject({ ticket: credential })])
  .openapi('NewLogin');

export const me: z.ZodType<Me> = z
  .strictObject({
    name: z.string(),
    kind: z.string(),
    roles: z.array(z.string()),
    token: z.string(),
    tenant: z.string().optional(),
    forgeryToken: z.string().optional(),
  })
  .openapi('Me');
