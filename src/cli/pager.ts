/**
 * A question below a text that may be longer than the screen. Keys that decide are inert until the last line
 * was shown. Lines that were written are never written again.
 */
import { stderr } from 'node:process';
import { formatCount } from '../view/format.ts';
import { cells, pad, wrap } from './terminal/cells.ts';
import type { KeyAnswer } from './terminal/ask.ts';
import { fit } from './terminal/look.ts';
import type { Screen } from './terminal/screen.ts';
import { dim, EMPTY, join, line, own, strong, whole, type Shown } from './terminal/shown.ts';

export type Choice = { readonly key: string; readonly words: Shown };

export type PagedQuestion = {
  /** Stands above the first page. */
  readonly head: readonly Shown[];
  readonly body: readonly Shown[];
  /** Below every page. */
  readonly foot: readonly Shown[];
  /** Below the last page only. */
  readonly atEnd?: readonly Shown[];
  readonly choices: readonly Choice[];
  /** Keys among them that decide, and wait for the last line. */
  readonly deciding: readonly string[];
  /** Keys that are only named in the help. */
  readonly hidden?: readonly string[];
};

/** A terminal that does not tell its height. */
const ROWS_UNKNOWN = 24;
const PAGE_LINES_MIN = 4;
/** For the line that says what became of the card before, and for the position. */
const ROWS_KEPT = 4;
const PAGING = ['space', 'page-down'];

/** `y approve   e edit`, wrapped between the choices. */
export const choiceLines = (choices: readonly Choice[], { noteLook }: Screen): Shown[] =>
  wrap(
    fit(
      line`  ${join(
        choices.map(({ key, words }) => whole(line`${strong(key)} ${words}`)),
        own('   '),
      )}`,
      noteLook,
    ),
    noteLook.textColumns,
    { hanging: 2 },
  );

export class Pager {
  readonly #screen: Screen;
  readonly #question: PagedQuestion;
  #shown = 0;
  #begun = false;

  constructor(screen: Screen, question: PagedQuestion) {
    this.#screen = screen;
    this.#question = question;
  }

  get complete(): boolean {
    return this.#begun && this.#shown >= this.#question.body.length;
  }

  /** Shows what is next, and answers with a key that is no paging. */
  async ask(): Promise<KeyAnswer> {
    const { choices, deciding, hidden = [] } = this.#question;
    const offered = [...choices.map(({ key }) => key), ...hidden];
    let lines = this.#begun ? this.#footLines() : this.#page();
    for (;;) {
      const answer = await this.#screen.askKey(lines, [...offered, ...PAGING]);
      if (answer.kind !== 'key') return answer;
      const { key } = answer;
      if (!offered.includes(key)) lines = this.complete ? [] : this.#page();
      else if (deciding.includes(key) && !this.complete) {
        lines = [line`  ${strong(key)} waits until the last line was shown. Space shows more.`];
      } else return answer;
    }
  }

  /** The next lines that fit the screen, and the question below them. */
  #page(): Shown[] {
    const { head, body, foot, atEnd = [] } = this.#question;
    const above = this.#begun ? [] : head;
    const rows = (stderr.rows ?? 0) > 0 ? stderr.rows : ROWS_UNKNOWN;
    const room = Math.max(PAGE_LINES_MIN, rows - above.length - foot.length - atEnd.length - ROWS_KEPT);
    const from = this.#shown;
    const to = Math.min(body.length, from + room);
    this.#shown = to;
    this.#begun = true;
    return [...above, ...body.slice(from, to), ...this.#position(from, to), ...this.#footLines()];
  }

  #position(from: number, to: number): Shown[] {
    const { body } = this.#question;
    if (from === 0 && to === body.length) return [];
    const more = to < body.length ? own(', space: more') : own('');
    const words = line`lines ${formatCount(from + 1)} to ${formatCount(to)} of ${formatCount(body.length)}${more}`;
    return [dim(pad(words, Math.max(cells(words), this.#screen.noteLook.textColumns - 1), 'right'))];
  }

  #footLines(): Shown[] {
    const { foot, atEnd = [], choices } = this.#question;
    return [EMPTY, ...(this.complete ? atEnd : []), ...foot, ...choiceLines(choices, this.#screen)];
  }
}
