/** What two requests have in common from their first byte on: the only thing that a provider's cache can reuse. */

export type RequestText = {
  /** The body before the first element of the conversation array and after the last. */
  readonly head: string;
  readonly tail: string;
  readonly parts: readonly string[];
};

export type SharedPrefix = {
  /** UTF-8 bytes that are the same from the beginning. */
  readonly bytes: number;
  /** Whole parts; 0 where what stands before them differs already. */
  readonly parts: number;
  /** Where the first difference lies. `end`: there is none. */
  readonly place: 'head' | 'parts' | 'tail' | 'end';
  /** Whether the newer request only goes on where the older one's conversation ended. */
  readonly appended: boolean;
};

/** `known`: so many parts at the beginning are the same text for certain, and need no look. */
export const sharedPrefix = (before: RequestText, after: RequestText, known: number = 0): SharedPrefix => {
  if (before.head !== after.head)
    return { bytes: commonBytes(before.head, after.head), parts: 0, place: 'head', appended: false };
  const both = Math.min(before.parts.length, after.parts.length);
  let parts = Math.min(known, both);
  while (parts < both && before.parts[parts] === after.parts[parts]) parts++;
  const same = [after.head, after.parts.slice(0, parts).join(',')];
  const bytes = same.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const more = commonBytes(rest(before, parts), rest(after, parts));
  const ended = parts === before.parts.length && parts === after.parts.length;
  if (ended && before.tail === after.tail)
    return { bytes: bytes + more, parts, place: 'end', appended: true };
  const appended = parts === before.parts.length && (parts < after.parts.length || ended);
  return { bytes: bytes + more, parts, place: ended ? 'tail' : 'parts', appended };
};

/** What follows the first `parts` parts: the next one with its comma, or what stands after them all. */
const rest = ({ parts, tail }: RequestText, from: number): string => {
  const next = parts[from];
  if (next === undefined) return tail;
  const after = parts[from + 1] === undefined ? tail : ',';
  return (from > 0 ? ',' : '') + next + after;
};

/** UTF-8 bytes of the common beginning of two texts, the first bytes of characters that differ included. */
export const commonBytes = (one: string, other: string): number => {
  let at = 0;
  const end = Math.min(one.length, other.length);
  while (at < end && one[at] === other[at]) at++;
  // Half a surrogate pair counts with its other half or not at all.
  if (at > 0 && /[\uD800-\uDBFF]/.test(one[at - 1] ?? '') && at < Math.max(one.length, other.length)) at--;
  return Buffer.byteLength(one.slice(0, at)) + sharedBytes(characterAt(one, at), characterAt(other, at));
};

const characterAt = (text: string, at: number): Buffer => {
  const point = text.codePointAt(at);
  return Buffer.from(point === undefined ? '' : String.fromCodePoint(point));
};

const sharedBytes = (one: Buffer, other: Buffer): number => {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  return same;
};
