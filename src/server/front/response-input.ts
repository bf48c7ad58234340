/** What is taken of a request to create a response. All else is refused by name: nothing is left out in silence. */
import { z } from '@hono/zod-openapi';
import { ProblemError } from '../problem.ts';
import { named } from './answer-id.ts';
import type { Answer } from './beat.ts';
import { messageText, type MessagePart } from './message-text.ts';

type InputItem = {
  readonly type?: string | undefined;
  readonly role?: string | undefined;
  readonly content?: string | readonly MessagePart[] | undefined;
  readonly approval_request_id?: string | undefined;
  readonly approve?: boolean | undefined;
  readonly reason?: string | null | undefined;
};

export type ResponseInput = {
  readonly model: string;
  readonly input: string | readonly InputItem[];
  readonly stream?: boolean | null | undefined;
  readonly previous_response_id?: string | null | undefined;
};

const item: z.ZodType<InputItem> = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
    .optional(),
  approval_request_id: z.string().optional(),
  approve: z.boolean().optional(),
  reason: z.string().nullish(),
});

export const responseInput: z.ZodType<ResponseInput> = z
  .looseObject({
    model: z.string().openapi({ description: 'The name of the agent.' }),
    input: z.union([z.string(), z.array(item).min(1)]),
    stream: z.boolean().nullish(),
    previous_response_id: z
      .string()
      .nullish()
      .openapi({ description: 'Goes on in the session of that response.' }),
  })
  .openapi('CreateResponse');

/** What may stand in a request, and the values of it that ask for nothing more. */
const TAKEN: Readonly<Record<string, (value: unknown) => boolean>> = {
  model: () => true,
  input: () => true,
  stream: () => true,
  previous_response_id: () => true,
  store: (value) => value === true,
  background: (value) => value === false,
  tools: (value) => Array.isArray(value) && value.length === 0,
  truncation: (value) => value === 'disabled',
};

/** Throws `not-supported`: what a request asks for and does not get is said. */
export const checkTaken = (body: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || TAKEN[name]?.(value) === true) continue;
    throw new ProblemError(
      'not-supported',
      `"${name.slice(0, 60)}" is not supported here with this value: model, instructions, tools and limits are those of the agent. Taken are model, input, stream and previous_response_id.`,
      { more: { errors: [{ at: `/${name.slice(0, 60)}`, message: 'is not supported' }] } },
    );
  }
};

export type ResponseAsk =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] };

/** The newest message, or the answers that stand last. Throws `not-supported`, `answer-invalid`. */
export const responseAsk = ({ input }: ResponseInput): ResponseAsk => {
  if (typeof input === 'string') return { kind: 'message', text: input };
  const newest = input.at(-1);
  const type = newest?.type ?? 'message';
  if (newest?.role === 'user' && type === 'message')
    return { kind: 'message', text: messageText(newest.content ?? '') };
  const before = input.findLastIndex((one) => one.type !== 'mcp_approval_response');
  const answers = input.slice(before + 1).map(answerOf);
  if (answers.length > 0) return { kind: 'answers', answers };
  throw new ProblemError(
    'not-supported',
    `The last item of the input has to be a message of the user or an mcp_approval_response, not "${(newest?.role ?? type).slice(0, 40)}". Tools run on the server.`,
    { more: { errors: [{ at: '/input', message: 'ends with nothing to run' }] } },
  );
};

const answerOf = ({ approval_request_id: id = '', approve, reason }: InputItem): Answer => {
  const to = named(id);
  if (to.kind === 'doubt' || approve === undefined)
    throw new ProblemError(
      'answer-invalid',
      'An mcp_approval_response names a question and says approve true or false.',
    );
  const no = { do: 'reject' as const, ...(typeof reason === 'string' && { reason }) };
  return { ...to, kind: 'decision', id, decision: approve ? { do: 'approve' } : no };
};
