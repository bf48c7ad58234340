/** Commands to paste: quoted for a POSIX shell, hidden characters written as escapes that mean the same. */
import { cells, pad } from './cells.ts';
import { dim, join, line, own, theirs, whole, type Shown } from './shown.ts';

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;
const HIDDEN = /[^\P{C}]|[\p{Zl}\p{Zp}\p{Bidi_C}\p{DI}]|[^\P{Zs} ]| {4}/v;

const escapeUnit = (character: string): string => {
  const codePoint = character.codePointAt(0) ?? 0;
  if (character === "'" || character === '\\') return `\\${character}`;
  if (/^[ -~]$/.test(character)) return character;
  if (codePoint < 0x80) return `\\x${codePoint.toString(16).padStart(2, '0')}`;
  return codePoint > 0xffff
    ? `\\U${codePoint.toString(16).padStart(8, '0')}`
    : `\\u${codePoint.toString(16).padStart(4, '0')}`;
};

const quoted = (word: string): string => {
  if (PLAIN_WORD.test(word)) return word;
  if (HIDDEN.test(word)) {
    const escaped = Array.from(word, escapeUnit)
      .join('')
      .replaceAll('    ', String.raw`\x20\x20\x20\x20`);
    return `$'${escaped}'`;
  }
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
};

/** `onrecord approve s_7Q2M4K --call 3.7.2`, ready to paste and never wrapped. */
export const command = (...words: readonly string[]): Shown =>
  whole(
    join(
      ['onrecord', ...words].map((word) => theirs(quoted(word))),
      own(' '),
    ),
  );

export type NextStep = {
  readonly command: Shown;
  /** What it is about, beside it: "2 decisions". */
  readonly note?: Shown;
};

/** Several commands under each other, their notes in one column. */
export const nextLines = (steps: readonly NextStep[]): Shown[] => {
  const width = Math.max(0, ...steps.map((step) => cells(step.command)));
  return steps.map((step) =>
    step.note === undefined
      ? line`  ${step.command}`
      : line`  ${pad(step.command, width)}      ${dim(step.note)}`,
  );
};
