/** What the import of a file would do to the entries that are there. */
import { createHash } from 'node:crypto';
import { conflictsWith } from './busy.ts';
import { type Entry, readEntry, type StoredJcal } from './entry.ts';
import { type ImportedEntry, readIcs } from './ics.ts';
import { type Jcal, textOf, withProperties } from './jcal.ts';
import { type Occurrence, occurrencesOf } from './occurrence.ts';
import type { Store, StoredEntry } from './store.ts';
import { DAY_MS } from './wall.ts';
import type { Zone } from './zone.ts';

/** Entries of an import that are shown one by one. */
const IMPORT_SHOWN_MAX = 20;

type Shown = {
  readonly entry: Entry;
  readonly before: { readonly found: Occurrence; readonly entry: Entry } | undefined;
  readonly after: Occurrence | undefined;
  readonly conflicts: readonly Occurrence[];
};

export type ImportPlan = {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** The calendar has a later version (SEQUENCE), which stays. */
  readonly older: readonly string[];
  readonly writes: readonly { readonly uid: string; readonly stored: StoredJcal }[];
  readonly shown: readonly Shown[];
  readonly notes: readonly string[];
  /** Of the versions that the file meets. */
  readonly digest: string;
};

const recurrenceId = (event: Jcal): string => textOf(event, 'recurrence-id') ?? '';
const isMaster = (event: Jcal): boolean => recurrenceId(event) === '';

/** A file with the master replaces the entry; one with single occurrences alone changes only those. */
const combined = (known: StoredJcal | undefined, incoming: StoredJcal): StoredJcal => {
  if (!known || incoming.events.some(isMaster)) return incoming;
  const named = new Set(incoming.events.map(recurrenceId));
  const tzids = new Set(incoming.timezones.map((timezone) => textOf(timezone, 'tzid')));
  return {
    timezones: [
      ...known.timezones.filter((timezone) => !tzids.has(textOf(timezone, 'tzid'))),
      ...incoming.timezones,
    ],
    events: [...known.events.filter((event) => !named.has(recurrenceId(event))), ...incoming.events],
  };
};

/** Programs write a new DTSTAMP with every export; it is no change. */
const lasting = ({ timezones, events }: StoredJcal): string =>
  JSON.stringify([timezones, events.map((event) => withProperties(event, ['dtstamp'], []))]);

const sequenceOf = (entry: Entry): number =>
  entry.master?.sequence ?? Math.max(0, ...entry.overrides.map(({ sequence }) => sequence));

const isOlder = (known: StoredEntry, incoming: ImportedEntry): boolean =>
  (known.entry.master === undefined) === (incoming.entry.master === undefined) &&
  sequenceOf(incoming.entry) < sequenceOf(known.entry);

/** The first occurrence at or after the entry's start. */
const firstOf = (entry: Entry, zone: Zone): Occurrence | undefined => {
  const starts = [entry.master, ...entry.overrides].flatMap((part) => (part ? [part.start.wall] : []));
  const from = Math.min(...starts) - 2 * DAY_MS;
  return [...occurrencesOf(entry, { zone, fromUtc: from, toUtc: from + 5 * DAY_MS })].sort(
    (a, b) => a.start - b.start,
  )[0];
};

const shownOf = (store: Store, reader: Zone, uid: string, stored: StoredJcal): Shown => {
  const known = store.find(uid);
  const entry = readEntry(uid, (known?.entry.version ?? 0) + 1, stored);
  const after = firstOf(entry, reader);
  const found = known && firstOf(known.entry, reader);
  const conflicts = after
    ? conflictsWith([after], after.kind === 'time' ? after.zone : reader, (from, to) =>
        store.between(from, to).filter((one) => one.entry.uid !== uid),
      )
    : [];
  return { entry, before: known && found && { found, entry: known.entry }, after, conflicts };
};

/** Reads the file and holds it against the calendar. Throws what `readIcs` throws. */
export const importPlan = (
  store: Store,
  input: { ics: string; zone?: string | undefined },
  reader: Zone,
): ImportPlan => {
  const file = readIcs(input.ics, input.zone);
  const plan = {
    added: [] as string[],
    changed: [] as string[],
    unchanged: [] as string[],
    older: [] as string[],
  };
  const writes: { uid: string; stored: StoredJcal }[] = [];
  const met = createHash('sha256');
  for (const incoming of file.entries) {
    const { uid } = incoming;
    const known = store.find(uid);
    met.update(JSON.stringify([uid, known?.entry.version ?? 0]));
    const stored = combined(known?.stored, incoming.stored);
    if (!known) plan.added.push(uid);
    else if (lasting(known.stored) === lasting(stored)) plan.unchanged.push(uid);
    else if (isOlder(known, incoming)) plan.older.push(uid);
    else plan.changed.push(uid);
    if (!known || plan.changed.at(-1) === uid) writes.push({ uid, stored });
  }
  const shown = writes
    .slice(0, IMPORT_SHOWN_MAX)
    .map(({ uid, stored }) => shownOf(store, reader, uid, stored));
  return { ...plan, writes, shown, notes: file.notes, digest: met.digest('hex') };
};
