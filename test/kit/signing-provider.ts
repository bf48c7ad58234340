/**
 * A provider that signs its reasoning over everything that stood before it, as the newer ones do, and refuses a
 * request whose reasoning stands behind anything else. It also checks the pairing of calls and results by itself.
 */
import { createHash } from 'node:crypto';
import type { ModelReply, ModelRequest } from '../../src/model/model.ts';
import { splitBody } from '../../src/context/body-split.ts';

type Block = {
  readonly type: string;
  readonly id?: string;
  readonly opaque?: string;
  readonly text?: string;
};
type Message = { readonly role: string; readonly content: string | readonly Block[] };

const sign = (prefix: string): string => createHash('sha256').update(prefix).digest('hex').slice(0, 16);

export type Seen = { readonly body: string; readonly problem: string | undefined; readonly stripped: number };

export class SigningProvider {
  readonly seen: Seen[] = [];

  /** Answers with reasoning signed over the request, and whatever else the reply holds. */
  answer(request: ModelRequest, reply: Extract<ModelReply, { kind: 'response' }>): ModelReply {
    const body = request.body();
    const problem = problemOf(body);
    this.seen.push({ body, problem, stripped: 0 });
    if (problem !== undefined)
      return { kind: 'failed', maybeBilled: false, problem: { kind: 'bad-request', message: problem } };
    const split = splitBody(body);
    const opaque = sign(prefixOf(split?.head ?? '', split?.parts ?? []));
    return {
      ...reply,
      content: [{ type: 'reasoning', text: '', opaque }, ...reply.content],
      usage: { cacheRead: 0, cacheWrite: 0, input: Math.ceil(Buffer.byteLength(body) / 3), output: 20 },
    };
  }
}

const prefixOf = (head: string, parts: readonly string[]): string => head + parts.join(',');

export const problemOf = (body: string): string | undefined => {
  const split = splitBody(body);
  if (!split) return 'no conversation';
  const messages = split.parts.map((part) => JSON.parse(part) as Message);
  const ids = new Set<string>();
  for (const [i, { role, content }] of messages.entries()) {
    if (i === 0 && (role === 'assistant' || role === 'results')) return `it begins with ${role}`;
    if (typeof content === 'string') {
      if (content === '') return `message ${i} is empty`;
      continue;
    }
    if (role === 'results') {
      if (messages[i - 1]?.role !== 'assistant') return `results at ${i} follow no answer`;
      continue;
    }
    if (content.length === 0) return `answer ${i} is empty`;
    for (const block of content)
      if (block.opaque !== undefined && block.opaque !== sign(prefixOf(split.head, split.parts.slice(0, i))))
        return `the reasoning of message ${i} is bound to a different conversation`;
    const calls = content.flatMap((block) => (block.type === 'call' ? [block.id ?? ''] : []));
    for (const id of calls) {
      if (ids.has(id)) return `the id ${id} stands twice`;
      ids.add(id);
    }
    const next = messages[i + 1];
    const answered = next?.role === 'results' && typeof next.content !== 'string' ? next.content : [];
    if (calls.length > 0 && JSON.stringify(answered.map((one) => one.id)) !== JSON.stringify(calls))
      return `calls of message ${i} are not answered at once`;
  }
  return undefined;
};
