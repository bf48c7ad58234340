/**
 * Reads a Chat Completions reply, streamed or whole. A `finish_reason` is the end that an answer needs; `[DONE]`
 * alone is none, and a server that leaves it out is not held to it.
 */
import type { Usage } from '../event/content.ts';
import { ChatCalls, type CallPiece } from './chat-calls.ts';
import { ChatExtras, CALL_EXTRAS, extrasOf } from './chat-extras.ts';
import { answerOf, blocksOf, usageOf, type ChatMessage } from './chat-reply.ts';
import { jsonAt } from './json-text.ts';
import type { Delta } from './model.ts';
import {
  broken,
  failedWith,
  isRecord,
  NO_END,
  recordOf,
  type EventReader,
  type Failure,
  type Reading,
} from './openai-reading.ts';
import { readError, type ProviderError } from './provider/problem.ts';

/** Where servers say what a model thought. */
const REASONING_MEMBERS = ['reasoning_content', 'reasoning'] as const;

type Json = Readonly<Record<string, unknown>>;

export class ChatStream implements EventReader {
  readonly #onDelta: (delta: Delta) => void;
  readonly #calls = new ChatCalls();
  readonly #extras = new ChatExtras();
  #text = '';
  #refusal = '';
  #reasoning: ChatMessage['reasoning'];
  #usage: Usage | undefined;
  #id: unknown;
  #tier: unknown;
  #reason: unknown;
  #done = false;
  #failure: Failure | undefined;

  constructor(onDelta: (delta: Delta) => void) {
    this.#onDelta = onDelta;
  }

  get state(): 'open' | 'ended' | 'complete' {
    if (this.#done || this.#failure) return 'complete';
    return this.#reason === undefined ? 'open' : 'ended';
  }

  push(data: string, last: boolean): void {
    if (this.state === 'complete') return;
    if (data.trim() === '[DONE]') {
      this.#done = true;
      return;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      // The end of a reply that was cut inside an event says nothing.
      if (!last && this.#reason === undefined)
        this.#failure = broken('bad-response', 'An event is no JSON', { partial: this.#text, text: data });
      return;
    }
    if (isRecord(chunk)) this.#chunk(chunk, data);
  }

  reading(): Reading {
    if (this.#failure) return this.#failure;
    if (this.#reason === undefined && !this.#done)
      return broken('interrupted', NO_END, { partial: this.#text });
    const message = this.#message;
    if (this.#reason === undefined && blocksOf(message).length === 0 && message.refusal === '')
      return broken('bad-response', 'The reply says nothing: it has no choice with a message.', {
        partial: '',
      });
    return answerOf({
      message,
      reason: this.#reason,
      usage: this.#usage,
      id: this.#id,
      tier: this.#tier,
    });
  }

  get #message(): ChatMessage {
    return {
      text: this.#text,
      refusal: this.#refusal,
      reasoning: this.#reasoning,
      extra: this.#extras.all,
      calls: this.#calls.all,
    };
  }

  #chunk(chunk: Json, data: string): void {
    const { error, choices, usage, x_groq: groq } = chunk;
    this.#usage = usageOf(usage) ?? usageOf(recordOf(groq)['usage']) ?? this.#usage;
    this.#id ??= chunk['id'];
    this.#tier = chunk['service_tier'] ?? this.#tier;
    const said =
      error !== undefined && error !== null ? { error } : chunk['object'] === 'error' ? chunk : undefined;
    if (said) return this.#fail(readError(said) ?? {});
    const list: readonly unknown[] = Array.isArray(choices) ? choices : [];
    // One answer is asked for; a server that sends more is not followed into them.
    const at = list.findIndex((choice) => [0, undefined, null].includes(recordOf(choice)['index'] as number));
    if (at >= 0) this.#choice(recordOf(list[at]), (path) => jsonAt(data, ['choices', at, ...path]));
  }

  #choice(choice: Json, rawAt: RawAt): void {
    const member = isRecord(choice['delta']) ? 'delta' : 'message';
    const delta = recordOf(choice[member]);
    this.#said(delta, member === 'message');
    this.#extras.take(delta, (key) => rawAt([member, key]));
    this.#asked(delta, member, rawAt);
    const reason = choice['finish_reason'];
    if (reason === null || reason === undefined || reason === '') return;
    this.#reason = reason;
    const error = readError({ error: choice['error'] });
    const failed = failureOfReason(reason);
    if (error || failed) this.#fail(error ?? failed ?? {});
  }

  #fail(error: ProviderError): void {
    const failure = failedWith(error, this.#text, this.#usage);
    this.#failure =
      error.code === 'abort' ? { ...failure, problem: { ...failure.problem, kind: 'interrupted' } } : failure;
  }

  #said(delta: Json, whole: boolean): void {
    const { text, thought } = contentOf(delta['content']);
    this.#speak(text, whole);
    if (typeof delta['refusal'] === 'string') this.#refusal += delta['refusal'];
    if (thought !== '') this.#think(thought, undefined, whole);
    const member =
      this.#reasoning?.member ??
      REASONING_MEMBERS.find((name) => typeof delta[name] === 'string' && delta[name] !== '');
    const reasoning = member === undefined ? undefined : delta[member];
    if (typeof reasoning === 'string' && reasoning !== '') this.#think(reasoning, member, whole);
  }

  #speak(text: string, whole: boolean): void {
    if (text === '') return;
    this.#text += text;
    if (!whole) this.#onDelta({ type: 'text', text });
  }

  #think(text: string, member: string | undefined, whole: boolean): void {
    const before = this.#reasoning?.text ?? '';
    this.#reasoning = { text: before + text, ...(member !== undefined && { member }) };
    if (!whole) this.#onDelta({ type: 'reasoning', text });
  }

  #asked(delta: Json, member: string, rawAt: RawAt): void {
    const { tool_calls: calls, function_call: single } = delta;
    const list: readonly unknown[] = Array.isArray(calls) ? calls : [];
    for (const [i, call] of list.entries())
      this.#take(
        pieceOf(recordOf(call), (path) => rawAt([member, 'tool_calls', i, ...path])),
        member,
      );
    if (list.length > 0 || !isRecord(single)) return;
    // The form before tool calls: one function, without an id.
    const piece = pieceOf({ function: single }, (path) => rawAt([member, 'function_call', ...path.slice(1)]));
    this.#take({ ...piece, index: 0 }, member);
  }

  #take(piece: CallPiece, member: string): void {
    if (member === 'message') return this.#calls.add(piece);
    const index = this.#calls.join(piece);
    if (piece.args !== '') this.#onDelta({ type: 'call-arguments', index, text: piece.args });
  }
}

type RawAt = (path: readonly (string | number)[]) => string | undefined;

/** Ends that are failures of the server, in its own words. */
const failureOfReason = (reason: unknown): ProviderError | undefined => {
  switch (reason) {
    case 'error':
      return { message: 'it stopped with finish_reason "error"' };
    case 'insufficient_system_resource':
      return { code: 'overloaded', message: 'it stopped with finish_reason "insufficient_system_resource"' };
    case 'abort':
    case 'aborted':
      return { code: 'abort', message: `it stopped with finish_reason "${reason}"` };
    default:
      return undefined;
  }
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Text, `null`, or parts; a part may be a thought, as Mistral's servers send them. */
const contentOf = (content: unknown): { readonly text: string; readonly thought: string } => {
  if (!Array.isArray(content)) return { text: textOf(content), thought: '' };
  let [text, thought] = ['', ''];
  for (const part of content as readonly unknown[]) {
    const { type, text: said, thinking } = recordOf(part);
    if (type === 'thinking') thought += contentOf(thinking).text;
    else text += textOf(said);
  }
  return { text, thought };
};

const pieceOf = (call: Json, rawAt: RawAt): CallPiece => {
  const inner = isRecord(call['function']) ? call['function'] : call;
  const path = isRecord(call['function']) ? ['function', 'arguments'] : ['arguments'];
  const { arguments: args } = inner;
  // Some servers send the arguments as an object: its text is kept, so that no digit is lost.
  const given =
    typeof args === 'string' ? args : args === null || args === undefined ? '' : (rawAt(path) ?? '');
  return {
    ...(typeof call['index'] === 'number' && { index: call['index'] }),
    id: textOf(call['id']),
    name: textOf(inner['name']),
    args: given,
    extra: extrasOf(CALL_EXTRAS, (key) => (call[key] === undefined ? undefined : rawAt([key]))),
  };
};

/** A reply that is not streamed. `raw` has passed JSON.parse. */
export const readCompletion = (raw: string): Reading => {
  const stream = new ChatStream(() => {});
  stream.push(raw, false);
  stream.push('[DONE]', false);
  return stream.reading();
};
