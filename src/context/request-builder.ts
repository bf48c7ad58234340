/**
 * Builds requests step by step: only entries that are new since the last request are encoded and hashed.
 * A cache like the conversation under it; made again from the log, it gives the same bytes.
 */
import { bug } from '../errors.ts';
import { sha256, type Digest } from '../event/canonical.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { Choice } from '../event/choice.ts';
import type { EventData, LogEvent, PartTemplate } from '../event/events.ts';
import type { Work } from '../session/next.ts';
import type { Refusal, SessionState } from '../session/state.ts';
import { exceptionsOf } from '../session/summary-range.ts';
import { ItemCheck } from './check.ts';
import { Conversation, type Entry } from './conversation.ts';
import type { Encoder } from './encoding.ts';
import { CHAIN_START, chainNode } from './prefix-chain.ts';
import { sameChoice, Selected, standsFor, withStrips } from './selected.ts';
import { ALL, choose } from './selection.ts';
import { sendableAgent, sendableItem } from './sendable.ts';
import { sizeRefusal, turnSizes } from './sizes.ts';
import { SUMMARY_REQUEST } from './summary-request.ts';
import { templateOf } from './template.ts';

type BuildWork = Omit<Extract<Work, { kind: 'build' }>, 'kind'>;

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
  /** What a request for a summary has behind the conversation. */
  readonly asked: readonly string[];
  readonly head: Digest | undefined;
  readonly tail: Digest | undefined;
};

export const bodyOf = ({ head, parts, tail }: Pick<BuiltRequest, 'head' | 'parts' | 'tail'>): string =>
  head + parts.join(',') + tail;

export class RequestBuilder {
  readonly #encoderOf: (agent: AgentDefinition) => Encoder | undefined;
  #encoder: Encoder | undefined;
  readonly #conversation = new Conversation();
  /** What stood in the last request in the log, and what stands here now: a request that is refused is not recorded. */
  #recorded = new Selected(this.#conversation, ALL, undefined);
  #selected: Selected = this.#recorded;
  #check = new ItemCheck();
  /** The first part of each entry encoded so far. */
  readonly #starts: number[] = [];
  readonly #parts: string[] = [];
  /** How many characters of each part were replaced because no provider takes them. */
  readonly #replaced: number[] = [];
  #partsBytes = 0;
  #chain: Digest = CHAIN_START;
  /** Entries encoded so far; parts and chain cover exactly these. */
  #encoded = 0;
  /** The entry that each part came from: a template is made only for a request that stores it. */
  readonly #origins: Entry[] = [];
  /** The last request in the log that was built in this encoding, and its number of parts. */
  #last: Last | undefined;
  /** What stood around the last request of each form: by that its provider has signed. */
  readonly #spoken = new Map<string, Pick<Last, 'head' | 'tail'>>();
  #frame: (Frame & { readonly agent: SessionState['agent'] }) | undefined;

  /** `encoderOf` answers how an agent's model wants its requests; undefined where this build does not know it. */
  constructor(encoderOf: (agent: AgentDefinition) => Encoder | undefined) {
    this.#encoderOf = encoderOf;
  }

  push(event: LogEvent, before: SessionState, after: SessionState): void {
    if (after.agent !== before.agent) this.#speak(this.#encoderOf(after.agent));
    this.#conversation.push(event, before, after);
    if (event.type === 'request.built') this.#built(event.seq, event.data, before);
  }

  /** Chooses what the next request holds and checks it. Answers why it cannot be sent. */
  select(state: SessionState): Refusal | undefined {
    this.#encode();
    const { head, tail } = this.#framed(state);
    const sizes = turnSizes(this.#conversation, state, {
      frame: head.bytes + tail.bytes,
      bytesOf: (entry) => this.#bytesOf(entry),
    });
    const chosen = choose(state, sizes);
    if (chosen.kind === 'refused') return chosen;
    const spoken = this.#spoken.get(this.#known().name);
    // Nothing was signed yet by whoever is asked for the first time.
    const framed = !spoken || (spoken.head === head.digest && spoken.tail === tail.digest);
    this.#reselect(
      withStrips(chosen.choice, this.#recorded, { conversation: this.#conversation, state, framed }),
      state,
    );
    this.#encode();
    const problem = this.#check.problem;
    if (problem)
      return {
        outcome: 'failed',
        code: problem.code,
        message: `The request is not sent. ${problem.message}`,
      };
    return sizeRefusal(this.#known(), head.bytes + tail.bytes + this.#partsBytes);
  }

  /** The request by the choice in force; with `summary` it asks for one of all that it holds. */
  build(state: SessionState, { turn, step, summary }: BuildWork): BuiltRequest {
    this.#encode();
    const { head, tail, replaced: inFrame } = this.#framed(state);
    const last = this.#last;
    const framed = last?.head === head.digest && last.tail === tail.digest;
    const shared = this.#shared();
    const replaced = this.#replaced.slice(shared).reduce((sum, count) => sum + count, framed ? 0 : inFrame);
    const asked = summary ? this.#asked() : [];
    const askedBytes = asked.reduce((sum, part) => sum + Buffer.byteLength(part) + 1, 0);
    const { choice } = this.#selected;
    const data: BuiltRequest['data'] = {
      turn,
      step,
      parts: [...this.#templatesFrom(shared), ...asked.map((part) => ({ seq: state.seq, pieces: [part] }))],
      chain: asked.reduce(chainNode, this.#chain),
      bytes: head.bytes + tail.bytes + this.#partsBytes + Math.max(0, this.#parts.length - 1) + askedBytes,
      ...(last && { reuse: { request: last.request, parts: shared } }),
      ...(!framed && { frame: { head: head.digest, tail: tail.digest } }),
      ...(replaced > 0 && { replaced }),
      ...(!sameChoice(choice, this.#recorded.choice) && { selection: choice }),
      ...(summary && { summary: { to: state.seq, bytes: this.#summarisedBytes(state, turn) } }),
    };
    const parts = summary ? [...this.#parts, ...asked] : this.#parts;
    return { data, head: head.text, tail: tail.text, parts };
  }

  /** How large the conversation is that it keeps: bytes of what is encoded, characters of what is not yet. */
  get size(): number {
    return this.#partsBytes + this.#conversation.charsFrom(this.#encoded);
  }

  /** The event that each part of the next request stands for. */
  get seqs(): readonly number[] {
    return this.#origins.map((entry) => entry.seq);
  }

  /**
   * The bytes of the last request in the log; undefined where this build would make other bytes of it, which
   * then have to be taken from the record.
   */
  lastBody(state: SessionState): (() => string) | undefined {
    if (!this.#last) return undefined;
    const { parts: count, asked } = this.#last;
    const { head, tail } = this.#framed(state);
    if (this.#last.head !== head.digest || this.#last.tail !== tail.digest) return undefined;
    return () =>
      bodyOf({ head: head.text, parts: [...this.#parts.slice(0, count), ...asked], tail: tail.text });
  }

  /** A request in the log covers the parts that stood when it was built, unless another form made it. */
  #built(seq: number, data: EventData['request.built'], before: SessionState): void {
    this.#reselect(data.selection ?? this.#recorded.choice, before);
    this.#recorded = this.#selected;
    this.#encode();
    const { head, tail } = data.frame ?? this.#last ?? {};
    if (this.#encoder && head !== undefined) this.#spoken.set(this.#encoder.name, { head, tail });
    const asked = data.summary ? this.#asked() : [];
    const parts = this.#parts.length;
    const known = data.chain === asked.reduce(chainNode, this.#chain);
    this.#last = known ? { request: seq, parts, asked, head, tail } : undefined;
  }

  /** Parts at the beginning of the last request that stand in this one, too. */
  #shared(): number {
    if (!this.#last) return 0;
    const { parts } = this.#last;
    if (this.#selected === this.#recorded) return parts;
    return Math.min(parts, this.#starts[this.#selected.firstOther(this.#recorded)] ?? parts);
  }

  /** Another choice begins a new chain behind the parts that stay. */
  #reselect(choice: Choice, { summary }: SessionState): void {
    if (sameChoice(choice, this.#selected.choice)) return;
    const next = new Selected(this.#conversation, choice, summary);
    this.#truncate(next.firstOther(this.#selected));
    this.#selected = next;
  }

  /** Forgets what was made of an entry and all behind it. */
  #truncate(entry: number): void {
    const parts = this.#starts[entry];
    if (parts === undefined) return;
    this.#parts.length = parts;
    this.#replaced.length = parts;
    this.#origins.length = parts;
    this.#starts.length = entry;
    this.#encoded = entry;
    this.#partsBytes = this.#parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    this.#chain = this.#parts.reduce(chainNode, CHAIN_START);
    this.#check = new ItemCheck();
    for (let i = 0; i < entry; i++)
      for (const shown of this.#selected.at(i)) this.#check.push(sendableItem(shown.item).value);
  }

  #asked(): readonly string[] {
    return this.#encoder?.elements({ kind: 'note', text: SUMMARY_REQUEST }) ?? [];
  }

  #bytesOf({ item }: Entry): number {
    return this.#known()
      .elements(sendableItem(item).value)
      .reduce((sum, part) => sum + Buffer.byteLength(part) + 1, 0);
  }

  /** Bytes of the parts that a summary made now would stand for. */
  #summarisedBytes(state: SessionState, turn: number): number {
    const range = { turn, to: state.seq, ...exceptionsOf(state, this.#selected.choice) };
    return this.#conversation.entries.reduce((sum, entry, i) => {
      const shown = standsFor(range, entry) ? this.#selected.at(i) : [];
      return sum + shown.reduce((bytes, one) => bytes + this.#bytesOf(one), 0);
    }, 0);
  }

  /** Another provider's form shares nothing with what was stored before. */
  #speak(encoder: Encoder | undefined): void {
    if (encoder?.name !== this.#encoder?.name) {
      this.#truncate(0);
      this.#last = undefined;
    }
    this.#encoder = encoder;
  }

  #encode(): void {
    const { entries } = this.#conversation;
    const encoder = this.#encoder;
    if (!encoder) return;
    while (this.#encoded < entries.length) {
      this.#starts.push(this.#parts.length);
      for (const shown of this.#selected.at(this.#encoded++)) this.#add(encoder, shown);
    }
  }

  #add(encoder: Encoder, entry: Entry): void {
    const { value: item, replaced } = sendableItem(entry.item);
    this.#check.push(item);
    let left = replaced;
    for (const part of encoder.elements(item)) {
      this.#parts.push(part);
      this.#replaced.push(left);
      left = 0;
      this.#partsBytes += Buffer.byteLength(part);
      this.#chain = chainNode(this.#chain, part);
      this.#origins.push(entry);
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

  #framed(state: SessionState): Frame {
    if (this.#frame?.agent !== state.agent) {
      const { value, replaced } = sendableAgent(state.agent);
      const { head, tail } = this.#known().frame(value);
      this.#frame = { agent: state.agent, head: textOf(head), tail: textOf(tail), replaced };
    }
    return this.#frame;
  }
}

/** `replaced`: characters of instructions and tools that no provider takes. */
type Frame = { readonly head: Text; readonly tail: Text; readonly replaced: number };

type Text = { readonly text: string; readonly digest: Digest; readonly bytes: number };

const textOf = (text: string): Text => ({ text, digest: sha256(text), bytes: Buffer.byteLength(text) });
