/**
 * A calendar in one SQLite file. Reading expands occurrences in their own zones; writing happens once for a
 * key. A preview runs the same plan as the write and leaves the file as it is.
 */
import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';
import type { PreviewBlock } from '../preview.ts';
import {
  conflictsWith,
  CONFLICT_DAYS_MAX,
  findOccurrences,
  gaps,
  merged,
  takenBy,
  workingIntervals,
} from './busy.ts';
import { cancelEdit, createEdit, type Details, type Edit, moveEdit, scopeOf } from './edit.ts';
import type { Moment } from './entry.ts';
import { refuse } from './fault.ts';
import { writeIcs } from './export.ts';
import { type ImportPlan, importPlan } from './merge.ts';
import { type Occurrence, sortInstant } from './occurrence.ts';
import { reading, type Store, type StoredEntry, writingOnce } from './store.ts';
import { type RangeInput, readTimes, readWindow, type TimesInput } from './times.ts';
import { conflictText, entryView, occurrenceFields, repeatsText, timeFields } from './view.ts';
import { DAY_MS, MINUTE_MS, parseHour, utcText } from './wall.ts';
import { namedZone, type Zone } from './zone.ts';

/** Occurrences of one list. */
export const LIST_OCCURRENCES_MAX = 250;
/** Days of one list. */
export const LIST_DAYS_MAX = 1_100;
/** Days of one search for free time. */
export const FREE_DAYS_MAX = 100;
/** Free slots of one answer. */
const FREE_SLOTS_MAX = 200;
/** Conflicts that are named; more are counted. */
const CONFLICTS_SHOWN_MAX = 20;

export const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as const;

type FreeInput = RangeInput & {
  /** The least length of a slot. */
  readonly minutes: number;
  /** Local times of day, "09:00" and "17:00" where not given. */
  readonly hoursFrom?: string | undefined;
  readonly hoursTo?: string | undefined;
  /** Monday to Friday where not given. */
  readonly weekdays?: readonly (typeof WEEKDAYS)[number][] | undefined;
};

type CreateInput = Details & TimesInput;
type MoveInput = TimesInput & { readonly id: string; readonly occurrence?: string | undefined };
type CancelInput = { readonly id: string; readonly occurrence?: string | undefined };
type ImportInput = { readonly ics: string; readonly zone?: string | undefined };
type ExportInput = { readonly ids?: readonly string[] | undefined };

/** What a write is bound to: its key, its time, and what its preview was made from. */
export type Call = { readonly key: string; readonly nowMs: number; readonly base: Json | undefined };

/** What a preview shows: one block per entry, and the versions it was made from. */
export type Planned = {
  readonly blocks: readonly PreviewBlock[];
  readonly notes: readonly string[];
  readonly base: Json;
  readonly title: string;
};

export type Calendar = {
  list(input: RangeInput): JsonObject;
  free(input: FreeInput): JsonObject;
  planCreate(input: CreateInput, call: Call): Planned;
  planMove(input: MoveInput, call: Call): Planned;
  planCancel(input: CancelInput, call: Call): Planned;
  planImport(input: ImportInput): Planned;
  create(input: CreateInput, call: Call): JsonObject;
  move(input: MoveInput, call: Call): JsonObject;
  cancel(input: CancelInput, call: Call): JsonObject;
  importIcs(input: ImportInput, call: Call): JsonObject;
  exportIcs(input: ExportInput): { ics: string; entries: number };
};

/** The id of a new entry: the same for every attempt of the same call. */
const uidOf = (key: string): string =>
  `${createHash('sha256').update(key).digest('hex').slice(0, 24)}@onrecord`;

type Plan = {
  readonly edit: Edit;
  readonly conflicts: readonly Occurrence[];
  readonly zone: Zone;
  readonly version: number;
};

/** The zone in which an entry is held against others: its own, or the reader's for dates. */
const ownZone = (found: Occurrence | undefined, reader: Zone): Zone =>
  found?.kind === 'time' ? found.zone : reader;

const conflictsOf = (edit: Edit, store: Store, reader: Zone): Occurrence[] => {
  const { after, entry } = edit;
  if (!after) return [];
  const zone = ownZone(after, reader);
  const single = after.key !== undefined && after.part.replaces !== undefined;
  const fromUtc = sortInstant(after, zone) - 1;
  const wanted = single
    ? [after]
    : findOccurrences([{ entry, stored: edit.stored }], {
        zone,
        fromUtc,
        toUtc: fromUtc + CONFLICT_DAYS_MAX * DAY_MS,
      }).occurrences;
  return conflictsWith(wanted, zone, (from, to) =>
    store.between(from, to).filter((one) => one.entry.uid !== edit.uid),
  );
};

const planOf = (edit: Edit, store: Store, reader: Zone, version: number): Plan => ({
  edit,
  version,
  conflicts: conflictsOf(edit, store, reader),
  zone: ownZone(edit.after ?? edit.before, reader),
});

const createPlan = (store: Store, reader: Zone, input: CreateInput, call: Call): Plan =>
  planOf(createEdit(uidOf(call.key), input, readTimes(input), call.nowMs), store, reader, 0);

const lengthOf = (found: Occurrence): number => found.end - found.start;

const zoneOf = (moment: Moment): Zone | undefined => (moment.kind === 'time' ? moment.zone : undefined);

const movePlan = (store: Store, reader: Zone, input: MoveInput, call: Call): Plan => {
  const known = currentEntry(store, input.id, call.base);
  const scope = scopeOf(input.id, known, input.occurrence);
  const zone = zoneOf(scope.before.part.start);
  const times = readTimes(input, { lengthMs: lengthOf(scope.before), ...(zone && { zone }) });
  return planOf(
    moveEdit(asStored(known), scope, times, call.nowMs),
    store,
    reader,
    known?.entry.version ?? 0,
  );
};

const cancelPlan = (store: Store, reader: Zone, input: CancelInput, call: Call): Plan => {
  const known = currentEntry(store, input.id, call.base);
  const scope = scopeOf(input.id, known, input.occurrence);
  return planOf(cancelEdit(asStored(known), scope, call.nowMs), store, reader, known?.entry.version ?? 0);
};

const asStored = (known: StoredEntry | undefined): StoredEntry => {
  if (!known) throw refuse('entry-not-found', 'There is no such entry.');
  return known;
};

/** The entry as it is, if it still is what the preview was made from. Throws `entry-changed`. */
const currentEntry = (store: Store, id: string, base: Json | undefined): StoredEntry | undefined => {
  const known = store.find(id);
  if (!isJsonObject(base)) return known;
  const seen = Number(base['version']);
  const now = known?.entry.version ?? 0;
  if (seen !== now)
    throw refuse(
      'entry-changed',
      `The entry "${id.slice(0, 200)}" changed since it was shown: it was version ${seen} and is version ${now}. Nothing was written. List it again and propose the change anew.`,
    );
  return known;
};

const conflictTexts = (conflicts: readonly Occurrence[], zone: Zone): string[] => {
  const texts = conflicts.slice(0, CONFLICTS_SHOWN_MAX).map((one) => conflictText(one, zone));
  const more = conflicts.length - texts.length;
  return more > 0 ? [...texts, `and ${more} more`] : texts;
};

const planned = (
  { edit, conflicts, zone, version }: Plan,
  reader: Zone,
  known: StoredEntry | undefined,
): Planned => {
  const { before, after, entry } = edit;
  return {
    blocks: [
      {
        kind: 'calendar',
        ...(before && { before: entryView(before, known?.entry ?? entry, reader) }),
        ...(after && { after: entryView(after, entry, reader) }),
        conflicts: conflictTexts(conflicts, zone),
      },
    ],
    notes: [...edit.notes, ...(after?.notes ?? []).filter((note) => !edit.notes.includes(note))],
    base: { version },
    title: (before ?? after)?.part.title ?? '',
  };
};

/** Writes the plan and tells the model what now stands. */
const written = (store: Store, { edit, conflicts, zone }: Plan, done: string): JsonObject => {
  const version = store.put(edit.uid, edit.stored);
  const { before, after, entry } = edit;
  const repeated = repeatsText(entry);
  const shown = after ?? before;
  return {
    done,
    id: edit.uid,
    ...(shown && { ...occurrenceFields(shown, zone) }),
    version,
    ...(before && after && { before: occurrenceFields(before, zone) }),
    ...(repeated !== undefined && { repeats: repeated }),
    conflicts: conflictsJson(conflicts, zone),
    ...notesJson([...edit.notes, ...(after?.notes ?? [])]),
  };
};

const conflictsJson = (conflicts: readonly Occurrence[], zone: Zone): Json => [
  ...conflicts.slice(0, CONFLICTS_SHOWN_MAX).map((one) => occurrenceFields(one, zone)),
  ...(conflicts.length > CONFLICTS_SHOWN_MAX ? [{ more: conflicts.length - CONFLICTS_SHOWN_MAX }] : []),
];

const notesJson = (notes: readonly string[]): JsonObject =>
  notes.length > 0 ? { notes: [...new Set(notes)] } : {};

const list = (store: Store, input: RangeInput): JsonObject => {
  const window = readWindow(input, LIST_DAYS_MAX);
  const { zone, fromUtc, toUtc } = window;
  const { occurrences, problems } = findOccurrences(store.between(fromUtc, toUtc), window);
  const shown = occurrences.slice(0, LIST_OCCURRENCES_MAX);
  const next = occurrences[LIST_OCCURRENCES_MAX];
  return {
    zone: zone.name,
    from: timeFields(fromUtc, zone),
    toExclusive: timeFields(toUtc, zone),
    occurrences: shown.map((one) => occurrenceFields(one, zone)),
    ...(next && {
      cut: { left: occurrences.length - shown.length, continueFrom: utcText(sortInstant(next, zone)) },
    }),
    ...(problems.length > 0 && { problems }),
  };
};

const readHours = (input: FreeInput): { from: number; to: number } => {
  const fromText = input.hoursFrom ?? '09:00';
  const toText = input.hoursTo ?? '17:00';
  const from = parseHour(fromText);
  const to = parseHour(toText);
  if (from === undefined || to === undefined || from >= to)
    throw refuse(
      'time-invalid',
      `The working hours "${fromText}" to "${toText}" are no range within a day. Give "09:00" and "17:00", or "24:00" for the end of the day.`,
    );
  return { from, to };
};

const free = (store: Store, input: FreeInput): JsonObject => {
  const window = readWindow(input, FREE_DAYS_MAX);
  const { zone, fromUtc, toUtc } = window;
  const chosen = input.weekdays ?? ['MO', 'TU', 'WE', 'TH', 'FR'];
  const hours = { ...readHours(input), weekdays: new Set(chosen.map((day) => WEEKDAYS.indexOf(day))) };
  const { occurrences, problems } = findOccurrences(store.between(fromUtc, toUtc), window);
  const taken = merged(occurrences.filter(({ part }) => part.busy).map((one) => takenBy(one, zone)));
  const slots = gaps(workingIntervals(hours, window), taken).filter(
    ({ start, end }) => end - start >= input.minutes * MINUTE_MS,
  );
  const shown = slots.slice(0, FREE_SLOTS_MAX);
  return {
    zone: zone.name,
    minutes: input.minutes,
    slots: shown.map(({ start, end }) => ({
      start: timeFields(start, zone),
      end: timeFields(end, zone),
      minutes: Math.floor((end - start) / MINUTE_MS),
    })),
    ...(slots.length > shown.length && { cut: { left: slots.length - shown.length } }),
    ...(problems.length > 0 && { problems }),
  };
};

const importPlanned = (plan: ImportPlan, reader: Zone): Planned => ({
  blocks: [
    {
      kind: 'fields',
      fields: (['added', 'changed', 'unchanged', 'older'] as const).map((name) => ({
        name,
        value: String(plan[name].length),
      })),
    },
    ...plan.shown.map(({ entry, before, after, conflicts }): PreviewBlock => ({
      kind: 'calendar',
      ...(before && { before: entryView(before.found, before.entry, reader) }),
      ...(after && { after: entryView(after, entry, reader) }),
      conflicts: conflictTexts(conflicts, reader),
    })),
  ],
  notes: plan.notes,
  base: { digest: plan.digest },
  title: plan.writes.length === 1 ? 'one entry' : `${plan.writes.length} entries`,
});

const importWritten = (store: Store, plan: ImportPlan, base: Json | undefined, reader: Zone): JsonObject => {
  if (isJsonObject(base) && base['digest'] !== plan.digest)
    throw refuse(
      'entry-changed',
      'Entries of this file changed in the calendar since they were shown. Nothing was written. Propose the import anew.',
    );
  for (const { uid, stored } of plan.writes) store.put(uid, stored);
  const conflicts = plan.shown.flatMap((one) => one.conflicts);
  return {
    added: plan.added.length,
    changed: plan.changed.length,
    unchanged: plan.unchanged.length,
    older: plan.older.length,
    ids: [...plan.added, ...plan.changed].slice(0, LIST_OCCURRENCES_MAX),
    conflicts: conflictsJson(conflicts, reader),
    ...notesJson(plan.notes),
  };
};

const exported = (store: Store, { ids }: ExportInput): { ics: string; entries: number } => {
  const entries =
    ids === undefined
      ? store.all()
      : [...new Set(ids)].map((id) => {
          const known = store.find(id);
          if (!known)
            throw refuse(
              'entry-not-found',
              `There is no entry with the id "${id.slice(0, 200)}". List the entries to see the ids.`,
            );
          return known;
        });
  return { ics: writeIcs(entries), entries: entries.length };
};

/**
 * A calendar at `path`; the file is created by the first write. `zone` is the reader's: previews show it
 * beside the zone of an entry, and all-day entries are laid out in it. Throws `zone-unknown`.
 */
export const openCalendar = (path: string, zone: string = 'UTC'): Calendar => {
  const reader = namedZone(zone);
  const read = <T>(work: (store: Store) => T): T => reading(path, work);
  const once = (
    name: string,
    input: JsonObject,
    call: Call,
    write: (store: Store) => JsonObject,
  ): JsonObject =>
    writingOnce(path, { key: call.key, nowMs: call.nowMs, call: JSON.stringify([name, input]) }, write);
  return {
    list: (input) => read((store) => list(store, input)),
    free: (input) => read((store) => free(store, input)),
    exportIcs: (input) => read((store) => exported(store, input)),
    planCreate: (input, call) =>
      read((store) => planned(createPlan(store, reader, input, call), reader, undefined)),
    planMove: (input, call) =>
      read((store) => planned(movePlan(store, reader, input, call), reader, store.find(input.id))),
    planCancel: (input, call) =>
      read((store) => planned(cancelPlan(store, reader, input, call), reader, store.find(input.id))),
    planImport: (input) => read((store) => importPlanned(importPlan(store, input, reader), reader)),
    create: (input, call) =>
      once('create', { ...input }, call, (store) =>
        written(store, createPlan(store, reader, input, call), 'created'),
      ),
    move: (input, call) =>
      once('move', { ...input }, call, (store) =>
        written(store, movePlan(store, reader, input, call), 'moved'),
      ),
    cancel: (input, call) =>
      once('cancel', { ...input }, call, (store) =>
        written(store, cancelPlan(store, reader, input, call), 'cancelled'),
      ),
    importIcs: (input, call) =>
      once('import', { ...input }, call, (store) =>
        importWritten(store, importPlan(store, input, reader), call.base, reader),
      ),
  };
};
