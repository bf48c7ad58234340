/**
 * Replies of the Anthropic Messages API, as a stream of events or as one JSON body. A stream counts only with its
 * `message_stop`. Unknown events are passed over, unknown deltas are applied by their shape; the bytes of all of
 * them are in the stored reply.
 */
import type { Remarks, ResponseBlock, StopReason, Usage } from '../event/content.ts';
import type { RequestProblem } from '../event/events.ts';
import { blockOf, type Tools } from './anthropic-block.ts';
import { jsonAt, jsonElements, jsonKeys, jsonWith } from './json-text.ts';
import type { Delta } from './model.ts';
import { kindOfError, problemMessage, readError, statusIn } from './provider/problem.ts';
import { anthropicRemarks } from './remarks.ts';

export type Message = {
  readonly stop: StopReason;
  readonly stopDetail?: string;
  readonly content: readonly ResponseBlock[];
  readonly usage?: Usage;
  readonly responseId?: string;
  readonly remarks?: Remarks;
};

type Members = Readonly<Record<string, unknown>>;

const members = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

const STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: 'end',
  tool_use: 'calls',
  max_tokens: 'length',
  stop_sequence: 'stop-sequence',
  pause_turn: 'paused',
  // Beta: the provider shortened the context and waits to be sent the result.
  compaction: 'paused',
  refusal: 'refusal',
  model_context_window_exceeded: 'context-overflow',
};

/** `detail` is `stop_details`: a refusal's category and explanation. */
const stopOf = (reason: unknown, detail: unknown): Pick<Message, 'stop' | 'stopDetail'> => {
  const word = typeof reason === 'string' ? reason : JSON.stringify(reason ?? null);
  const stop = Object.hasOwn(STOPS, word) ? (STOPS[word] ?? 'unknown') : 'unknown';
  const { category, explanation } = members(detail);
  const said = [category, explanation].filter((text) => typeof text === 'string' && text !== '').join(': ');
  if (stop === 'unknown') return { stop, stopDetail: word };
  return { stop, ...(said !== '' && { stopDetail: said }) };
};

const count = (value: unknown): number => (typeof value === 'number' && value >= 0 ? Math.trunc(value) : 0);

const classes = (usage: Members): Usage & { readonly cacheWriteLong: number } => {
  const cacheWrite = count(usage['cache_creation_input_tokens']);
  return {
    cacheRead: count(usage['cache_read_input_tokens']),
    cacheWrite,
    cacheWriteLong: longOf(cacheWrite, members(usage['cache_creation'])),
    input: count(usage['input_tokens']),
    output: count(usage['output_tokens']),
  };
};

/**
 * What is kept for an hour. The total may have grown after the lifetimes were said, in the loop of a server tool:
 * where only one lifetime was named, the rest has it, too.
 */
const longOf = (cacheWrite: number, lifetimes: Members): number => {
  const [short, long] = [
    count(lifetimes['ephemeral_5m_input_tokens']),
    count(lifetimes['ephemeral_1h_input_tokens']),
  ];
  return long > 0 && short === 0 ? cacheWrite : Math.min(long, cacheWrite);
};

/** `input_tokens` is the uncached rest already. Tokens of a compaction stand in `iterations` alone. */
export const usageOf = (usage: Members): Usage | undefined => {
  if (Object.keys(usage).length === 0) return undefined;
  const { iterations } = usage;
  const compactions = Array.isArray(iterations)
    ? iterations.map(members).filter(({ type }) => type === 'compaction')
    : [];
  const { cacheWriteLong, ...sum } = [usage, ...compactions].map(classes).reduce((all, part) => ({
    cacheRead: all.cacheRead + part.cacheRead,
    cacheWrite: all.cacheWrite + part.cacheWrite,
    cacheWriteLong: all.cacheWriteLong + part.cacheWriteLong,
    input: all.input + part.input,
    output: all.output + part.output,
  }));
  return cacheWriteLong > 0 ? { ...sum, cacheWriteLong } : sum;
};

const said = (usage: Members): Members =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));

const optional = (message: Members): Pick<Message, 'usage' | 'responseId' | 'remarks'> => {
  const { id } = message;
  const usage = usageOf(members(message['usage']));
  const remarks = anthropicRemarks(message);
  return {
    ...(usage && { usage }),
    ...(typeof id === 'string' && { responseId: id }),
    ...(remarks && { remarks }),
  };
};

export const errorIn = (event: unknown): RequestProblem => {
  const error = readError(event) ?? {};
  const status = statusIn(error);
  return {
    kind: kindOfError(error, status),
    message: problemMessage('The provider broke off with an error', error),
    ...(status !== undefined && { status }),
  };
};

/** A reply in one body. Throws a SyntaxError where it is no JSON. */
export const readMessage = (text: string, tools: Tools): Message | RequestProblem => {
  const body = members(JSON.parse(text));
  if (body['type'] === 'error' || body['error'] !== undefined) return errorIn(body);
  if (body['type'] !== 'message') return { kind: 'bad-response', message: 'The reply is no message.' };
  const content = jsonElements(jsonAt(text, ['content']) ?? '[]')
    .filter((raw) => raw.startsWith('{'))
    .map((raw) => blockOf(raw, tools));
  return {
    ...stopOf(body['stop_reason'], body['stop_details']),
    content,
    ...optional(body),
  };
};

/** A block while it grows. */
type Growing = {
  /** As it stood in its start event. */
  readonly raw: string;
  readonly start: Members;
  readonly isCall: boolean;
  /** Which call of the message it is, from 0. */
  readonly call: number;
  readonly texts: Map<string, string[]>;
  readonly raws: Map<string, string>;
  readonly lists: Map<string, string[]>;
  readonly input: string[];
};

export class MessageStream {
  readonly #tools: Tools;
  readonly #onDelta: (delta: Delta) => void;
  readonly #blocks = new Map<number, Growing>();
  #usage: Members = {};
  /** The message as it began, with what later events replaced. */
  #told: Members = {};
  #stop: Pick<Message, 'stop' | 'stopDetail'> = { stop: 'unknown', stopDetail: 'null' };
  #whole = false;

  constructor(tools: Tools, onDelta: (delta: Delta) => void) {
    this.#tools = tools;
    this.#onDelta = onDelta;
  }

  /** Whether the terminal event has come. */
  get whole(): boolean {
    return this.#whole;
  }

  /** Text that had come, for a reply that broke off. */
  get partial(): string | undefined {
    const text = [...this.#blocks.values()]
      .flatMap(({ texts, start }) => texts.get('text') ?? [start['text']])
      .filter((piece) => typeof piece === 'string')
      .join('');
    return text === '' ? undefined : text;
  }

  get usage(): Usage | undefined {
    return usageOf(this.#usage);
  }

  /** One event, as its data text. Answers a problem where it is an error. Throws a SyntaxError where it is no JSON. */
  push(data: string): RequestProblem | undefined {
    const event = members(JSON.parse(data));
    switch (event['type']) {
      case 'message_start':
        this.#start(members(event['message']));
        break;
      case 'content_block_start':
        this.#open(count(event['index']), jsonAt(data, ['content_block']) ?? '{}');
        break;
      case 'content_block_delta':
        this.#grow(count(event['index']), data, members(event['delta']));
        break;
      case 'message_delta': {
        const { stop_reason: reason, stop_details: detail } = members(event['delta']);
        if (reason !== null && reason !== undefined) this.#stop = stopOf(reason, detail);
        // Counts are totals so far: they replace, they never add. A null says nothing.
        this.#usage = { ...this.#usage, ...said(members(event['usage'])) };
        this.#told = { ...this.#told, ...toldIn(event) };
        break;
      }
      case 'message_stop':
        this.#whole = true;
        break;
      case 'error':
        return errorIn(event);
      default:
        // A gateway's error, in its own form.
        if (event['type'] === undefined && event['error'] !== undefined) return errorIn(event);
        break;
    }
    return undefined;
  }

  message(): Message {
    const blocks = [...this.#blocks.entries()].sort(([a], [b]) => a - b);
    const content = blocks.map(([, block]) => finished(block, this.#tools));
    return { ...this.#stop, content, ...optional({ ...this.#told, usage: this.#usage }) };
  }

  /** A message that starts anew takes the place of what had begun: a gateway may splice two attempts. */
  #start(message: Members): void {
    this.#blocks.clear();
    this.#usage = members(message['usage']);
    this.#told = message;
  }

  #open(index: number, raw: string): void {
    const start = members(JSON.parse(raw));
    // What is no block at all can neither grow nor go back.
    if (!raw.startsWith('{')) return;
    const isCall = start['type'] === 'tool_use';
    const call = [...this.#blocks.values()].filter((block) => block.isCall).length;
    const empty = { texts: new Map(), raws: new Map(), lists: new Map(), input: [] };
    this.#blocks.set(index, { raw, start, isCall, call, ...empty });
    const { text } = start;
    if (typeof text === 'string' && text !== '') this.#onDelta({ type: 'text', text });
  }

  #grow(index: number, data: string, delta: Members): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    const { type, partial_json: piece, citation } = delta;
    if (type === 'input_json_delta' && typeof piece === 'string') {
      block.input.push(piece);
      if (block.isCall) this.#onDelta({ type: 'call-arguments', index: block.call, text: piece });
    } else if (type === 'citations_delta' && citation !== undefined) {
      const raw = jsonAt(data, ['delta', 'citation']) ?? 'null';
      block.lists.set('citations', [...(block.lists.get('citations') ?? []), raw]);
    } else this.#append(block, data, delta);
  }

  /** Text grows, everything else is replaced: what all deltas but the two above mean. */
  #append(block: Growing, data: string, delta: Members): void {
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'type') continue;
      if (typeof value !== 'string') {
        block.raws.set(key, jsonAt(data, ['delta', key]) ?? 'null');
        continue;
      }
      const texts = block.texts.get(key) ?? [block.start[key]].filter((text) => typeof text === 'string');
      texts.push(value);
      block.texts.set(key, texts);
      if (value === '') continue;
      if (key === 'text') this.#onDelta({ type: 'text', text: value });
      if (key === 'thinking') this.#onDelta({ type: 'reasoning', text: value });
    }
  }
}

/** What a `message_delta` says anew of the whole message: a list there takes the place of the one at the start. */
const toldIn = (event: Members): Members =>
  Object.fromEntries(
    ['diagnostics', 'input_transformations', 'context_management'].flatMap((key) =>
      event[key] === undefined || event[key] === null ? [] : [[key, event[key]]],
    ),
  );

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The arguments of a call are kept as they were written, even where an output limit cut them. */
const finished = (block: Growing, tools: Tools): ResponseBlock => {
  const input = block.input.join('');
  if (block.isCall) {
    const call = blockOf(grown(block), tools);
    return call.type === 'call' && input !== '' ? { ...call, args: input } : call;
  }
  if (isJson(input)) block.raws.set('input', input.trim());
  return blockOf(grown(block), tools);
};

/** A block as it would have come in one piece. */
const grown = ({ raw, texts, raws, lists }: Growing): string => {
  const values = new Map<string, string>(raws);
  for (const [key, parts] of texts) values.set(key, JSON.stringify(parts.join('')));
  for (const [key, parts] of lists) values.set(key, `[${parts.join(',')}]`);
  const known = new Set(jsonKeys(raw));
  const replaced = jsonWith(
    raw,
    [...values].filter(([key]) => known.has(key)).map(([key, value]) => [[key], value] as const),
  );
  const added = [...values].filter(([key]) => !known.has(key));
  if (added.length === 0) return replaced;
  const rest = added.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',');
  return `${replaced.slice(0, replaced.lastIndexOf('}'))}${known.size > 0 ? ',' : ''}${rest}}`;
};
