/** The input of an AG-UI run, as far as the door uses it: a new message, or answers to what the last run waited for. */
import { z } from '@hono/zod-openapi';
import type { WhenRunning } from '../../session/decide.ts';
import { when } from '../schemas.ts';
import { ProblemError } from '../problem.ts';
import { named } from './answer-id.ts';
import type { Answer } from './beat.ts';
import { messageText, NAME_LENGTH_MAX, type MessagePart } from './message-text.ts';

type Message = {
  readonly role: string;
  readonly content?: string | readonly MessagePart[] | null | undefined;
};

type Resume = {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?: unknown;
};

export type AgUiInput = {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly unknown[] | undefined;
  readonly context?: readonly unknown[] | undefined;
  readonly forwardedProps?: { readonly when?: WhenRunning | undefined } | null | undefined;
  readonly resume?: readonly Resume[] | undefined;
};

export const agUiInput: z.ZodType<AgUiInput> = z
  .looseObject({
    threadId: z.string().min(1).max(NAME_LENGTH_MAX),
    runId: z.string().min(1).max(NAME_LENGTH_MAX).openapi({ description: 'The key of the turn.' }),
    messages: z.array(
      z.looseObject({
        role: z.string(),
        content: z
          .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
          .nullish(),
      }),
    ),
    tools: z.array(z.unknown()).optional(),
    context: z.array(z.unknown()).optional(),
    forwardedProps: z.looseObject({ when: when.optional() }).nullish(),
    resume: z
      .array(
        z.looseObject({
          interruptId: z.string().max(NAME_LENGTH_MAX),
          status: z.enum(['resolved', 'cancelled']),
          payload: z.unknown().optional(),
        }),
      )
      .optional(),
  })
  .openapi('RunAgentInput');

/** The newest message of the user, and whether nothing stands behind it. */
export const agUiMessage = ({ messages }: AgUiInput): { readonly text: string; readonly isNew: boolean } => {
  const newest = messages.findLast(({ role }) => role === 'user');
  if (!newest) throw new ProblemError('not-supported', 'No message of the user is in the input.');
  return { text: messageText(newest.content ?? ''), isNew: messages.at(-1) === newest };
};

/** Parts of the input that say something and are not used. */
export const agUiUnused = ({ tools = [], context = [] }: AgUiInput): readonly string[] => [
  ...(tools.length > 0 ? ['tools'] : []),
  ...(context.length > 0 ? ['context'] : []),
];

/** Throws `answer-invalid`: only what says yes is a yes. */
export const agUiAnswers = (resume: readonly Resume[]): readonly Answer[] => resume.map(answerOf);

type Payload = {
  readonly approved: boolean;
  readonly editedArgs?: Readonly<Record<string, unknown>> | undefined;
  readonly reason?: string | undefined;
};

const decisionPayload = z.strictObject({
  approved: z.boolean(),
  editedArgs: z.record(z.string(), z.unknown()).optional(),
  reason: z.string().optional(),
});

const settlementPayload = z.strictObject({
  answer: z.enum(['happened', 'not-happened', 'give-up']),
  result: z.string().optional(),
});

const answerOf = ({ interruptId: id, status, payload }: Resume): Answer => {
  const to = named(id);
  if (to.kind === 'doubt')
    return { kind: 'settlement', id, call: to.call, settlement: settlementOf(payload) };
  const { call, digest } = to;
  const given: Payload =
    status === 'cancelled' && payload === undefined ? { approved: false } : read(decisionPayload, payload);
  const { approved, editedArgs, reason } = given;
  if (!approved)
    return {
      kind: 'decision',
      id,
      call,
      digest,
      decision: { do: 'reject', ...(reason !== undefined && { reason }) },
    };
  if (status === 'cancelled') throw invalid('A cancelled interrupt approves nothing.');
  if (!editedArgs) return { kind: 'decision', id, call, digest, decision: { do: 'approve' } };
  return {
    kind: 'decision',
    id,
    call,
    digest,
    decision: { do: 'edit', args: JSON.stringify(editedArgs) },
  };
};

const settlementOf = (payload: unknown): Extract<Answer, { kind: 'settlement' }>['settlement'] => {
  const { answer, result = '' } = read(settlementPayload, payload);
  return answer === 'happened' ? { answer, content: [{ type: 'text', text: result }] } : { answer };
};

const read = <T>(schema: z.ZodType<T>, payload: unknown): T => {
  const result = schema.safeParse(payload);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(`The payload is not what its responseSchema says: ${issue?.message ?? ''}.`);
};

const invalid = (detail: string): ProblemError => new ProblemError('answer-invalid', detail);
