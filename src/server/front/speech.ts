/**
 * What a model says in one response, as parts: first as it comes, then as the log has it. The log is what counts.
 * Pieces are shown only of an attempt that was heard from its first word; a response that does not go on from what
 * was shown takes it back.
 */
import type { ResponseBlock } from '../../event/content.ts';
import type { StreamDelta } from '../../worker/jobs.ts';
import type { Beat, Part } from './beat.ts';

type Attempt = { readonly turn: number; readonly step: number; readonly attempt: number };
type Said = { readonly part: Part; text: string };
type Piece = { readonly type: Part['kind']; readonly text: string };
type Stretch = { readonly kind: Part['kind']; readonly text: string };

const nameOf = ({ turn, step, attempt }: Attempt): string => `${turn}.${step}.${attempt}`;

export class Speech {
  readonly #session: string;
  /** The attempt that is heard, if it is heard whole. */
  #heard: string | undefined;
  /** Pieces that came before the log said that their attempt was sent. */
  #early: StreamDelta[] = [];
  #said: Said[] = [];
  /** How often something of this attempt was taken back. */
  #taken = 0;

  constructor(session: string) {
    this.#session = session;
  }

  /** The id of the first text of the response that was said last. */
  get text(): string | undefined {
    return this.#said.find(({ part }) => part.kind === 'text')?.part.id;
  }

  /** An attempt begins; `whole`: nothing of it can have been missed. */
  sent(attempt: Attempt, whole: boolean): readonly Beat[] {
    this.#said = [];
    this.#taken = 0;
    this.#heard = whole ? nameOf(attempt) : undefined;
    const early = this.#early;
    this.#early = [];
    return early.flatMap((delta) => this.delta(delta));
  }

  delta(delta: StreamDelta): readonly Beat[] {
    if (nameOf(delta) !== this.#heard) {
      if (this.#early[0] && nameOf(this.#early[0]) !== nameOf(delta)) this.#early = [];
      this.#early.push(delta);
      return [];
    }
    if (delta.type === 'call-arguments' || delta.text === '') return [];
    const last = this.#said.at(-1);
    if (last?.part.kind === delta.type) {
      last.text += delta.text;
      return [{ kind: 'words', part: last.part, text: delta.text }];
    }
    const closed: readonly Beat[] = last ? [{ kind: 'close', part: last.part }] : [];
    return [...closed, ...this.#begin(delta, { type: delta.type, text: delta.text })];
  }

  received(attempt: Attempt, content: readonly ResponseBlock[]): readonly Beat[] {
    const whole = stretches(content);
    const beats: Beat[] = this.#goesOn(whole) ? [] : [...this.#takeBack()];
    const open = this.#said.at(-1);
    if (open) {
      const { part, text } = open;
      const rest =
        ofKind(whole, part.kind)
          .at(this.#saidOf(part.kind) - 1)
          ?.text.slice(text.length) ?? '';
      if (rest !== '' && part.kind === 'text') beats.push({ kind: 'words', part, text: rest });
      beats.push({ kind: 'close', part });
    }
    // What its provider did not say as it came is told behind what it said.
    const left = { text: this.#saidOf('text'), reasoning: this.#saidOf('reasoning') };
    for (const { kind, text } of whole)
      if (left[kind]-- <= 0) beats.push(...this.#whole(attempt, { type: kind, text }));
    this.#heard = undefined;
    return beats;
  }

  #saidOf(kind: Part['kind']): number {
    return this.#said.filter(({ part }) => part.kind === kind).length;
  }

  #goesOn(whole: readonly Stretch[]): boolean {
    const open = this.#said.at(-1);
    const counts = { text: 0, reasoning: 0 };
    return this.#said.every((said) => {
      const { kind } = said.part;
      const stretch = ofKind(whole, kind)[counts[kind]++];
      // Providers put marks between pieces of reasoning that the whole does not have; nothing hangs on them.
      if (!stretch || kind === 'reasoning') return stretch !== undefined;
      return said === open ? stretch.text.startsWith(said.text) : stretch.text === said.text;
    });
  }

  /** The attempt brought no response: what was said in it does not count. */
  failed(): readonly Beat[] {
    this.#heard = undefined;
    this.#early = [];
    return this.#takeBack();
  }

  #begin(attempt: Attempt, { type, text }: Piece): readonly Beat[] {
    const again = this.#taken === 0 ? '' : `-again${this.#taken}`;
    const id = `${this.#session}-${nameOf(attempt)}-${type}${this.#saidOf(type) + 1}${again}`;
    const part = { id, kind: type };
    this.#said.push({ part, text });
    return [
      { kind: 'open', part },
      { kind: 'words', part, text },
    ];
  }

  #whole(attempt: Attempt, piece: Piece): readonly Beat[] {
    const begun = this.#begin(attempt, piece);
    const part = this.#said.at(-1)?.part;
    return part ? [...begun, { kind: 'close', part }] : begun;
  }

  #takeBack(): readonly Beat[] {
    const open = this.#said.at(-1);
    if (!open) return [];
    const parts = this.#said.map(({ part }) => part);
    this.#said = [];
    this.#taken += 1;
    return [
      { kind: 'close', part: open.part },
      { kind: 'retake', parts },
    ];
  }
}

const ofKind = (whole: readonly Stretch[], kind: Part['kind']): readonly Stretch[] =>
  whole.filter((one) => one.kind === kind);

/** Neighbours of one kind are one: pieces do not say where a block ends. */
const stretches = (content: readonly ResponseBlock[]): readonly Stretch[] => {
  const found: Stretch[] = [];
  for (const block of content) {
    if ((block.type !== 'text' && block.type !== 'reasoning') || block.text === '') continue;
    const last = found.at(-1);
    if (last?.kind === block.type)
      found[found.length - 1] = { kind: last.kind, text: last.text + block.text };
    else found.push({ kind: block.type, text: block.text });
  }
  return found;
};
