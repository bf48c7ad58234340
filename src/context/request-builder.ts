/**
 * Builds requests step by step: only entries that are new since the last request are encoded and hashed.
 * A cache like the conversation under it; made again from the log, it gives the same bytes.
 */
import { bug } from '../errors.ts';
import { sha256, type Digest } from '../event/canonical.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { EventData, LogEvent, PartTemplate } from '../event/events.ts';
import type { SessionState } from '../session/state.ts';
import { Conversation, type Entry } from './conversation.ts';
import type { Encoder, PromptItem } from './encoding.ts';
import { CHAIN_START, chainNode } from './prefix-chain.ts';
import { templateOf } from './template.ts';

export type BuiltRequest = {
  readonly data: EventData['request.built'];
  readonly head: string;
  readonly tail: string;
  /** The elements of the conversation array, all of them. */
  readonly parts: readonly string[];
};

type Last = {
  readonly request: number;
  readonly parts: number;
  readonly head: Digest | undefined;
  readonly tail: Digest | undefined;
};

export const bodyOf = ({ head, parts, tail }: Pick<BuiltRequest, 'head' | 'parts' | 'tail'>): string =>
  head + parts.join(',') + tail;

export class RequestBuilder {
  readonly #encoderOf: (agent: AgentDefinition) => Encoder | undefined;
  #encoder: Encoder | undefined;
  readonly #conversation = new Conversation();
  readonly #parts: string[] = [];
  #partsBytes = 0;
  #chain: Digest = CHAIN_START;
  /** Entries encoded so far; parts and chain cover exactly these. */
  #encoded = 0;
  /** The entry that each part came from: a template is made only for a request that stores it. */
  readonly #origins: Entry[] = [];
  /** The last request in the log that was built in this encoding, and its number of parts. */
  #last: Last | undefined;
  #frame: { readonly agent: SessionState['agent']; readonly head: Text; readonly tail: Text } | undefined;

  /** `encoderOf` answers how an agent's model wants its requests; undefined where this build does not know it. */
  constructor(encoderOf: (agent: AgentDefinition) => Encoder | undefined) {
    this.#encoderOf = encoderOf;
  }

  push(event: LogEvent, before: SessionState, after: SessionState): void {
    if (after.agent !== before.agent) this.#speak(this.#encoderOf(after.agent));
    this.#conversation.push(event, before, after);
    if (event.type === 'request.built') this.#built(event.seq, event.data);
  }

  build(state: SessionState, turn: number, step: number): BuiltRequest {
    this.#encode();
    const { head, tail } = this.#framed(state);
    const last = this.#last;
    const framed = last?.head === head.digest && last.tail === tail.digest;
    const data: BuiltRequest['data'] = {
      turn,
      step,
      ...(last && { reuse: { request: last.request, parts: last.parts } }),
      ...(!framed && { frame: { head: head.digest, tail: tail.digest } }),
      parts: this.#templatesFrom(last?.parts ?? 0),
      chain: this.#chain,
      bytes: head.bytes + tail.bytes + this.#partsBytes + Math.max(0, this.#parts.length - 1),
    };
    return { data, head: head.text, tail: tail.text, parts: this.#parts };
  }

  /**
   * The bytes of the last request in the log; undefined where this build would make other bytes of it, which
   * then have to be taken from the record.
   */
  lastBody(state: SessionState): (() => string) | undefined {
    if (!this.#last) return undefined;
    const count = this.#last.parts;
    const { head, tail } = this.#framed(state);
    return () => bodyOf({ head: head.text, parts: this.#parts.slice(0, count), tail: tail.text });
  }

  /** A request in the log covers the parts that stood when it was built, unless another form made it. */
  #built(seq: number, data: EventData['request.built']): void {
    this.#encode();
    const { head, tail } = data.frame ?? this.#last ?? {};
    this.#last =
      data.chain === this.#chain ? { request: seq, parts: this.#parts.length, head, tail } : undefined;
  }

  /** Another provider's form shares nothing with what was stored before. */
  #speak(encoder: Encoder | undefined): void {
    if (encoder?.name !== this.#encoder?.name) {
      this.#parts.length = 0;
      this.#origins.length = 0;
      this.#partsBytes = 0;
      this.#chain = CHAIN_START;
      this.#encoded = 0;
      this.#last = undefined;
    }
    this.#encoder = encoder;
  }

  #encode(): void {
    const { entries } = this.#conversation;
    const encoder = this.#encoder;
    if (!encoder) return;
    while (this.#encoded < entries.length) {
      const entry = entries[this.#encoded++] as Entry;
      for (const part of encoder.elements(sendable(entry.item))) {
        this.#parts.push(part);
        this.#partsBytes += Buffer.byteLength(part);
        this.#chain = chainNode(this.#chain, part);
        this.#origins.push(entry);
      }
    }
  }

  #templatesFrom(first: number): readonly PartTemplate[] {
    return this.#origins.slice(first).map(({ seq, sources }, i) => ({
      seq,
      pieces: templateOf(this.#parts[first + i] ?? '', sources),
    }));
  }

  #known(): Encoder {
    if (!this.#encoder) throw bug('a request is only built where the model is known');
    return this.#encoder;
  }

  #framed(state: SessionState): { readonly head: Text; readonly tail: Text } {
    if (this.#frame?.agent !== state.agent) {
      const { head, tail } = this.#known().frame(state.agent);
      this.#frame = { agent: state.agent, head: textOf(head), tail: textOf(tail) };
    }
    return this.#frame;
  }
}

type Text = { readonly text: string; readonly digest: Digest; readonly bytes: number };

const textOf = (text: string): Text => ({ text, digest: sha256(text), bytes: Buffer.byteLength(text) });

/** Providers refuse NUL and half surrogate pairs; towards them both become U+FFFD, the log keeps what came. */
const clean = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

const sendable = (item: PromptItem): PromptItem => {
  switch (item.kind) {
    case 'user':
    case 'note':
      return { ...item, text: clean(item.text) };
    case 'results':
      return { ...item, results: item.results.map((result) => ({ ...result, text: clean(result.text) })) };
    case 'assistant':
      return {
        ...item,
        blocks: item.blocks.map((block) =>
          block.type === 'text' ? { ...block, text: clean(block.text) } : block,
        ),
      };
    default:
      return item satisfies never;
  }
};
