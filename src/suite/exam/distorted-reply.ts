/** What a fault plan makes of a model's reply on its way: slow, cut off in the middle, or unreadable. */
import type { Delta, ModelReply, ModelRequest } from '../../model/model.ts';
import type { Fault } from '../fault-plan.ts';

/** Pieces of a slow reply. */
export const SLOW_PIECES = 10;

export type Send = (request: ModelRequest) => Promise<ModelReply>;

export const distortedReply = async (
  fault: Fault,
  request: ModelRequest,
  send: Send,
): Promise<ModelReply> => {
  const said: Delta[] = [];
  const reply = await send({ ...request, onDelta: (delta) => void said.push(delta) });
  switch (fault.do) {
    case 'slow':
      return slow(reply, request, { said, ms: fault.ms ?? 0 });
    case 'cut':
      for (const piece of pieces(said, 2).slice(0, 1)) piece.forEach(request.onDelta);
      return broken('interrupted', 'The stream broke off in the middle, says the fault plan.');
    case 'malformed':
      return malformed(reply);
    default:
      // The schema lets nothing else come here.
      said.forEach(request.onDelta);
      return reply;
  }
};

const slow = async (
  reply: ModelReply,
  request: ModelRequest,
  { said, ms }: { readonly said: readonly Delta[]; readonly ms: number },
): Promise<ModelReply> => {
  for (const piece of pieces(said, SLOW_PIECES)) {
    await request.sleep(ms, request.signal);
    if (request.signal.aborted) return broken('cancelled', 'The request was cancelled.');
    piece.forEach(request.onDelta);
  }
  return reply;
};

/** So many groups of what was said, all of them; later ones may be empty. */
const pieces = (said: readonly Delta[], count: number): readonly (readonly Delta[])[] => {
  const points = said.flatMap((delta) => Array.from(delta.text, (text): Delta => ({ ...delta, text })));
  const size = Math.ceil(points.length / count);
  return Array.from({ length: count }, (_, i) => points.slice(i * size, (i + 1) * size));
};

const malformed = (reply: ModelReply): ModelReply => {
  if (reply.kind !== 'response') return reply;
  if (!reply.content.some(({ type }) => type === 'call'))
    return broken('bad-response', 'The reply cannot be read, says the fault plan.');
  const content = reply.content.map((block) =>
    block.type === 'call'
      ? { ...block, args: block.args.slice(0, Math.floor(block.args.length / 2)) }
      : block,
  );
  return { ...reply, content };
};

const broken = (kind: 'interrupted' | 'bad-response' | 'cancelled', message: string): ModelReply => ({
  kind: 'failed',
  maybeBilled: true,
  problem: { kind, message },
});
