/**
 * Members beside the standard that a server must be given back: signatures of calls (Gemini's endpoint), reasoning
 * as a list (OpenRouter, LiteLLM). A closed list: other servers refuse members that they do not know.
 */
import { jsonElements } from './json-text.ts';
import { isRecord, recordOf } from './openai-reading.ts';

const MESSAGE_EXTRAS = ['reasoning_details', 'thinking_blocks', 'extra_content'] as const;
export const CALL_EXTRAS: readonly string[] = ['extra_content', 'provider_specific_fields'];

type Texts = ReadonlyMap<string, string>;

export const extrasOf = (keys: readonly string[], rawAt: (key: string) => string | undefined): Texts =>
  new Map(
    keys.flatMap((key) => {
      const raw = rawAt(key);
      return raw === undefined || raw === 'null' ? [] : [[key, raw]];
    }),
  );

/** Texts that come in pieces. */
const JOINED: ReadonlySet<string> = new Set(['text', 'summary', 'thinking']);

export class ChatExtras {
  readonly #lists = new Map<string, string[]>();
  readonly #values = new Map<string, string>();

  take(message: Readonly<Record<string, unknown>>, rawAt: (key: string) => string | undefined): void {
    const present = MESSAGE_EXTRAS.filter((key) => message[key] !== undefined);
    for (const [key, raw] of extrasOf(present, rawAt))
      if (Array.isArray(message[key])) this.#list(key, jsonElements(raw));
      else this.#values.set(key, raw);
  }

  get all(): Texts {
    const lists = [...this.#lists].filter(([, list]) => list.length > 0);
    return new Map([...lists.map(([key, list]) => [key, `[${list.join(',')}]`] as const), ...this.#values]);
  }

  #list(key: string, pieces: readonly string[]): void {
    const list = this.#lists.get(key) ?? [];
    this.#lists.set(key, list);
    for (const piece of pieces) {
      const joined = joinedTo(list.at(-1), piece);
      if (joined === undefined) list.push(piece);
      else list[list.length - 1] = joined;
    }
  }
}

/** The last entry with a further piece of it; undefined where the piece is an entry of its own. */
const joinedTo = (last: string | undefined, piece: string): string | undefined => {
  if (last === undefined) return undefined;
  const [before, after]: readonly unknown[] = [JSON.parse(last), JSON.parse(piece)];
  if (!isRecord(before) || !isRecord(after)) return undefined;
  if (before['type'] !== after['type'] || before['index'] !== after['index']) return undefined;
  // An entry that is signed or encrypted is whole.
  if (typeof before['signature'] === 'string' && before['signature'] !== '') return undefined;
  if (typeof before['data'] === 'string') return undefined;
  const joined: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(recordOf(after))) {
    const whole = JOINED.has(key) && typeof joined[key] === 'string' && typeof value === 'string';
    if (whole) joined[key] = `${String(joined[key])}${value}`;
    else if (value !== null) joined[key] = value;
  }
  return JSON.stringify(joined);
};
