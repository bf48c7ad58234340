/**
 * Older shapes of events, lifted to today's on reading; the stored bytes stay as they are. An entry is added
 * for a type when its shape changes: from the version it was written with to the next.
 */
import type { EventType } from './events.ts';
import type { Json } from './json.ts';

type Upcast = (data: Json) => Json;

const UPCASTS: Readonly<Partial<Record<EventType, readonly Upcast[]>>> = {};

export const upcast = (type: EventType, version: number, data: Json): Json => {
  let lifted = data;
  for (const lift of UPCASTS[type]?.slice(version - 1) ?? []) lifted = lift(lifted);
  return lifted;
};
