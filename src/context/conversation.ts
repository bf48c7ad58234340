/**
 * The conversation as the model is to see it, made from the log event by event. A cache: it can be thrown away
 * and made again, and replay makes it the same way.
 *
 * Invariants: (1) every call of an answer is followed by exactly one result, before anything else is said;
 * (2) call ids are unique in the conversation, whatever the provider repeated; (3) no empty text.
 */
import type { Content, ResponseBlock } from '../event/content.ts';
import { callPosition } from '../event/call-id.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { isSigned } from '../event/signed.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { isBeforeFork } from '../session/evolve-turn.ts';
import { innerCalls, stepCalls, type SessionState, type TurnState } from '../session/state.ts';
import type { PromptBlock, PromptItem, Speaker } from './encoding.ts';
import { contentText, resultText } from './result-text.ts';

/** A text of the log that stands in an item, so that a stored request can refer to it instead of repeating it. */
export type Source = { readonly seq: number; readonly pointer: string; readonly text: string };

export type Entry = {
  readonly seq: number;
  /** The turn that it is about; 0 for a summary. */
  readonly turn: number;
  readonly item: PromptItem;
  readonly sources: readonly Source[];
  /** Holds reasoning that its provider signed over everything before it. */
  readonly signed: boolean;
};

/** Stands before a summary in requests. */
export const SUMMARY_LEAD = '[Summary of the earlier conversation, which is not repeated here.]';

const LABEL = /^[A-Za-z0-9_-]{1,64}$/;

export class Conversation {
  readonly #entries: Entry[] = [];
  readonly #ids = new Set<string>();
  /** Where the results of the open step lie in the log, by call. */
  #results = new Map<string, Source>();
  #open: { readonly turn: number; readonly ids: readonly string[] } | undefined;
  /** News that came while an answer was under way or its calls were open: it may not stand before or between them. */
  #held: Entry[] = [];
  /** Turns whose input is not part of the conversation yet, because another turn is running. */
  readonly #waiting = new Map<number, Entry>();

  /** Responses that are summaries, by event, and what stands in requests for each history.summarised. */
  readonly #summaryTexts = new Map<number, readonly Source[]>();
  readonly #summaries = new Map<number, Entry>();

  /** What stands in later requests for what a history.summarised event names. */
  summary(seq: number): Entry | undefined {
    return this.#summaries.get(seq);
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Characters of what is said from this entry on, with all that waits to be said. */
  charsFrom(entry: number): number {
    const said = [...this.#entries.slice(entry), ...this.#held, ...this.#waiting.values()];
    return said.reduce((sum, { sources }) => sources.reduce((all, { text }) => all + text.length, sum), 0);
  }

  /** `before` and `after` are the states around the event. */
  push(event: LogEvent, before: SessionState, after: SessionState): void {
    switch (event.type) {
      case 'turn.accepted':
        this.#waiting.set(event.data.turn, inputEntry(event.seq, event.data));
        break;
      case 'turn.steered':
        this.#say(inputEntry(event.seq, event.data), before);
        break;
      case 'turn.withdrawn':
        this.#waiting.delete(event.data.turn);
        break;
      case 'response.received':
        if (before.active?.request?.summary)
          this.#summaryTexts.set(event.seq, textsOf(event.seq, event.data));
        else this.#answer(event.seq, event.data, before.agent.model);
        break;
      case 'history.summarised':
        this.#summaries.set(
          event.seq,
          summaryEntry(event.seq, this.#summaryTexts.get(event.data.response) ?? []),
        );
        break;
      case 'call.result':
      case 'call.late':
        if (event.data.outcome.kind === 'ok')
          this.#source(event.data.call, event.seq, '/outcome/content', event.data.outcome.content);
        break;
      case 'call.reconciled':
        if (event.data.answer.happened === true)
          this.#source(event.data.call, event.seq, '/answer/content', event.data.answer.content);
        break;
      default:
        break;
    }
    if (event.type === 'call.late' || event.type === 'call.settled') this.#afterwards(event, before);
    this.#closeStep(event, before, after);
    this.#begin(after);
  }

  /** The input joins when its turn begins, never between calls and their results. */
  #begin(state: SessionState): void {
    const { turn, cancel } = state.active ?? {};
    // What waited where a fork was made is never worked on here, so the model does not hear of it.
    if (cancel && turn !== undefined && isBeforeFork(state, state.active?.acceptedSeq ?? 0)) return;
    const entry = turn === undefined ? undefined : this.#waiting.get(turn);
    if (turn === undefined || !entry) return;
    this.#waiting.delete(turn);
    this.#entries.push(entry);
  }

  #answer(seq: number, data: EventData['response.received'], { provider, name }: Speaker): void {
    const blocks: PromptBlock[] = [];
    const sources: Source[] = [];
    const ids: string[] = [];
    for (const [i, block] of data.content.entries()) {
      const shown = this.#block(block, ids, `${data.turn}_${data.step}_${ids.length + 1}`);
      if (!shown) continue;
      blocks.push(shown);
      const field = block.type === 'call' ? 'args' : block.type === 'opaque' ? 'json' : 'text';
      const text = (block as unknown as Record<string, string>)[field] ?? '';
      const said = { seq, pointer: `/content/${i}/${field}`, text };
      const opaque = block.type === 'opaque' ? undefined : block.opaque;
      if (opaque === undefined) sources.push(said);
      else {
        const beside = { seq, pointer: `/content/${i}/opaque`, text: opaque };
        // What holds the text itself is looked for first: it stands for all of it.
        sources.push(
          ...(opaque.includes(JSON.stringify(text).slice(1, -1)) ? [beside, said] : [said, beside]),
        );
      }
    }
    this.#results = new Map();
    const { turn } = data;
    this.#open = ids.length > 0 ? { turn, ids } : undefined;
    const signed = blocks.some(isSigned);
    if (blocks.length > 0)
      this.#entries.push({
        seq,
        turn,
        item: { kind: 'assistant', blocks, by: { provider, name } },
        sources,
        signed,
      });
    if (!this.#open) this.#release();
  }

  #block(block: ResponseBlock, ids: string[], position: string): PromptBlock | undefined {
    if (block.type === 'text' && block.text === '') return undefined;
    if (block.type !== 'call') return block;
    const wanted = LABEL.test(block.label) && !this.#ids.has(block.label);
    let id = wanted ? block.label : `call_${position}`;
    // A provider's own label may look like ours.
    while (this.#ids.has(id)) id += '_';
    this.#ids.add(id);
    ids.push(id);
    // A text that is no JSON object would make every later request invalid; the log keeps it.
    const decoded = decodeArguments(block.args);
    const args = !decoded.ok ? '{}' : block.args.trim() === '' ? '{}' : block.args;
    const { name, opaque } = block;
    return { type: 'call', id, name, args, ...(opaque !== undefined && { opaque }) };
  }

  #source(call: string, seq: number, pointer: string, content: readonly Content[]): void {
    const at = content.findIndex((part) => part.type !== 'blob');
    const part = content[at];
    if (part && part.type !== 'blob')
      this.#results.set(call, { seq, pointer: `${pointer}/${at}/text`, text: part.text });
  }

  /** Results join together, when the last one is there or the turn has ended without them. */
  #closeStep(event: LogEvent, before: SessionState, after: SessionState): void {
    const ended = event.type === 'turn.ended';
    if (!this.#open) {
      if (ended) this.#release();
      return;
    }
    const turn = (ended ? before : after).active;
    const open = turn ? stepCalls(turn).filter((call) => call.phase !== 'closed') : [];
    const complete = turn?.calls.length === this.#open.ids.length && open.length === 0;
    if (!complete && !ended) return;
    this.#entries.push(this.#resultsEntry(event.seq, this.#open, turn));
    this.#open = undefined;
    this.#release();
  }

  /** News waits for the answer that is under way, and for the results of its calls. */
  #say(entry: Entry, { active }: SessionState): void {
    const { phase, summary } = active?.request ?? {};
    // The answer to a request for a summary is no part of the conversation.
    const underWay = !summary && (phase === 'open' || phase === 'waiting' || phase === 'failed');
    if (this.#open || underWay) this.#held.push(entry);
    else this.#entries.push(entry);
  }

  #release(): void {
    this.#entries.push(...this.#held);
    this.#held = [];
  }

  #resultsEntry(
    seq: number,
    { turn, ids }: { readonly turn: number; readonly ids: readonly string[] },
    of: TurnState | undefined,
  ): Entry {
    const calls = of?.calls ?? [];
    const results = calls.map((call, i) => {
      const { text, isError } = resultText(call, of && innerCalls(of, call.id));
      return { id: ids[i] ?? '', name: call.tool, text, isError };
    });
    const sources: Source[] = [];
    for (const { id } of calls) {
      const source = this.#results.get(id);
      if (source) sources.push(source);
    }
    return { seq, turn, item: { kind: 'results', results }, sources, signed: false };
  }

  /** News about a call whose turn is over: the result already said that it was not known. */
  #afterwards(event: Extract<LogEvent, { type: 'call.late' | 'call.settled' }>, before: SessionState): void {
    const { turn, step, index, inner } = callPosition(event.data.call);
    const made = inner === undefined ? '' : ` call ${inner} that was made by`;
    const open = before.leftOpen.find((call) => call.id === event.data.call);
    if (!open) return;
    const text = `About${made} call ${index} of step ${step} in turn ${turn} (${open.tool}), whose outcome was not known: ${newsText(event)}`;
    this.#say({ seq: event.seq, turn, item: { kind: 'note', text }, sources: [], signed: false }, before);
  }
}

type Input = Pick<EventData['turn.accepted'], 'turn' | 'input'>;

const inputEntry = (seq: number, { turn, input }: Input): Entry => {
  const sources = input.flatMap((part, i) =>
    part.type === 'blob' ? [] : [{ seq, pointer: `/input/${i}/text`, text: part.text }],
  );
  return { seq, turn, item: { kind: 'user', text: contentText(input) }, sources, signed: false };
};

const textsOf = (seq: number, { content }: EventData['response.received']): readonly Source[] =>
  content.flatMap((block, i) =>
    block.type === 'text' && block.text !== ''
      ? [{ seq, pointer: `/content/${i}/text`, text: block.text }]
      : [],
  );

const summaryEntry = (seq: number, sources: readonly Source[]): Entry => {
  const text = `${SUMMARY_LEAD}\n\n${sources.map((source) => source.text).join('\n\n')}`;
  return { seq, turn: 0, item: { kind: 'note', text }, sources, signed: false };
};

const newsText = (event: Extract<LogEvent, { type: 'call.late' | 'call.settled' }>): string => {
  if (event.type === 'call.late') {
    const { outcome } = event.data;
    if (outcome.kind === 'ok') return `its result came late: ${contentText(outcome.content)}`;
    return `it ended late (${outcome.code}): ${outcome.message}`;
  }
  const { settlement } = event.data;
  switch (settlement.answer) {
    case 'happened':
      return `a person says that it happened: ${contentText(settlement.content)}`;
    case 'not-happened':
      return 'a person says that it did not happen. It is not run any more.';
    case 'give-up':
      return 'a person gave it up; it stays unknown.';
    default:
      return settlement satisfies never;
  }
};
