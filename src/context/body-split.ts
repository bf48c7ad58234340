/**
 * A request body that somebody else made, split at its conversation array: what stands before it, its elements,
 * what stands after it. Nothing is parsed and written again, so that the pieces are the exact bytes.
 */

/** The names that providers give to the array: Messages and Chat Completions, Responses. */
const CONVERSATION_KEYS: ReadonlySet<string> = new Set(['messages', 'input']);

export type SplitBody = {
  /** Up to and with the opening bracket. */
  readonly head: string;
  /** Elements with the white space around them; joined by commas they are the inside of the array. */
  readonly parts: readonly string[];
  /** From the closing bracket on. */
  readonly tail: string;
};

/** Undefined where the body is no JSON object with such an array at its top level. */
export const splitBody = (body: string): SplitBody | undefined => {
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const mark = body[at];
    if (mark === '{' || mark === '[') depth++;
    else if (mark === '}' || mark === ']') depth--;
    else if (mark === '"') {
      const end = stringEnd(body, at);
      const opens = depth === 1 ? arrayAfterKey(body, at, end) : undefined;
      if (opens !== undefined) return splitArray(body, opens);
      at = end;
    }
  }
  return undefined;
};

/** The index of the closing quote; the end of the text where there is none. */
const stringEnd = (body: string, from: number): number => {
  for (let at = from + 1; at < body.length; at++) {
    if (body[at] === '\\') at++;
    else if (body[at] === '"') return at;
  }
  return body.length;
};

/** Where the array opens that a key of the conversation names. */
const arrayAfterKey = (body: string, from: number, end: number): number | undefined => {
  if (!CONVERSATION_KEYS.has(body.slice(from + 1, end))) return undefined;
  const [space = ''] = /^\s*:\s*/.exec(body.slice(end + 1, end + 1 + SPACE_LENGTH_MAX)) ?? [];
  const at = end + 1 + space.length;
  return space !== '' && body[at] === '[' ? at : undefined;
};

const SPACE_LENGTH_MAX = 1000;

const splitArray = (body: string, opens: number): SplitBody | undefined => {
  const parts: string[] = [];
  let depth = 1;
  let from = opens + 1;
  for (let at = from; at < body.length; at++) {
    const mark = body[at];
    if (mark === '"') at = stringEnd(body, at);
    else if (mark === '{' || mark === '[') depth++;
    else if (mark === '}' || mark === ']') depth--;
    if (depth === 0) {
      const last = body.slice(from, at);
      if (parts.length > 0 || last.trim() !== '') parts.push(last);
      // White space of an empty array belongs to what stands before it.
      const head = body.slice(0, parts.length > 0 ? opens + 1 : at);
      return { head, parts, tail: body.slice(at) };
    }
    if (mark === ',' && depth === 1) {
      parts.push(body.slice(from, at));
      from = at + 1;
    }
  }
  return undefined;
};
