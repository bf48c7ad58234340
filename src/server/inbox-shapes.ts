/** The shapes of what waits for people, with what each card can be told beforehand; and of what an answer would do. */
import { z } from '@hono/zod-openapi';
import type { ArgumentProblem } from '../effect/arguments.ts';
import type { Digest } from '../event/canonical.ts';
import type { Condition } from '../event/definition.ts';
import type { Approval } from '../view/approval.ts';
import type { EditTrial, SettleTrial } from '../view/consequence.ts';
import type { Doubt } from '../view/doubt.ts';
import type { Fate } from '../view/fate.ts';
import { digest } from './schemas.ts';

/** Why whoever asks may not answer so. */
export type Barrier = { readonly code: string; readonly message: string };

/** A value of the arguments, by its JSON Pointer, as text. */
export type ArgumentText = { readonly at: string; readonly text: string };

export type QuestionCard = Approval & {
  readonly kind: 'question';
  /** The arguments over several lines. */
  readonly pretty: string;
  /** Arguments that the preview does not show. */
  readonly unshown: readonly ArgumentText[];
  /** What keeps the caller from each answer; null where nothing does. */
  readonly barriers: { readonly approve: Barrier | null; readonly reject: Barrier | null };
  /** Conditions that hold for these very arguments; null where no leave can be given for calls like this one. */
  readonly exact: readonly Condition[] | null;
};

export type DoubtCard = Doubt & {
  readonly kind: 'doubt';
  readonly pretty: string;
  readonly barrier: Barrier | null;
  /** What would follow from saying that it did not happen, and from giving up. */
  readonly follows: { readonly notHappened: SettleTrial | null; readonly giveUp: SettleTrial | null };
};

export type InboxCard = QuestionCard | DoubtCard;
export type InboxView = {
  readonly items: readonly InboxCard[];
  readonly next?: string | undefined;
  /** Sessions that cannot be read: what waits in them is not here. */
  readonly unread: number;
};

export type NewTrial = { readonly digest: Digest; readonly args: string };

export type EditTrialView =
  | { readonly kind: 'invalid'; readonly message: string; readonly problems: readonly ArgumentProblem[] }
  | { readonly kind: 'same' }
  | (Extract<EditTrial, { kind: 'valid' }> & { readonly patch: string });

export type SettleTrialView = SettleTrial;
export type FateView = Fate;

const ARGUMENTS_LENGTH_MAX = 1_048_576;

const card = z
  .looseObject({
    kind: z.enum(['question', 'doubt']),
    session: z.string(),
    call: z.string(),
    tool: z.string(),
    pretty: z.string(),
  })
  .openapi('InboxCard');

export const inboxShape: z.ZodType<InboxView> = z
  .object({ items: z.array(card), next: z.string().optional(), unread: z.number().int() })
  .openapi('Inbox') as unknown as z.ZodType<InboxView>;

export const newTrial: z.ZodType<NewTrial> = z
  .strictObject({ digest, args: z.string().max(ARGUMENTS_LENGTH_MAX) })
  .openapi('NewTrial');

const follow = z.looseObject({ kind: z.enum(['runs', 'asks', 'rejected', 'closed']) }).openapi('Follow');

export const editTrialShape: z.ZodType<EditTrialView> = z
  .looseObject({ kind: z.enum(['invalid', 'same', 'valid']) })
  .openapi('EditTrial') as unknown as z.ZodType<EditTrialView>;

export const settleTrialShape: z.ZodType<SettleTrialView> = z
  .looseObject({ follow, told: z.string().optional() })
  .openapi('SettleTrial') as unknown as z.ZodType<SettleTrialView>;

export const fateShape: z.ZodType<FateView> = z
  .looseObject({ kind: z.string() })
  .openapi('Fate') as unknown as z.ZodType<FateView>;
