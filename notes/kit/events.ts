/** The events of a session as lines that are the same in every run: places and kinds, no times, ids or digests. */
import type { EventView } from '../../src/client.ts';
import type { Server } from './machine.ts';
import { textTable } from './text-table.ts';

export const eventsOf = async (server: Server, session: string): Promise<readonly EventView[]> =>
  Array.fromAsync(server.client.events(session));

/** Members of an event's data that say where in the session it belongs, in the order in which they are told. */
const PLACES = ['turn', 'step', 'call', 'attempt', 'tool', 'outcome', 'reason', 'epoch', 'do'] as const;

export const eventLine = ({ type, data }: EventView): string =>
  [type, ...PLACES.flatMap((name) => placed(name, (data as Record<string, unknown>)[name]))].join(' ');

const placed = (name: string, value: unknown): readonly string[] => {
  if (typeof value === 'string' || typeof value === 'number') return [`${name} ${value}`];
  const kind = (value as { readonly kind?: unknown } | undefined)?.kind;
  return typeof kind === 'string' ? [`${name} ${kind}`] : [];
};

export const eventTable = (events: readonly EventView[]): string =>
  `${textTable(events.map((event, i) => [`${i === 0 ? '>' : ''}${event.seq}`, eventLine(event)]))}\n`;

export const typesOf = (events: readonly EventView[]): readonly string[] => events.map(({ type }) => type);

/** Reads on as events are appended until they hold what is waited for; all of them so far. */
export const eventsUntil = async (
  server: Server,
  session: string,
  holds: (events: readonly EventView[]) => boolean,
): Promise<readonly EventView[]> => {
  const events: EventView[] = [];
  const signal = AbortSignal.timeout(WAIT_MS_MAX);
  for await (const item of server.client.stream(session, { deltas: false, signal })) {
    if (item.kind === 'event') events.push(item.event);
    if (holds(events)) return events;
  }
  throw new Error(`What was waited for did not come in ${WAIT_MS_MAX} ms. Events:\n${eventTable(events)}`);
};

const WAIT_MS_MAX = 120_000;
