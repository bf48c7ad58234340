/** How a question and a doubt are named to a front end: the call, and what exactly was shown or tried. */
import { isCallId, type CallId } from '../../event/call-id.ts';
import type { Digest } from '../../event/canonical.ts';
import type { CallState } from '../../session/state.ts';
import { ProblemError } from '../problem.ts';

const QUESTION = /^(\d+(?:\.\d+){2,3})~([0-9a-f]{64})$/;
const DOUBT = /^(\d+(?:\.\d+){2,3})~doubt~(\d+)$/;

export const questionId = (call: CallId, digest: Digest): string => `${call}~${digest}`;

export const doubtId = ({ id, attempt }: CallState): string => `${id}~doubt~${attempt}`;

export type Named =
  | { readonly kind: 'question'; readonly call: CallId; readonly digest: Digest }
  | { readonly kind: 'doubt'; readonly call: CallId };

/** Throws `answer-invalid`. */
export const named = (id: string): Named => {
  const [, asked = '', digest] = QUESTION.exec(id) ?? [];
  if (digest !== undefined && isCallId(asked))
    return { kind: 'question', call: asked, digest: digest as Digest };
  const [, doubted = ''] = DOUBT.exec(id) ?? [];
  if (isCallId(doubted)) return { kind: 'doubt', call: doubted };
  throw new ProblemError('answer-invalid', 'The answer names no question of this session.');
};
