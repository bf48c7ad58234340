/** Replies of a server that speaks Chat Completions, written by hand and served over a socket. */
import type { ResponseBlock } from '../../src/event/content.ts';
import { chatServer } from '../../src/model/chat.ts';
import { json, sendTo, standIn, stream, type Answering, type Sending, type Sent } from './openai-stage.ts';

/** Longer than any test: only where a test lets the time pass is silence an end. */
export const IDLE_MS = 60_000;

export const exchange = async (answer: Answering, sending: Sending = {}): Promise<Sent> => {
  const { url } = await standIn(answer);
  return sendTo(chatServer({ name: 'vllm', baseUrl: url, idleMs: IDLE_MS }).model('stand-in'), sending);
};

export type Chunk = Readonly<Record<string, unknown>>;

export const delta = (said: Chunk, finish_reason: unknown = null): Chunk => ({
  choices: [{ index: 0, delta: said, finish_reason }],
});
export const sse = (...chunks: readonly (Chunk | string)[]): string =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('');
export const streamed = (...chunks: readonly (Chunk | string)[]): Promise<Sent> =>
  exchange((_, response) => stream(response, [sse(...chunks)]));
export const whole = (message: Chunk, finish_reason: unknown = 'stop', more: Chunk = {}): Promise<Sent> =>
  exchange((_, response) =>
    json(response, { id: 'c1', choices: [{ index: 0, message, finish_reason }], ...more }),
  );

export const content = ({ reply }: Sent): readonly ResponseBlock[] => {
  if (reply.kind === 'failed') throw new Error(reply.problem.message);
  return reply.content;
};
export const calls = (sent: Sent): readonly unknown[] =>
  content(sent).flatMap((block) => (block.type === 'call' ? [[block.label, block.name, block.args]] : []));
export const stopOf = ({ reply }: Sent): unknown =>
  reply.kind === 'failed'
    ? reply.problem.kind
    : [reply.stop, reply.stopDetail].filter((word) => word !== undefined).join(': ');

export const piece = (call: Chunk): Chunk => delta({ tool_calls: [call] });
export const fn = (name: string | undefined, args: unknown): Chunk => ({
  ...(name !== undefined && { name }),
  ...(args !== undefined && { arguments: args }),
});
export const END: Chunk = delta({}, 'tool_calls');
