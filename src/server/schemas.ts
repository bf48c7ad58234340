/** The shapes of the door, once: they check what comes in and are the OpenAPI description of it. */
import { z } from '@hono/zod-openapi';
import { isCallId, type CallId } from '../event/call-id.ts';
import type { Digest } from '../event/canonical.ts';
import type { Actor } from '../event/content.ts';
import type { Condition, Mode, SeenLabel } from '../event/definition.ts';
import type { ApprovalDecision, Settlement, TurnOutcome } from '../event/events.ts';
import type { JsonObject } from '../event/json.ts';
import type { SessionStatus, SessionSummary } from '../event/summary.ts';
import type { WhenRunning } from '../session/decide.ts';

/** Types of the door's bodies, as its client uses them, too. */
export type NewSession = {
  readonly agent: string;
  readonly message: string;
  readonly labels?: readonly SeenLabel[] | undefined;
  readonly mode?: Mode | undefined;
};

export type NewTurn = {
  readonly message: string;
  readonly when?: WhenRunning | undefined;
  readonly labels?: readonly SeenLabel[] | undefined;
};

export type NewDecision = { readonly digest: Digest; readonly decision: ApprovalDecision };

export type NewSettlement = { readonly settlement: Settlement; readonly note?: string | undefined };

export type NewMode = { readonly mode: Mode; readonly reason?: string | undefined };

export type NewRevocation = { readonly call?: CallId | undefined; readonly reason?: string | undefined };

/** Leave for further calls. */
export type GrantView = {
  /** The call whose approval gave it. */
  readonly call: CallId;
  readonly tool: string;
  /** The rule whose question it answers beforehand. */
  readonly rule: string;
  readonly when: readonly Condition[];
  /** Wall time, milliseconds since 1970 UTC. */
  readonly expiresAt: number;
  readonly by: Actor;
};

export type Accepted = { readonly session: string; readonly turn: number; readonly url: string };

export type TurnView = {
  readonly session: string;
  readonly turn: number;
  readonly key: string;
  readonly by: Actor;
  readonly state: TurnViewState;
  readonly reason?: string | undefined;
  readonly acceptedSeq: number;
  readonly endedSeq?: number | undefined;
  /** What the model said last in this turn. */
  readonly text?: string | undefined;
};

export type TurnViewState = 'queued' | 'running' | 'waiting' | 'in-doubt' | 'withdrawn' | TurnOutcome;

export type SessionView = SessionSummary & { readonly session: string; readonly head: number };

export type EventView = {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly data: JsonObject;
};

/** What a person is asked about, or what is in doubt; made for people, more may stand in it. */
export type CardView = { readonly session: string; readonly call: string; readonly tool: string } & Readonly<
  Record<string, unknown>
>;

export type Page<T> = { readonly items: readonly T[]; readonly next?: string | undefined };

const NAME_LENGTH_MAX = 200;
const TEXT_LENGTH_MAX: number = 1024 * 1024;

export const sessionId: z.ZodString = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,100}$/)
  .openapi({ example: 's_7Q2N8BXK' });

export const callId: z.ZodType<CallId> = z
  .custom<CallId>(
    (value) => typeof value === 'string' && isCallId(value),
    'is no call: turn.step.index, as in 3.7.2',
  )
  .openapi({ type: 'string', example: '3.7.2' });

export const digest: z.ZodType<Digest> = z
  .custom<Digest>(
    (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
    'is no SHA-256 in hexadecimal',
  )
  .openapi({ type: 'string', pattern: '^[0-9a-f]{64}$' });

/** A whole number in a path or a query. */
export const whole = (least: number): z.ZodType<number> =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,14})$/, 'is no whole number')
    .transform(Number)
    .pipe(z.number().min(least))
    .openapi({ type: 'integer', minimum: least });

const label = z.enum(['untrusted', 'private']);
const mode = z.enum(['normal', 'dry-run', 'read-only', 'frozen']);

export const message: z.ZodString = z
  .string()
  .max(TEXT_LENGTH_MAX)
  .openapi({ example: 'Answer the mail from Ada.' });

export const when: z.ZodType<WhenRunning> = z.enum(['queue', 'reject', 'steer', 'interrupt']).openapi({
  description:
    'Where a turn is running: wait for its end (the default), be refused, join it at its next step, or have it cancelled and go first.',
});

export const newSession: z.ZodType<NewSession> = z
  .strictObject({
    agent: z.string().max(NAME_LENGTH_MAX).openapi({ example: 'inbox-assistant' }),
    message,
    labels: z.array(label).optional(),
    mode: mode.optional(),
  })
  .openapi('NewSession');

export const newTurn: z.ZodType<NewTurn> = z
  .strictObject({ message, when: when.optional(), labels: z.array(label).optional() })
  .openapi('NewTurn');

const condition = z.looseObject({ at: z.string() }).openapi('Condition');
const content = z
  .array(z.strictObject({ type: z.literal('text'), text: z.string().max(TEXT_LENGTH_MAX) }))
  .min(1);

const decision = z
  .discriminatedUnion('do', [
    z.strictObject({
      do: z.literal('approve'),
      grant: z.strictObject({ when: z.array(condition), forMs: z.number().int() }).optional(),
    }),
    z.strictObject({
      do: z.literal('edit'),
      args: z.string().max(TEXT_LENGTH_MAX).openapi({ description: 'The arguments as JSON text.' }),
    }),
    z.strictObject({ do: z.literal('reject'), reason: z.string().max(TEXT_LENGTH_MAX).optional() }),
    z.strictObject({ do: z.literal('respond'), content }),
  ])
  .openapi('Decision');

export const newDecision: z.ZodType<NewDecision> = z
  .strictObject({ digest, decision })
  .openapi('NewDecision', {
    description: 'A decision about exactly what was shown: the digest names it.',
  }) as unknown as z.ZodType<NewDecision>;

export const newSettlement: z.ZodType<NewSettlement> = z
  .strictObject({
    settlement: z.discriminatedUnion('answer', [
      z.strictObject({ answer: z.literal('happened'), content }),
      z.strictObject({ answer: z.literal('not-happened') }),
      z.strictObject({ answer: z.literal('give-up') }),
    ]),
    note: z.string().max(TEXT_LENGTH_MAX).optional(),
  })
  .openapi('NewSettlement');

export const newMode: z.ZodType<NewMode> = z
  .strictObject({ mode, reason: z.string().max(NAME_LENGTH_MAX).optional() })
  .openapi('NewMode');

/** Why, for the record. */
export const newUnpark: z.ZodType<{ readonly reason?: string }> = z
  .strictObject({ reason: z.string().max(NAME_LENGTH_MAX).optional() })
  .openapi('NewUnpark') as unknown as z.ZodType<{ readonly reason?: string }>;

export const newRevocation: z.ZodType<NewRevocation> = z
  .strictObject({
    call: callId.optional().openapi({
      description: 'The call whose approval gave the grant; absent: all that stand.',
    }),
    reason: z.string().max(NAME_LENGTH_MAX).optional(),
  })
  .openapi('NewRevocation');

export const status: z.ZodType<SessionStatus> = z.enum([
  'in-doubt',
  'waiting',
  'failed',
  'running',
  'idle',
  'cancelled',
  'done',
]);

export type ProblemView = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
};

export const problemShape: z.ZodType<ProblemView> = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
  })
  .openapi('Problem');

export const accepted: z.ZodType<Accepted> = z
  .strictObject({
    session: z.string(),
    turn: z.number().int(),
    /** Where the turn is to be found. */
    url: z.string(),
  })
  .openapi('Accepted');

const actor = z
  .looseObject({ kind: z.enum(['person', 'program', 'runtime']), name: z.string() })
  .openapi('Actor');

export const grantShape: z.ZodType<GrantView> = z
  .strictObject({
    call: callId,
    tool: z.string(),
    rule: z.string(),
    when: z.array(condition),
    expiresAt: z.number(),
    by: actor,
  })
  .openapi('Grant') as unknown as z.ZodType<GrantView>;

export const turnState: z.ZodType<TurnViewState> = z.enum([
  'queued',
  'running',
  'waiting',
  'in-doubt',
  'done',
  'failed',
  'refused',
  'stopped',
  'cancelled',
  'withdrawn',
]);

export const turnShape: z.ZodType<TurnView> = z
  .strictObject({
    session: z.string(),
    turn: z.number().int(),
    key: z.string(),
    by: actor,
    state: turnState,
    reason: z.string().optional(),
    acceptedSeq: z.number().int(),
    endedSeq: z.number().int().optional(),
    /** What the model said last in this turn. */
    text: z.string().optional(),
  })
  .openapi('Turn');

export const sessionShape: z.ZodType<SessionView> = z
  .looseObject({
    session: z.string(),
    head: z.number().int(),
    agent: z.string(),
    tenant: z.string(),
    title: z.string(),
    status,
    canGoOn: z.boolean(),
    waiting: z.number().int(),
    inDoubt: z.number().int(),
    untold: z.number().int(),
    waits: z
      .strictObject({
        for: z.enum(['decision', 'settlement', 'unpark', 'mode', 'worker', 'message']),
        since: z.number(),
      })
      .optional()
      .openapi({ description: 'What it waits for, and since when: milliseconds since 1970 UTC.' }),
    turns: z.number().int(),
    cost: z.number().nullable(),
    createdAt: z.number(),
    updatedAt: z.number(),
  })
  .openapi('Session') as unknown as z.ZodType<SessionView>;

export const eventShape: z.ZodType<EventView> = z
  .strictObject({
    seq: z.number().int(),
    at: z.number().openapi({ description: 'Milliseconds since 1970 UTC.' }),
    type: z.string(),
    data: z.looseObject({}),
  })
  .openapi('Event') as unknown as z.ZodType<EventView>;

/** What a person is asked about, or what is in doubt: made for people, more may stand in it. */
export const cardShape: z.ZodType<CardView> = z
  .looseObject({ session: z.string(), call: z.string(), tool: z.string() })
  .openapi('Card');

export const page = <T>(item: z.ZodType<T>): z.ZodType<Page<T>> =>
  z.object({
    items: z.array(item),
    next: z
      .string()
      .optional()
      .openapi({ description: 'The address of the next page; absent on the last one.' }),
  });
