/**
 * What changed between two texts that should have been the same, and of what kind it is: a clock, an id or a
 * counter in a prompt makes every request new, and people look for it for hours.
 */

export type ChangeKind = 'clock' | 'date' | 'id' | 'counter' | 'text';

export type TextChange = {
  readonly kind: ChangeKind;
  /** UTF-16 offset in the newer text. */
  readonly at: number;
  readonly before: string;
  readonly after: string;
};

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\\.?';
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*';
const TIME = '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?(?:\\s?[AaPp]\\.?[Mm]\\b\\.?)?';
const ZONE = '(?:\\s?(?:Z\\b|UTC|GMT)?(?:[+-]\\d{2}:?\\d{2})?)';
const DAY = `(?:\\d{4}-\\d{2}-\\d{2}|\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}|(?:${WEEKDAY},? )?(?:\\d{1,2}\\.? ${MONTH}|${MONTH} \\d{1,2}(?:st|nd|rd|th)?),? \\d{4})`;

/** In order: a longer form goes before the shorter one that it holds. */
const PATTERNS: readonly (readonly [ChangeKind, string])[] = [
  ['clock', `${DAY}(?:T|,? (?:at )?)${TIME}${ZONE}`],
  ['id', '\\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\\b'],
  ['date', DAY],
  ['clock', `\\b${TIME}${ZONE}`],
  // Seconds or milliseconds since 1970, from 2017 to 2033.
  ['clock', '\\b1[5-9]\\d{8}(?:\\d{3}|\\.\\d+)?\\b'],
  ['date', `\\b${WEEKDAY}\\b`],
  ['id', '\\b(?=[A-Za-z_-]*\\d)(?=\\d*[A-Za-z])[A-Za-z0-9_-]{12,}\\b'],
  ['counter', '\\b\\d+(?:\\.\\d+)?\\b'],
];

const CHANGING = new RegExp(PATTERNS.map(([, pattern]) => `(${pattern})`).join('|'), 'g');

type Token = { readonly kind: ChangeKind; readonly at: number; readonly text: string };

const tokensOf = (text: string): { readonly tokens: readonly Token[]; readonly skeleton: string } => {
  const tokens: Token[] = [];
  const skeleton = text.replace(CHANGING, (found: string, ...more: unknown[]) => {
    const which = more.slice(0, PATTERNS.length).findIndex((group) => group !== undefined);
    const kind = PATTERNS[which]?.[0] ?? 'text';
    tokens.push({ kind, at: more[PATTERNS.length] as number, text: found });
    return '\0';
  });
  return { tokens, skeleton };
};

/** UTF-16 units of a text that changed, as it is quoted. */
const QUOTED_LENGTH_MAX = 120;
const CHANGES_MAX = 20;

/** What changed, in order; empty where the texts are the same. */
export const textChanges = (before: string, after: string): readonly TextChange[] => {
  if (before === after) return [];
  const [old, now] = [tokensOf(before), tokensOf(after)];
  if (old.skeleton === now.skeleton)
    return now.tokens
      .flatMap(({ kind, at, text }, i): readonly TextChange[] => {
        const was = old.tokens[i];
        if (!was || was.text === text) return [];
        return [{ kind: kind === was.kind ? kind : 'text', at, before: was.text, after: text }];
      })
      .slice(0, CHANGES_MAX);
  return [middleOf(before, after)];
};

/** All that lies between the common beginning and the common end; one token on both sides has its kind. */
const middleOf = (before: string, after: string): TextChange => {
  let from = 0;
  while (from < before.length && before[from] === after[from]) from++;
  let same = 0;
  const room = Math.min(before.length, after.length) - from;
  while (same < room && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  // Whole words: a clock is not told by the digit that moved.
  while (from > 0 && /\S/.test(after[from - 1] ?? '') && after[from - 1] !== '"') from--;
  while (same > 0 && /\S/.test(after[after.length - same] ?? '') && after[after.length - same] !== '"')
    same--;
  const [was, is] = [before.slice(from, before.length - same), after.slice(from, after.length - same)];
  return { kind: kindOf(was, is), at: from, before: quote(was), after: quote(is) };
};

const kindOf = (was: string, is: string): ChangeKind => {
  const [one, other] = [tokensOf(was).tokens, tokensOf(is).tokens];
  const kinds = new Set([...one, ...other].map((token) => token.kind));
  const onlyTokens = [was, is].every(
    (text) => tokensOf(text).skeleton.replaceAll(/[\0\s,.:;"-]/g, '') === '',
  );
  if (!onlyTokens || kinds.size === 0) return 'text';
  return kinds.has('clock') ? 'clock' : kinds.has('date') ? 'date' : kinds.has('id') ? 'id' : 'counter';
};

const quote = (text: string): string =>
  text.length <= QUOTED_LENGTH_MAX ? text : `${text.slice(0, QUOTED_LENGTH_MAX - 1)}…`;

/** The kinds in words: "a clock", "a date", ... */
export const CHANGE_WORDS: Readonly<Record<ChangeKind, string>> = {
  clock: 'a clock',
  date: 'a date',
  id: 'an id',
  counter: 'a number that counts',
  text: 'a text',
};

/** A time of day in a text that should stay as it is. */
export type ClockPlace = {
  /** From 1. */
  readonly line: number;
  /** UTF-8 bytes before it. */
  readonly offset: number;
  readonly text: string;
};

/** The first time of day in a text, whatever its form; undefined where there is none. A date alone is none. */
export const clockIn = (text: string): ClockPlace | undefined => {
  const found = tokensOf(text).tokens.find(({ kind }) => kind === 'clock');
  if (!found) return undefined;
  const before = text.slice(0, found.at);
  return { line: before.split('\n').length, offset: Buffer.byteLength(before), text: found.text };
};
