/**
 * Text that may be written to a terminal. Nothing else may: Screen takes only Shown, and a Shown comes only
 * from this file.
 *
 * 1. A Shown is part of one line: no control character is ever inside, not even a line feed or a tab.
 * 2. What others wrote passes reveal(); what we wrote is in the source, as a literal or a template.
 * 3. Colour is a role beside the text, never bytes within it; the stream decides whether it is written.
 */
import { reveal, segments } from '../../view/reveal.ts';

/** What colours mean. `untrusted` is the bar beside text that others wrote. */
export type Role =
  | 'strong'
  | 'dim'
  | 'pen'
  | 'run'
  | 'wait'
  | 'doubt'
  | 'done'
  | 'fail'
  | 'add'
  | 'del'
  | 'untrusted';

export type Span = {
  readonly text: string;
  readonly role?: Role | undefined;
  /** Written by others. */
  readonly foreign?: boolean | undefined;
  /** An id, digest, path or number: never wrapped. */
  readonly whole?: boolean | undefined;
  /** Stands for a run of spaces: a line may be broken before and after it, never within. */
  readonly spaces?: boolean | undefined;
};

/** Ours, in ASCII. Anything else that is not ASCII becomes its code point. */
const ASCII: Readonly<Record<string, string>> = {
  '●': '*',
  '○': 'o',
  '✓': '+',
  '✗': 'x',
  '◐': '~',
  '▲': '!',
  '⊘': '/',
  '█': '#',
  '▒': '=',
  '░': '.',
  '│': '|',
  '─': '-',
  '…': '...',
  '·': '.',
  '–': '-',
  '“': '"',
  '”': '"',
  '’': "'",
  '→': '->',
};

const codePointMark = (codePoint: number): string =>
  `<U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}>`;

/** Pictures of control characters stand for the character itself; so does their mark. */
const pictured = (codePoint: number): number => {
  if (codePoint === 0x2421) return 0x7f;
  return codePoint >= 0x2400 && codePoint < 0x2420 ? codePoint - 0x2400 : codePoint;
};

const toAscii = (span: Span): Span => {
  const text = span.text.replace(/[^ -~]/gu, (character) => {
    const ours = span.foreign === true && character !== '…' ? undefined : ASCII[character];
    return ours ?? codePointMark(pictured(character.codePointAt(0) ?? 0));
  });
  return text === span.text ? span : { ...span, text };
};

let make: (spans: readonly Span[]) => Shown;

export class Shown {
  /** Also makes the type nominal: no object literal is a Shown. */
  readonly #spans: readonly Span[];

  private constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  static {
    make = (spans) => new Shown(spans);
  }

  get spans(): readonly Span[] {
    return this.#spans;
  }

  /** The characters alone. */
  get plain(): string {
    return this.#spans.map((span) => span.text).join('');
  }

  /** UTF-16 offsets of `plain`. */
  slice(from: number, to: number = Number.POSITIVE_INFINITY): Shown {
    const kept: Span[] = [];
    let at = 0;
    for (const span of this.#spans) {
      const text = span.text.slice(Math.max(0, from - at), Math.max(0, to - at));
      if (text !== '') kept.push({ ...span, text });
      at += span.text.length;
    }
    return make(kept);
  }

  /** Gives the role to every part that has none yet: marks for hidden characters keep theirs. */
  as(role: Role): Shown {
    return make(this.#spans.map((span) => (span.role === undefined ? { ...span, role } : span)));
  }

  whole(): Shown {
    return make(this.#spans.map((span) => ({ ...span, whole: true })));
  }

  /** The same in ASCII only. Widths change: convert before measuring. */
  ascii(): Shown {
    return make(this.#spans.map(toAscii));
  }
}

/** What a line is made of: strings and numbers are taken as written by others. */
export type Piece = Shown | string | number;

const foreignSpans = (text: string, options: { readonly indent?: boolean } = {}): Span[] =>
  segments(text, options).map((segment) => ({
    text: segment.text,
    foreign: true,
    ...(segment.hidden !== undefined && { role: 'untrusted' as const }),
    ...(segment.hidden?.kind === 'spaces' && { spaces: true }),
  }));

/** Our own words: spaces stay as they are; anything hidden would be a mistake and is made visible too. */
const ownSpans = (text: string): Span[] =>
  text === '' ? [] : [{ text: text.replace(/[^ ]+/gu, (word) => reveal(word)) }];

/** Text that others wrote, on one line: line feeds become visible as well. */
export const theirs = (value: string | number): Shown => make(foreignSpans(String(value)));

/** Columns between tab stops in blocks of text. */
const TAB_CELLS = 4;

/**
 * Text that others wrote, line by line; indentation is kept and a tab is shown as a mark of tab width.
 * `continued`: the first line goes on where another ended, so its spaces are no indentation.
 */
export const theirLines = (value: string, continued: boolean = false): Shown[] =>
  value
    .split('\n')
    .map((words, index) =>
      make(
        foreignSpans(words, { indent: index > 0 || !continued }).map((span) =>
          span.text === '␉' ? { ...span, text: '␉'.padEnd(TAB_CELLS), role: 'dim' } : span,
        ),
      ),
    );

/** Our own words; takes only literals, so that no value can slip in. Values go through theirs() or line``. */
export const own = <const Text extends string>(words: string extends Text ? never : Text): Shown =>
  make(ownSpans(words));

export const EMPTY: Shown = make([]);

const shownOf = (piece: Piece): Shown => (piece instanceof Shown ? piece : theirs(piece));

/** One after the other. */
export const concat = (...pieces: readonly Piece[]): Shown =>
  make(pieces.flatMap((piece) => shownOf(piece).spans));

/** Pieces with something between them. */
export const join = (pieces: readonly Piece[], between: Shown): Shown =>
  concat(...pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece])));

/** A line from our words and anyone's values: line`${OK} Approved, recorded as event ${seq}.` */
export const line = (words: TemplateStringsArray, ...values: readonly Piece[]): Shown =>
  make(
    words.flatMap((part, index) => {
      const value = values[index];
      return [...ownSpans(part), ...(value === undefined ? [] : shownOf(value).spans)];
    }),
  );

const COUNT_MAX = 10_000;

/** `count` times one of our characters: bars, rules, padding. */
export const repeat = (character: ' ' | '█' | '▒' | '░' | '─' | '-' | '^', count: number): Shown =>
  count <= 0 ? EMPTY : make([{ text: character.repeat(Math.min(Math.floor(count), COUNT_MAX)) }]);

export const strong = (piece: Piece): Shown => shownOf(piece).as('strong');
export const dim = (piece: Piece): Shown => shownOf(piece).as('dim');
export const pen = (piece: Piece): Shown => shownOf(piece).as('pen');
export const role = (name: Role, piece: Piece): Shown => shownOf(piece).as(name);
/** An id, digest, path or number: kept on one line. */
export const whole = (piece: Piece): Shown => shownOf(piece).whole();

/** Signs, each one column wide, with their colour. They have ASCII forms. */
export const SIGN: Readonly<
  Record<
    'fact' | 'decision' | 'ok' | 'fail' | 'doubt' | 'run' | 'wait' | 'cancelled' | 'errored' | 'margin',
    Shown
  >
> = {
  fact: own('●'),
  decision: own('○'),
  ok: own('✓').as('done'),
  fail: own('✗').as('fail'),
  doubt: own('?').as('doubt'),
  run: own('◐').as('run'),
  wait: own('▲').as('wait'),
  cancelled: own('⊘'),
  /** The suite itself broke, which is not a failure of what it tests. */
  errored: own('!').as('wait'),
  margin: own('│').as('untrusted'),
};

export const ELLIPSIS: Shown = own('…');
