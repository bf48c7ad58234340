/** What the AI SDK's chat transport sends, as far as the door uses it: the newest message, or answers to questions. */
import { z } from '@hono/zod-openapi';
import type { WhenRunning } from '../../session/decide.ts';
import { ProblemError } from '../problem.ts';
import { when } from '../schemas.ts';
import { named } from './answer-id.ts';
import type { Answer } from './beat.ts';
import { messageText, NAME_LENGTH_MAX } from './message-text.ts';

type Part = {
  readonly type: string;
  readonly text?: string | undefined;
  readonly state?: string | undefined;
  readonly approval?:
    | {
        readonly id: string;
        readonly approved?: boolean | undefined;
        readonly reason?: string | undefined;
      }
    | undefined;
};

type Message = { readonly id: string; readonly role: string; readonly parts: readonly Part[] };

export type ChatInput = {
  readonly id: string;
  readonly messages: readonly Message[];
  readonly trigger?: 'submit-message' | 'regenerate-message' | undefined;
  readonly messageId?: string | undefined;
  readonly when?: WhenRunning | undefined;
};

export const chatInput: z.ZodType<ChatInput> = z
  .looseObject({
    id: z.string().min(1).max(NAME_LENGTH_MAX),
    messages: z
      .array(
        z.looseObject({
          id: z.string().openapi({ description: 'Of the newest user message: the key of the turn.' }),
          role: z.string(),
          parts: z.array(
            z.looseObject({
              type: z.string(),
              text: z.string().optional(),
              state: z.string().optional(),
              approval: z
                .looseObject({
                  id: z.string(),
                  approved: z.boolean().optional(),
                  reason: z.string().optional(),
                })
                .optional(),
            }),
          ),
        }),
      )
      .min(1),
    trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
    messageId: z.string().optional(),
    when: when.optional(),
  })
  .openapi('ChatInput');

export type ChatAsk =
  | { readonly kind: 'message'; readonly key: string; readonly text: string }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] };

/** Throws `not-supported`, `answer-invalid`. */
export const chatAsk = ({ messages, trigger }: ChatInput): ChatAsk => {
  if (trigger === 'regenerate-message')
    throw new ProblemError(
      'not-supported',
      'A turn is not run again: what it did stands in the record. Send a new message, or fork the session.',
    );
  const newest = messages.at(-1);
  if (newest?.role === 'user') return { kind: 'message', key: newest.id, text: messageText(newest.parts) };
  const answers = (newest?.parts ?? []).flatMap((part) => answerOf(part) ?? []);
  if (newest?.role === 'assistant' && answers.length > 0) return { kind: 'answers', answers };
  throw new ProblemError(
    'not-supported',
    'The newest message is not the user\u2019s and answers no question: there is nothing to run.',
  );
};

const answerOf = ({ state, approval }: Part): Answer | undefined => {
  if (state !== 'approval-responded' || approval?.approved === undefined) return undefined;
  const { id, approved, reason } = approval;
  const to = named(id);
  if (to.kind === 'doubt') throw new ProblemError('answer-invalid', 'A doubt is settled, not approved.');
  const no = { do: 'reject' as const, ...(reason !== undefined && { reason }) };
  return { ...to, kind: 'decision', id, decision: approved ? { do: 'approve' } : no };
};
