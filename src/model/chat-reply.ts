/**
 * What a Chat Completions message means, whole or put together from a stream. Lenient: servers leave out ids, send
 * `null` or parts for content, objects for arguments, and know their own words for why they stopped.
 */
import type { ResponseBlock, StopReason, Usage } from '../event/content.ts';
import { isRecord, recordOf, tokens, type Answer } from './openai-reading.ts';
import { openaiRemarks } from './remarks.ts';

/** A call as far as it is known. `extra`: members beside the standard, as JSON texts by key. */
export type ChatCall = {
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly extra: ReadonlyMap<string, string>;
};

export type ChatMessage = {
  readonly text: string;
  readonly refusal: string;
  /** What it thought. `member`: where this server says so and takes it back; absent where it has no such place. */
  readonly reasoning: { readonly member?: string; readonly text: string } | undefined;
  /** Further members that go back, as JSON texts by key. */
  readonly extra: ReadonlyMap<string, string>;
  readonly calls: readonly ChatCall[];
};

const objectOf = (members: Iterable<readonly [string, string]>): string =>
  `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;

export const blocksOf = ({ text, reasoning, extra, calls }: ChatMessage): readonly ResponseBlock[] => {
  const blocks: ResponseBlock[] = [];
  if (reasoning) {
    const { member, text: thought } = reasoning;
    // The text stands in the block; `null` marks where it goes.
    const opaque = member === undefined ? {} : { opaque: objectOf([[member, 'null']]) };
    blocks.push({ type: 'reasoning', text: thought, ...opaque });
  }
  if (extra.size > 0) blocks.push({ type: 'opaque', json: objectOf(extra) });
  if (text !== '') blocks.push({ type: 'text', text });
  for (const call of calls)
    blocks.push({
      type: 'call',
      label: call.id,
      name: call.name,
      args: call.args,
      ...(call.extra.size > 0 && { opaque: objectOf(call.extra) }),
    });
  return blocks;
};

/** Words for why a model stopped, in lower case. `tool_calls` and `stop` say less than whether there are calls. */
const STOPS: Readonly<Record<string, StopReason>> = {
  stop: 'end',
  eos: 'end',
  eos_token: 'end',
  end_turn: 'end',
  stop_sequence: 'stop-sequence',
  tool_calls: 'calls',
  tool_call: 'calls',
  tool_use: 'calls',
  function_call: 'calls',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'refusal',
  content_filtered: 'refusal',
  safety: 'refusal',
  refusal: 'refusal',
};

type Stop = { readonly stop: StopReason; readonly stopDetail?: string };

/** `reason` is the `finish_reason` as it came. */
export const stopOf = (reason: unknown, message: ChatMessage): Stop => {
  if (message.refusal !== '') return { stop: 'refusal', stopDetail: message.refusal };
  const word = typeof reason === 'string' ? reason.toLowerCase() : '';
  const stop = Object.hasOwn(STOPS, word) ? STOPS[word] : undefined;
  const asks = message.calls.length > 0;
  switch (stop) {
    case undefined:
      return { stop: 'unknown', stopDetail: `finish_reason ${JSON.stringify(reason ?? null)}` };
    case 'end':
      return { stop: asks ? 'calls' : 'end' };
    case 'calls':
      if (asks) return { stop };
      if (message.text !== '') return { stop: 'end' };
      return { stop: 'unknown', stopDetail: `finish_reason ${JSON.stringify(reason)} without a call` };
    case 'refusal':
      return { stop, stopDetail: word };
    default:
      return { stop };
  }
};

/**
 * `prompt_tokens` includes what was read from the cache. Some servers leave reasoning out of `completion_tokens` but
 * not out of `total_tokens`; what is billed as output is then the rest of the total.
 */
export const usageOf = (usage: unknown): Usage | undefined => {
  if (!isRecord(usage) || usage['prompt_tokens'] === undefined) return undefined;
  const details = recordOf(usage['prompt_tokens_details']);
  const prompt = tokens(usage['prompt_tokens']);
  const read = [details['cached_tokens'], usage['prompt_cache_hit_tokens'], usage['cached_tokens']];
  const written = [details['cache_write_tokens'], details['cache_creation_tokens']];
  const cacheRead = Math.min(Math.max(...read.map(tokens)), prompt);
  const cacheWrite = Math.min(Math.max(...written.map(tokens)), prompt - cacheRead);
  const completion = tokens(usage['completion_tokens']);
  const reasoning = tokens(recordOf(usage['completion_tokens_details'])['reasoning_tokens']);
  const apart = reasoning > 0 && tokens(usage['total_tokens']) === prompt + completion + reasoning;
  return {
    cacheRead,
    cacheWrite,
    input: prompt - cacheRead - cacheWrite,
    output: completion + (apart ? reasoning : 0),
  };
};

export type ChatEnd = {
  readonly message: ChatMessage;
  readonly reason: unknown;
  readonly usage: Usage | undefined;
  readonly id: unknown;
  readonly tier: unknown;
};

export const answerOf = ({ message, reason, usage, id, tier }: ChatEnd): Answer => {
  const remarks = openaiRemarks({ service_tier: tier });
  return {
    kind: 'response',
    ...stopOf(reason, message),
    content: blocksOf(message),
    ...(usage && { usage }),
    ...(typeof id === 'string' && id !== '' && { responseId: id }),
    ...(remarks && { remarks }),
  };
};
