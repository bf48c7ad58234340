/**
 * The cache of a provider by one rule, for a simulated one: whatever was sent once is kept up to the end of each
 * message, for ever and at any size. So what it reads again is what the bytes allow, and nothing else is in the way.
 */
import { createHash } from 'node:crypto';
import type { ChatRequest, ChatUsage } from './provider.ts';

const BYTES_PER_TOKEN = 4;
const ANSWER_TOKENS = 8;

export class PrefixCache {
  readonly #kept = new Set<string>();

  ask({ body, messages }: ChatRequest): ChatUsage {
    const prefixes = prefixesOf(body, messages);
    const known = prefixes.findLast((prefix) => this.#kept.has(nameOf(prefix))) ?? '';
    for (const prefix of prefixes) this.#kept.add(nameOf(prefix));
    const [prompt, cached] = [tokensOf(body), tokensOf(known)];
    return { prompt, cached, written: prompt - cached, completion: ANSWER_TOKENS };
  }
}

/** The body up to the end of each message. */
const prefixesOf = (body: string, messages: ChatRequest['messages']): readonly string[] => {
  const texts = messages.map((message) => JSON.stringify(message));
  const head = body.slice(0, body.length - texts.join(',').length - ']}'.length);
  if (`${head}${texts.join(',')}]}` !== body) throw new Error('The body is not what its messages say.');
  return texts.map((_, i) => head + texts.slice(0, i + 1).join(','));
};

const nameOf = (prefix: string): string => createHash('sha256').update(prefix).digest('hex');

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
