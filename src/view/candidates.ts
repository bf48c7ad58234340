/**
 * Everything that a request could hold, from the log: each input, response, signed reasoning, result, file, note and
 * summary, once, with the event that it came from and where it stands in the conversation, if it does.
 */
import type { CallId } from '../event/call-id.ts';
import type { Content, Cut } from '../event/content.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { isSigned } from '../event/signed.ts';
import { Conversation, type Entry } from '../context/conversation.ts';
import { evolve, initial } from '../session/evolve.ts';
import type { CallState, SessionState } from '../session/state.ts';
import { argumentsBrief, contentBrief, contentText, cutText, firstLine } from './brief.ts';
import { countOf } from './format.ts';

export type CandidateKind =
  | 'input'
  | 'response'
  | 'reasoning'
  | 'result'
  | 'file'
  | 'note'
  | 'summary'
  | 'late';

export type Candidate = {
  readonly kind: CandidateKind;
  /** The event that it came from; undefined where a call has no result yet. */
  readonly seq: number | undefined;
  readonly turn: number;
  /** In a few words, from what others wrote. */
  readonly label: string;
  /** Its place in the conversation; undefined where it has none. */
  readonly entry: number | undefined;
  /** Of results: which of its step, from 0. */
  readonly index?: number;
  readonly call?: CallId;
  /** What was cut before any model saw it. */
  readonly cut?: Cut;
  /** UTF-8 bytes of a file. */
  readonly fileBytes?: number;
  /** Why it has no place. */
  readonly why?: string;
};

export type Candidates = {
  readonly list: readonly Candidate[];
  readonly conversation: Conversation;
  readonly state: SessionState;
};

/** `start` is the state before the first of these events, where it is not the first of the session. */
export const candidatesOf = (
  session: string,
  events: readonly (LogEvent | undefined)[],
  start: SessionState = initial(session),
): Candidates => {
  const walk = new Walk(start);
  for (const event of events) if (event) walk.push(event);
  return walk.end();
};

type Draft = { -readonly [Key in keyof Candidate]: Candidate[Key] };

const LABEL_LENGTH_MAX = 120;

class Walk {
  readonly #list: Draft[] = [];
  readonly #conversation = new Conversation();
  readonly #results = new Map<CallId, Draft>();
  readonly #steps = new Map<number, readonly Draft[]>();
  readonly #bySeq = new Map<number, Draft[]>();
  #state: SessionState;
  #seen = 0;

  constructor(start: SessionState) {
    this.#state = start;
  }

  push(event: LogEvent): void {
    const before = this.#state;
    this.#state = evolve(before, event);
    this.#conversation.push(event, before, this.#state);
    if (event.type === 'turn.accepted') this.#input(event.seq, event.data);
    if (event.type === 'response.received')
      this.#response(event.seq, event.data, before.active?.request?.summary !== undefined);
    this.#closed(event, before);
    if (event.type === 'call.late') this.#late(event.seq, event.data);
    this.#placed();
  }

  end(): Candidates {
    const entries = new Set(this.#conversation.entries.map((entry) => entry.seq));
    const closings = new Set([...this.#results.values()].map((result) => result.seq));
    // A late result that closed its call or became a note is that, and not a part of its own.
    const list = this.#list.filter(
      ({ kind, seq = 0 }) => kind !== 'late' || (!entries.has(seq) && !closings.has(seq)),
    );
    return { list, conversation: this.#conversation, state: this.#state };
  }

  #add(draft: Omit<Draft, 'entry'>): Draft {
    const added: Draft = { ...draft, entry: undefined, label: cutText(draft.label, LABEL_LENGTH_MAX) };
    this.#list.push(added);
    if (draft.seq !== undefined) this.#bySeq.set(draft.seq, [...(this.#bySeq.get(draft.seq) ?? []), added]);
    return added;
  }

  #files(seq: number, turn: number, content: readonly Content[]): void {
    for (const part of content)
      if (part.type === 'blob')
        this.#add({
          kind: 'file',
          seq,
          turn,
          label: part.blob.name ?? part.blob.media,
          fileBytes: part.blob.bytes,
        });
  }

  #input(seq: number, { turn, input }: EventData['turn.accepted']): void {
    this.#add({
      kind: 'input',
      seq,
      turn,
      label: firstLine(contentText(input)),
      why: 'its turn has not begun',
    });
    this.#files(seq, turn, input);
  }

  #response(seq: number, data: EventData['response.received'], summary: boolean): void {
    const { turn, step, content } = data;
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
    const calls = content.filter((block) => block.type === 'call');
    if (summary) {
      this.#add({ kind: 'summary', seq, turn, label: firstLine(text) });
      return;
    }
    const asks = calls.length === 0 ? '' : countOf(calls.length, 'call');
    const label = [firstLine(text), asks].filter(Boolean).join(', ');
    this.#add({ kind: 'response', seq, turn, label, why: 'it holds nothing' });
    if (content.some(isSigned)) this.#add({ kind: 'reasoning', seq, turn, label: 'signed reasoning' });
    const results = calls.map((call, i) => {
      const id: CallId = `${turn}.${step}.${i + 1}`;
      const result = this.#add({
        kind: 'result',
        seq: undefined,
        turn,
        label: `${call.name} ${argumentsBrief(call.args)}`,
        index: i,
        call: id,
        why: 'its step is not complete',
      });
      this.#results.set(id, result);
      return result;
    });
    this.#steps.set(turn, results);
  }

  #closed(event: LogEvent, before: SessionState): void {
    for (const call of this.#state.active?.calls ?? []) {
      const result = this.#results.get(call.id);
      const was = before.active?.calls.find((one) => one.id === call.id);
      if (!result || result.seq !== undefined || call.phase !== 'closed' || was?.phase === 'closed') continue;
      result.seq = event.seq;
      this.#close(result, call);
    }
  }

  #close(result: Draft, { tool, closing }: CallState): void {
    if (closing?.kind !== 'ok' && closing?.kind !== 'responded') {
      result.label = cutText(`${tool}: ${closing?.kind ?? ''}`, LABEL_LENGTH_MAX);
      return;
    }
    result.label = cutText(`${tool}: ${contentBrief(closing.content)}`, LABEL_LENGTH_MAX);
    if (closing.kind === 'ok' && closing.cut) result.cut = closing.cut;
    this.#files(result.seq ?? 0, result.turn, closing.content);
  }

  #late(seq: number, { call }: EventData['call.late']): void {
    const turn = this.#results.get(call)?.turn ?? 0;
    this.#add({ kind: 'late', seq, turn, label: `late result of ${call}`, why: 'another result stands' });
  }

  /** Entries that the event has brought are the places of what they hold. */
  #placed(): void {
    const { entries } = this.#conversation;
    for (; this.#seen < entries.length; this.#seen++) {
      const entry = entries[this.#seen];
      if (entry) this.#place(entry, this.#seen);
    }
  }

  #place(entry: Entry, at: number): void {
    const { seq, turn, item } = entry;
    if (item.kind === 'note') {
      const note = this.#add({ kind: 'note', seq, turn, label: firstLine(item.text) });
      note.entry = at;
      return;
    }
    if (item.kind === 'results') {
      for (const result of this.#steps.get(turn) ?? []) {
        result.entry = at;
        // The turn ended first: what is said of the call is that it is not known.
        if (result.seq === undefined) result.label = `${result.label}: not known`;
        result.seq ??= seq;
        this.#filesAt(result.seq, at);
      }
      return;
    }
    for (const candidate of this.#bySeq.get(seq) ?? []) candidate.entry ??= at;
  }

  #filesAt(seq: number, at: number): void {
    for (const candidate of this.#bySeq.get(seq) ?? []) if (candidate.kind === 'file') candidate.entry ??= at;
  }
}
