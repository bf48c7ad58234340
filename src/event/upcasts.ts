/**
 * Older shapes of events, lifted to today's on reading; the stored bytes stay as they are. When the shape of a type
 * changes, its list here gets one entry more: from the version it was written with to the next. So the version that
 * a type is written with is one more than its list is long.
 *
 * Every event must be understood: a reader that does not know a type, or only lower versions of it, cannot say what
 * the log means from there on. It reads the session up to that event and appends nothing to it.
 */
import type { EventType } from './events.ts';
import type { Json } from './json.ts';

export type Upcast = (data: Json) => Json;

/** By type, from version 1 up. */
export type Upcasts = Readonly<Partial<Record<EventType, readonly Upcast[]>>>;

export const UPCASTS: Upcasts = {};

/** The version that a type is written with. */
export const versionOf = (upcasts: Upcasts, type: EventType): number => 1 + (upcasts[type]?.length ?? 0);

export const upcast = (upcasts: Upcasts, type: EventType, version: number, data: Json): Json => {
  let lifted = data;
  for (const lift of upcasts[type]?.slice(version - 1) ?? []) lifted = lift(lifted);
  return lifted;
};
