/**
 * The one place that makes hidden characters visible, for every view made for people. Pure. It changes
 * only what is shown, never what runs.
 *
 * 1. No control, bidirectional, invisible, private or unpaired character leaves this file raw; newline and
 *    tab only where the caller's block has lines and tab stops.
 * 2. Two different texts are never shown the same: text that imitates a mark is marked itself.
 */
import { countOf, formatCount } from './format.ts';

/** Longer runs of spaces are counted: they push text out of sight. */
const SPACES_MAX = 3;
/** Spaces at the start of a line that a block with `indent` shows as they are. */
const INDENT_SPACES_MAX = 32;
/** Combining marks on one character; more would draw over the lines above and below. */
const COMBINING_MARKS_MAX = 4;

export type RevealOptions = {
  /** Keep line feeds: the block has lines of its own. Default false. */
  readonly newlines?: boolean;
  /** Keep tabs: the block has tab stops. Default false. */
  readonly tabs?: boolean;
  /** Keep up to 32 spaces at the start of a line, for code and data. Default false. */
  readonly indent?: boolean;
};

export type HiddenKind =
  | 'control'
  | 'bidi'
  | 'invisible'
  | 'tag'
  | 'variation-selector'
  | 'surrogate'
  | 'private'
  | 'combining'
  | 'spaces'
  | 'imitation';

/** A stretch of the text as it is shown. `hidden` is there when `text` is a mark instead of the characters. */
export type Segment = {
  readonly text: string;
  readonly hidden?: {
    readonly kind: HiddenKind;
    readonly codePoint: number;
    /** UTF-16 offset in the original text. */
    readonly offset: number;
    /** Characters that the mark stands for. */
    readonly count: number;
  };
};

/** Characters a combining mark can sit on without touching anything of ours. */
const BASE = String.raw`[[\p{L}\p{N}\p{P}\p{S}\p{Zs}]--[\p{DI}\u2400-\u2426\u2800]]`;

/** Everything that needs a decision, tried in this order at each place. */
const NOTABLE: RegExp = new RegExp(
  [
    // Emoji that choose their form, and keycaps: a selector that does its job.
    String.raw`(?<keep>[0-9#*]\uFE0F\u20E3|[\p{Emoji}--[\x00-\x7F]][\uFE0E\uFE0F](?![\p{M}]))`,
    String.raw`(?<imitation><(?=U\+[0-9A-F]{4,6}>|[0-9,]+ spaces>)|[\u2400-\u2426])`,
    String.raw`(?<spaces>\p{Zs}{${SPACES_MAX + 1},})`,
    String.raw`(?<pile>(?<=${BASE})\p{M}{${COMBINING_MARKS_MAX + 1},})`,
    String.raw`(?<orphans>(?<!${BASE}|\p{M})\p{M}+)`,
    String.raw`(?<one>[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_C}\p{DI}\p{NChar}\u2800\uFFF9-\uFFFB])`,
  ].join('|'),
  'gv',
);

const HIDDEN_ONE = /^[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_C}\p{DI}\p{NChar}\u2800\uFFF9-\uFFFB]$/v;
const MARK_ONLY = /^\p{M}$/v;
const PRINTABLE_ASCII = /^[ -;=-~]*$/;

/** `U+202E`, four to six digits. */
export const codePointLabel = (codePoint: number): string =>
  `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;

const kindOf = (codePoint: number): HiddenKind => {
  const character = String.fromCodePoint(codePoint);
  if (/^\p{Cc}$/u.test(character)) return 'control';
  if (/^\p{Bidi_C}$/u.test(character)) return 'bidi';
  if (/^\p{Cs}$/u.test(character)) return 'surrogate';
  if (/^\p{Variation_Selector}$/u.test(character)) return 'variation-selector';
  if (codePoint >= 0xe0000 && codePoint <= 0xe007f) return 'tag';
  if (/^[\p{Co}\p{NChar}]$/v.test(character)) return 'private';
  if (/^\p{DI}$/u.test(character)) return 'invisible';
  return MARK_ONLY.test(character) ? 'combining' : 'invisible';
};

/** C0 and DEL have pictures; everything else is named by its code point. */
const markOf = (codePoint: number): string => {
  if (codePoint < 0x20) return String.fromCodePoint(0x2400 + codePoint);
  if (codePoint === 0x7f) return '␡';
  return `<${codePointLabel(codePoint)}>`;
};

const mark = (codePoint: number, offset: number, kind: HiddenKind = kindOf(codePoint)): Segment => ({
  text: markOf(codePoint),
  hidden: { kind, codePoint, offset, count: 1 },
});

const spaceSegments = (run: string, offset: number, indented: boolean): Segment[] => {
  if (indented && run.length <= INDENT_SPACES_MAX && /^ +$/.test(run)) return [{ text: run }];
  const found: Segment[] = [];
  for (const match of run.matchAll(/ +|[^ ]/gu)) {
    const [piece] = match;
    const at = offset + match.index;
    if (!piece.startsWith(' ')) found.push(mark(piece.codePointAt(0) ?? 0, at, 'spaces'));
    else if (piece.length <= SPACES_MAX) found.push({ text: piece });
    else
      found.push({
        text: `<${formatCount(piece.length)} spaces>`,
        hidden: { kind: 'spaces', codePoint: 0x20, offset: at, count: piece.length },
      });
  }
  return found;
};

/** Combining marks on a base: the first few stay, unless something invisible stands among them. */
const pileSegments = (run: string, offset: number): Segment[] => {
  const found: Segment[] = [];
  let kept = '';
  let at = offset;
  let counted = 0;
  for (const character of run) {
    if (found.length === 0 && counted < COMBINING_MARKS_MAX && !HIDDEN_ONE.test(character)) kept += character;
    else found.push(mark(character.codePointAt(0) ?? 0, at));
    at += character.length;
    counted++;
  }
  return [...(kept === '' ? [] : [{ text: kept }]), ...found];
};

const orphanSegments = (run: string, offset: number): Segment[] => {
  let at = offset;
  return Array.from(run, (character) => {
    at += character.length;
    return mark(character.codePointAt(0) ?? 0, at - character.length);
  });
};

const notable = (match: RegExpExecArray, text: string, options: RevealOptions): Segment[] => {
  const [found] = match;
  const at = match.index;
  const groups = match.groups ?? {};
  if (groups['spaces'] !== undefined) {
    const lineStart = at === 0 || (options.newlines === true && text[at - 1] === '\n');
    return spaceSegments(found, at, options.indent === true && lineStart);
  }
  if (groups['pile'] !== undefined) return pileSegments(found, at);
  if (groups['orphans'] !== undefined) return orphanSegments(found, at);
  if (groups['keep'] !== undefined) return [{ text: found }];
  if (groups['imitation'] !== undefined) {
    const codePoint = found.codePointAt(0) ?? 0;
    return [
      {
        text: `<${codePointLabel(codePoint)}>`,
        hidden: { kind: 'imitation', codePoint, offset: at, count: 1 },
      },
    ];
  }
  const kept = (found === '\n' && options.newlines === true) || (found === '\t' && options.tabs === true);
  return [kept ? { text: found } : mark(found.codePointAt(0) ?? 0, at)];
};

/** The text as it is shown, in order, plain stretches and marks apart. */
export const segments = (text: string, options: RevealOptions = {}): Segment[] => {
  if (PRINTABLE_ASCII.test(text) && !text.includes('    ')) return text === '' ? [] : [{ text }];
  const shown: Segment[] = [];
  let plain = '';
  let from = 0;
  const flush = (): void => {
    if (plain !== '') shown.push({ text: plain });
    plain = '';
  };
  for (const match of text.matchAll(NOTABLE)) {
    plain += text.slice(from, match.index);
    from = match.index + match[0].length;
    for (const segment of notable(match, text, options)) {
      if (segment.hidden === undefined) plain += segment.text;
      else {
        flush();
        shown.push(segment);
      }
    }
  }
  plain += text.slice(from);
  flush();
  return shown;
};

/**
 * The text with everything hidden made visible: `␛`, `<U+202E>`, `<214 spaces>`, `<U+D800>`. Not to be
 * applied twice: a mark in the input is itself marked, so that what is shown stands for one text only.
 */
export const reveal = (text: string, options: RevealOptions = {}): string =>
  segments(text, options)
    .map((segment) => segment.text)
    .join('');

export type Finding = {
  readonly kind: HiddenKind;
  readonly codePoint: number;
  /** Times it occurs; for spaces the number of runs. */
  readonly count: number;
  /** UTF-16 offset of the first. */
  readonly offset: number;
  /** "right-to-left override", or the kind where the character has no name here. */
  readonly name: string;
};

const NAMES: Readonly<Record<number, string>> = {
  0x00: 'null',
  0x07: 'bell',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'escape',
  0x7f: 'delete',
  0x85: 'next line',
  0x9b: 'control sequence introducer',
  0xad: 'soft hyphen',
  0x061c: 'Arabic letter mark',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'pop directional formatting',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate',
  0x2800: 'blank braille pattern',
  0x3164: 'Hangul filler',
  0xfeff: 'zero width no-break space',
};

const KIND_NAMES: Readonly<Record<HiddenKind, string>> = {
  control: 'control character',
  bidi: 'direction control',
  invisible: 'invisible character',
  tag: 'tag character',
  'variation-selector': 'variation selector',
  surrogate: 'half of a character',
  private: 'character without a public meaning',
  combining: 'piled-up combining mark',
  spaces: 'run of spaces',
  imitation: 'imitation of a mark',
};

/**
 * What reveal() makes visible in a text, one entry per character, in order of first occurrence. Line feeds,
 * tabs, the CR of a CRLF and indentation are no findings.
 */
export const findings = (text: string): Finding[] => {
  const found = new Map<string, Finding>();
  for (const { hidden } of segments(text, { newlines: true, tabs: true, indent: true })) {
    if (hidden === undefined) continue;
    const { kind, codePoint, offset } = hidden;
    if (codePoint === 0x0d && text[offset + 1] === '\n') continue;
    const key = `${kind} ${codePoint}`;
    const earlier = found.get(key);
    found.set(key, {
      kind,
      codePoint,
      count: (earlier?.count ?? 0) + 1,
      offset: earlier?.offset ?? offset,
      name: NAMES[codePoint] ?? KIND_NAMES[kind],
    });
  }
  return [...found.values()];
};

/** Kinds named one by one in a warning; the rest is counted. */
const NAMED_MAX = 3;

const isSpaceRun = (finding: Finding): boolean => finding.kind === 'spaces' && finding.codePoint === 0x20;

const describeCharacters = (found: readonly Finding[]): string => {
  const total = found.reduce((sum, finding) => sum + finding.count, 0);
  const named = found.slice(0, NAMED_MAX).map(({ codePoint, name, count }) => {
    const what = `${codePointLabel(codePoint)} ${name}`;
    return count === 1 ? what : `${what} (${formatCount(count)} times)`;
  });
  const rest = found.length - named.length;
  const more = rest === 0 ? '' : ` and ${countOf(rest, 'other kind')}`;
  return `${countOf(total, 'hidden character')} made visible: ${named.join(', ')}${more}`;
};

/** One sentence for a warning, or undefined when nothing was hidden. */
export const describeFindings = (found: readonly Finding[]): string | undefined => {
  const characters = found.filter((finding) => !isSpaceRun(finding));
  const runs = found.find(isSpaceRun)?.count ?? 0;
  const parts = [
    ...(characters.length === 0 ? [] : [describeCharacters(characters)]),
    ...(runs === 0 ? [] : [`${countOf(runs, 'long run')} of spaces counted`]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
};
