/**
 * A provider of models that is a program of this experiment: Chat Completions over a real socket, streamed, with
 * answers by rule. What it was sent it keeps.
 */
import type { ServerResponse } from 'node:http';
import type { Gate } from './gate.ts';
import { Listener } from './listener.ts';

export type ChatRequest = {
  readonly body: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  /** How many requests came before this one. */
  readonly before: number;
};

export type ChatUsage = {
  readonly prompt: number;
  readonly cached?: number;
  readonly written?: number;
  readonly completion: number;
};

export type ChatReply = {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly args: object }[];
  readonly usage?: ChatUsage;
  /** Awaited before the first word. */
  readonly first?: Promise<unknown>;
  /** Half of the text is sent, then this is awaited. */
  readonly midway?: Gate;
  /** Half of the text is sent, then the connection is cut. */
  readonly cut?: true;
  /** A failure instead of an answer. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

export type ChatRule = (request: ChatRequest) => ChatReply;

export class ChatProvider {
  /** Bodies, in the order in which they came. */
  readonly requests: readonly string[];
  readonly #listener: Listener;

  private constructor(listener: Listener, requests: readonly string[]) {
    this.#listener = listener;
    this.requests = requests;
  }

  static async open(rule: ChatRule): Promise<ChatProvider> {
    const requests: string[] = [];
    const listener = await Listener.open(async ({ body }, response) => {
      const { messages } = JSON.parse(body) as Pick<ChatRequest, 'messages'>;
      const before = requests.push(body) - 1;
      await send(rule({ body, messages, before }), response, before);
    });
    return new ChatProvider(listener, requests);
  }

  get url(): string {
    return `${this.#listener.url}/v1`;
  }

  close(): Promise<void> {
    return this.#listener.close();
  }
}

const send = async (reply: ChatReply, response: ServerResponse, before: number): Promise<void> => {
  const { text = '', calls = [], usage, status = 200, headers = {} } = reply;
  if (status !== 200) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { message: `answered with ${status}, as the experiment says` } }));
    return;
  }
  await reply.first;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  /** Resolves when the system has it: what is cut off after that has arrived all the same. */
  const say = (delta: object, more: object = {}): Promise<void> => {
    const chunk = JSON.stringify({ id: `r${before}`, choices: [{ index: 0, delta, ...more }] });
    return new Promise((resolve) => response.write(`data: ${chunk}\n\n`, () => resolve()));
  };
  const half = Math.ceil(text.length / 2);
  if (text !== '') await say({ role: 'assistant', content: text.slice(0, half) });
  if ((await reply.midway?.keep(response)) === 'gone') return;
  if (reply.cut) {
    response.destroy();
    return;
  }
  if (text !== '') await say({ content: text.slice(half) });
  for (const [index, { tool, args }] of calls.entries()) {
    const call = { name: tool, arguments: JSON.stringify(args) };
    await say({ tool_calls: [{ index, id: `c${before}-${index}`, type: 'function', function: call }] });
  }
  await say({}, { finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' });
  if (usage) response.write(`data: ${JSON.stringify({ choices: [], usage: usageOf(usage) })}\n\n`);
  response.end('data: [DONE]\n\n');
};

const usageOf = ({ prompt, cached = 0, written = 0, completion }: ChatUsage): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
});
