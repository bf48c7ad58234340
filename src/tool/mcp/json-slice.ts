/**
 * Slices of JSON text, exactly as they were sent. What JSON.parse makes of a text loses digits, and what reads strictly
 * recurses; this walks over the characters once, whatever the depth. Only for text that JSON.parse has accepted.
 */

export type Slice = {
  readonly text: string;
  /** How deep its own brackets nest: 0 for a string or number, 1 for `{}`. */
  readonly depth: number;
};

/** The value behind these keys of nested objects; undefined where there is none. The last of two equal keys counts. */
export const sliceAt = (text: string, keys: readonly string[]): Slice | undefined => {
  let slice: Slice | undefined = { text: text.trim(), depth: 0 };
  for (const key of keys) slice = slice && members(slice.text).get(key);
  return slice;
};

/** The items of the array that the text is; none where it is no array. */
export const items = (text: string): readonly Slice[] => {
  const found: Slice[] = [];
  if (!text.trimStart().startsWith('[')) return found;
  walk(text, (slice) => void found.push(slice));
  return found;
};

const members = (text: string): ReadonlyMap<string, Slice> => {
  const found = new Map<string, Slice>();
  if (!text.trimStart().startsWith('{')) return found;
  let key: string | undefined;
  walk(text, (slice) => {
    if (key === undefined) key = JSON.parse(slice.text) as string;
    else {
      found.set(key, slice);
      key = undefined;
    }
  });
  return found;
};

/** Tells of every value that stands directly in the outermost bracket; of an object keys and values take turns. */
const walk = (text: string, tell: (slice: Slice) => void): void => {
  let level = 0;
  let deepest = 0;
  let from = -1;
  const end = (at: number): void => {
    const slice = from < 0 ? '' : text.slice(from, at).trim();
    if (slice !== '') tell({ text: slice, depth: deepest });
    from = at + 1;
    deepest = 0;
  };
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === '"') at = endOfString(text, at);
    else if (mark === '{' || mark === '[') {
      if (level++ === 0) from = at + 1;
      deepest = Math.max(deepest, level - 1);
    } else if (mark === '}' || mark === ']') {
      if (--level === 0) end(at);
    } else if (level === 1 && (mark === ',' || mark === ':')) end(at);
  }
};

/** The place of the quote that closes the string which opens here. */
const endOfString = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
};
