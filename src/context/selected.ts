/** A conversation under a choice: what stands in requests for each of its entries, if anything. */
import { isSame } from '../event/canonical.ts';
import type { Choice, LeaveOutReason } from '../event/choice.ts';
import type { EventData } from '../event/events.ts';
import { isSigned } from '../event/signed.ts';
import type { SessionState } from '../session/state.ts';
import type { Conversation, Entry } from './conversation.ts';

export type Fate =
  | { readonly kind: 'kept' }
  | { readonly kind: 'left-out'; readonly why: LeaveOutReason }
  | { readonly kind: 'summarised'; readonly by: number };

export type SummaryData = Pick<EventData['history.summarised'], 'turn' | 'to' | 'except' | 'partly'>;

/** What an entry comes to under a choice. `summary` is the event that the choice names. */
export const fateOf = (entry: Entry, choice: Choice, summary: SummaryData | undefined): Fate => {
  for (const { from, to, why } of choice.out)
    if (entry.turn >= from && entry.turn <= to) return { kind: 'left-out', why };
  if (summary && choice.summary !== undefined && standsFor(summary, entry))
    return { kind: 'summarised', by: choice.summary };
  return { kind: 'kept' };
};

/** The input of the turn that was running stays: it says what the work is about. */
export const standsFor = (summary: SummaryData, entry: Entry): boolean =>
  entry.seq <= summary.to &&
  entry.turn <= summary.turn &&
  !isExcepted(summary, entry) &&
  !(entry.turn === summary.turn && entry.item.kind === 'user');

const isExcepted = ({ except, partly = [] }: SummaryData, { turn, seq, item }: Entry): boolean =>
  except.includes(turn) &&
  (item.kind === 'user' || !partly.some((one) => one.turn === turn && seq < one.from));

const KEPT: Fate = { kind: 'kept' };

export class Selected {
  readonly choice: Choice;
  readonly #conversation: Conversation;
  readonly #summary: SummaryData | undefined;
  readonly #plain: boolean;
  /** The first entry that the summary stands for: there it stands. */
  readonly #summaryAt: number;
  readonly #strips: readonly { readonly upTo: number; readonly from: number }[];

  constructor(conversation: Conversation, choice: Choice, summary: SummaryData | undefined) {
    this.choice = choice;
    this.#conversation = conversation;
    this.#summary = summary;
    const { entries } = conversation;
    const strips = choice.strips ?? [];
    this.#plain = choice.out.length === 0 && choice.summary === undefined && strips.length === 0;
    this.#summaryAt =
      choice.summary === undefined ? -1 : entries.findIndex((_, i) => this.fate(i).kind === 'summarised');
    this.#strips = strips.map(({ upTo, behind }) => ({
      upTo,
      from: placeOf(conversation, behind) + 1,
    }));
  }

  /** Whether the summary stands anywhere: not where all that it stands for is left out. */
  get holdsSummary(): boolean {
    return this.#summaryAt >= 0;
  }

  fate(index: number): Fate {
    const entry = this.#conversation.entries[index];
    return this.#plain || !entry ? KEPT : fateOf(entry, this.choice, this.#summary);
  }

  /** What stands in a request at an entry's place: the entry, the summary, or nothing. */
  at(index: number): readonly Entry[] {
    const entry = this.#conversation.entries[index];
    if (!entry) return [];
    if (this.#plain) return [entry];
    if (index === this.#summaryAt) {
      const summary = this.#conversation.summary(this.choice.summary ?? 0);
      return summary ? [summary] : [];
    }
    if (this.fate(index).kind !== 'kept') return [];
    const bare = this.strips(index) ? withoutSigned(entry) : entry;
    return bare ? [bare] : [];
  }

  /** Whether signed reasoning is taken out of an entry. */
  strips(index: number): boolean {
    const entry = this.#conversation.entries[index];
    return (
      entry?.signed === true && this.#strips.some(({ upTo, from }) => entry.seq <= upTo && index >= from)
    );
  }

  /** The first entry that stands otherwise under another choice; the number of entries where none does. */
  firstOther(other: Selected): number {
    const { entries } = this.#conversation;
    const at = entries.findIndex((_, i) => !sameEntries(this.at(i), other.at(i)));
    return at < 0 ? entries.length : at;
  }
}

const sameEntries = (one: readonly Entry[], other: readonly Entry[]): boolean =>
  one.length === other.length && one.every((entry, i) => entry === other[i]);

export const sameChoice = (one: Choice, other: Choice): boolean => isSame(one, other);

export type Change = {
  readonly conversation: Conversation;
  readonly state: SessionState;
  /** Whether what stands around the conversation is that of the request before. */
  readonly framed: boolean;
};

/** A choice with what it does to signed reasoning: what was signed over something else than stands there now goes. */
export const withStrips = (
  choice: Choice,
  last: Selected,
  { conversation, state, framed }: Change,
): Choice => {
  const strips = last.choice.strips ?? [];
  const kept: Choice = strips.length === 0 ? choice : { ...choice, strips };
  // Without signed reasoning there is nothing that could break.
  if (state.signedTurn === 0) return choice;
  const next = new Selected(conversation, kept, state.summary);
  const { entries } = conversation;
  const { provider } = state.agent.model;
  const at = framed ? next.firstOther(last) : -1;
  const behind = framed ? entries[at]?.seq : 0;
  // What another provider signed is not sent to this one, whatever stands before it.
  const broken = entries.some((entry, i) => isSignedBy(provider, entry) && i > at && !next.strips(i));
  if (behind === undefined || !broken) return kept;
  // What was taken out behind a later place is taken out by this one, too.
  const older = strips.filter((one) => placeOf(conversation, one.behind) < at);
  return { ...choice, strips: [...older, { upTo: state.seq, behind }] };
};

const isSignedBy = (provider: string, { signed, item }: Entry): boolean =>
  signed && item.kind === 'assistant' && item.by.provider === provider;

/** -1 for what stands before all parts. */
const placeOf = ({ entries }: Conversation, seq: number): number =>
  entries.findIndex((entry) => entry.seq === seq);

const bare = new WeakMap<Entry, Entry>();

/** Undefined where nothing else is in it. The same entry gives the same answer. */
const withoutSigned = (entry: Entry): Entry | undefined => {
  const known = bare.get(entry);
  if (known) return known;
  if (entry.item.kind !== 'assistant') return entry;
  const blocks = entry.item.blocks.filter((block) => !isSigned(block));
  if (blocks.length === 0) return undefined;
  const made: Entry = { ...entry, item: { ...entry.item, blocks }, signed: false };
  bare.set(entry, made);
  return made;
};
