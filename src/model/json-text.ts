/**
 * Parts of a JSON text as they were written. What a provider must be given back byte for byte, and numbers that
 * no double holds, are cut out of the text and never printed anew.
 *
 * Every text given here has passed JSON.parse; on other texts the answers mean nothing.
 */

export type JsonPath = readonly (string | number)[];

type Span = { readonly from: number; readonly to: number };

/** The text of the value at a path; undefined where there is none. Of a key that stands twice the last one counts, as in JSON.parse. */
export const jsonAt = (text: string, path: JsonPath): string | undefined => {
  const span = spanAt(text, path);
  return span && text.slice(span.from, span.to);
};

/** The texts of an array's elements; none for anything else. */
export const jsonElements = (text: string): readonly string[] => {
  const at = skipSpace(text, 0);
  return text[at] === '[' ? inside(text, at).map(({ from, to }) => text.slice(from, to)) : [];
};

/** The same text with other values at these paths. Paths that lead nowhere are passed over. */
export const jsonWith = (text: string, values: readonly (readonly [JsonPath, string])[]): string => {
  const cuts = values
    .flatMap(([path, value]) => {
      const span = spanAt(text, path);
      return span ? [{ ...span, value }] : [];
    })
    .sort((a, b) => a.from - b.from);
  let made = '';
  let at = 0;
  for (const { from, to, value } of cuts) {
    made += text.slice(at, from) + value;
    at = to;
  }
  return made + text.slice(at);
};

/** The keys of an object in the order in which they stand. */
export const jsonKeys = (text: string): readonly string[] => {
  const at = skipSpace(text, 0);
  return text[at] === '{' ? inside(text, at).map(({ key }) => key ?? '') : [];
};

const spanAt = (text: string, path: JsonPath): Span | undefined => {
  const from = skipSpace(text, 0);
  let span: Span | undefined = { from, to: valueEnd(text, from) };
  for (const step of path) {
    const opens = text[span.from];
    if (opens !== (typeof step === 'number' ? '[' : '{')) return undefined;
    const values: readonly Member[] = inside(text, span.from);
    span = typeof step === 'number' ? values[step] : values.findLast(({ key }) => key === step);
    if (!span) return undefined;
  }
  return span;
};

type Member = Span & { readonly key?: string };

/** The values between the brackets that open at `at`. */
const inside = (text: string, at: number): readonly Member[] => {
  const keyed = text[at] === '{';
  const members: Member[] = [];
  let i = skipSpace(text, at + 1);
  while (i < text.length && text[i] !== '}' && text[i] !== ']') {
    let key: string | undefined;
    if (keyed) {
      const end = stringEnd(text, i);
      key = JSON.parse(text.slice(i, end)) as string;
      i = skipSpace(text, skipSpace(text, end) + 1);
    }
    const to = valueEnd(text, i);
    members.push({ from: i, to, ...(key !== undefined && { key }) });
    i = skipSpace(text, to);
    if (text[i] === ',') i = skipSpace(text, i + 1);
  }
  return members;
};

const SPACE: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r']);
const ENDS: ReadonlySet<string | undefined> = new Set([...SPACE, ',', '}', ']', undefined]);

const skipSpace = (text: string, at: number): number => {
  let i = at;
  while (SPACE.has(text[i])) i++;
  return i;
};

const stringEnd = (text: string, at: number): number => {
  for (let i = at + 1; ;) {
    const quote = text.indexOf('"', i);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return quote + 1;
    i = quote + 1;
  }
};

const valueEnd = (text: string, at: number): number => {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  let i = at;
  if (first !== '{' && first !== '[') {
    while (!ENDS.has(text[i])) i++;
    return i;
  }
  for (let depth = 0; i < text.length;) {
    const char = text[i];
    if (char === '"') {
      i = stringEnd(text, i);
      continue;
    }
    i++;
    if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) break;
  }
  return i;
};
