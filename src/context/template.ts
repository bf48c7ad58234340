/**
 * A request part as a template over the log: what stands in an event already is referred to, the rest is kept
 * as literal text. So exact requests cost only what is new in them, and they are rebuilt from the record
 * alone, whatever today's adapter code would make of the same conversation.
 */
import { bug } from '../errors.ts';
import type { LogEvent, PartPiece } from '../event/events.ts';
import type { Source } from './conversation.ts';

/** Texts shorter than this cost more as a reference than as they are. */
const SOURCE_LENGTH_MIN = 40;

/** JSON text of a string without its quotes: how a text stands inside a JSON string. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

export const templateOf = (part: string, sources: readonly Source[]): readonly PartPiece[] => {
  const pieces: PartPiece[] = [];
  let from = 0;
  for (const { seq, pointer, text } of sources) {
    if (text.length < SOURCE_LENGTH_MIN) continue;
    const found = locate(part, text, from);
    if (!found) continue;
    if (found.at > from) pieces.push(part.slice(from, found.at));
    pieces.push([seq, pointer, found.as]);
    from = found.at + found.length;
  }
  if (from < part.length) pieces.push(part.slice(from));
  return pieces;
};

type Located = { readonly at: number; readonly as: 'json' | 'raw'; readonly length: number };

const locate = (part: string, text: string, from: number): Located | undefined => {
  const inner = escaped(text);
  const at = part.indexOf(inner, from);
  if (at >= 0) return { at, as: 'json', length: inner.length };
  const raw = part.indexOf(text, from);
  return raw < 0 ? undefined : { at: raw, as: 'raw', length: text.length };
};

/** The exact text of a part again. `eventAt` answers any event of the session by seq. */
export const expandTemplate = (
  pieces: readonly PartPiece[],
  eventAt: (seq: number) => LogEvent | undefined,
): string =>
  pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const [seq, pointer, as] = piece;
      const text = valueAt(eventAt(seq)?.data, pointer);
      if (typeof text !== 'string') throw bug('a part refers to a text of the log', { seq, pointer });
      return as === 'json' ? escaped(text) : text;
    })
    .join('');

/** JSON Pointer (RFC 6901) over plain data; keys of events hold no "/" or "~". */
const valueAt = (data: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], data);
