/** Time that is taken: overlaps of entries, and the gaps between them. */
import { ComponentFault } from './fault.ts';
import { inWindow, type Occurrence, occurrencesOf, sortInstant, type Window } from './occurrence.ts';
import type { StoredEntry } from './store.ts';
import { DAY_MS, dayOf, type Wall, weekdayOf } from './wall.ts';
import { utcAt, wallAt, type Zone } from './zone.ts';

export type Interval = { readonly start: number; readonly end: number };
export type Found = {
  readonly occurrences: Occurrence[];
  /** Entries that could not be read, each with the reason. */
  readonly problems: { readonly id: string; readonly reason: string }[];
};

/** All occurrences in a window, by time and then id. An entry that cannot be followed spoils no other. */
export const findOccurrences = (entries: readonly StoredEntry[], window: Window): Found => {
  const occurrences: Occurrence[] = [];
  const problems: Found['problems'] = [];
  for (const { entry } of entries)
    try {
      occurrences.push(...occurrencesOf(entry, window));
    } catch (fault) {
      if (!(fault instanceof ComponentFault)) throw fault;
      problems.push({ id: entry.uid, reason: fault.message });
    }
  const order = (found: Occurrence): number => sortInstant(found, window.zone);
  occurrences.sort(
    (a, b) =>
      order(a) - order(b) ||
      (a.kind === 'date' ? 0 : 1) - (b.kind === 'date' ? 0 : 1) ||
      (a.uid < b.uid ? -1 : 1),
  );
  return { occurrences, problems };
};

/** The time an occurrence takes for a reader in `zone`: an all-day entry takes its days there, the end not included. */
export const takenBy = (found: Occurrence, zone: Zone): Interval =>
  found.kind === 'time'
    ? { start: found.start, end: found.end }
    : { start: utcAt(found.start, zone).utc, end: utcAt(found.end, zone).utc };

const overlaps = (a: Occurrence, b: Occurrence, zone: Zone): boolean => {
  if (a.kind === 'date' && b.kind === 'date') return a.start < b.end && b.start < a.end;
  const [one, other] = [takenBy(a, zone), takenBy(b, zone)];
  return one.start < other.end && other.start < one.end;
};

/** Overlapping and touching intervals made one, in order. */
export const merged = (intervals: readonly Interval[]): Interval[] => {
  const out: { start: number; end: number }[] = [];
  for (const { start, end } of [...intervals].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else if (end > start) out.push({ start, end });
  }
  return out;
};

export type WorkingHours = {
  /** Milliseconds after local midnight. */
  readonly from: number;
  readonly to: number;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
};

/** The working hours of each local day in a window, as instants. */
export const workingIntervals = (hours: WorkingHours, window: Window): Interval[] => {
  const { zone, fromUtc, toUtc } = window;
  const out: Interval[] = [];
  const end: Wall = wallAt(toUtc, zone);
  for (let day = dayOf(wallAt(fromUtc, zone)); day < end; day += DAY_MS) {
    if (!hours.weekdays.has(weekdayOf(day))) continue;
    const start = Math.max(utcAt(day + hours.from, zone).utc, fromUtc);
    const stop = Math.min(utcAt(day + hours.to, zone).utc, toUtc);
    if (stop > start) out.push({ start, end: stop });
  }
  return out;
};

/** What is left of `open` when `taken` (merged) is cut out of it. */
export const gaps = (open: readonly Interval[], taken: readonly Interval[]): Interval[] =>
  open.flatMap(({ start, end }) => {
    const left: Interval[] = [];
    let at = start;
    for (const one of taken) {
      if (one.end <= at || one.start >= end) continue;
      if (one.start > at) left.push({ start: at, end: one.start });
      at = Math.max(at, one.end);
    }
    if (at < end) left.push({ start: at, end });
    return left;
  });

/** How far ahead a series is held against other entries. */
export const CONFLICT_DAYS_MAX = 366;
/** How many of its occurrences are. */
const CONFLICT_OCCURRENCES_MAX = 60;

/** Entries that take time in the window, free ones and `except` left out. */
const busyIn = (entries: readonly StoredEntry[], window: Window): Occurrence[] =>
  findOccurrences(entries, window).occurrences.filter(({ part }) => part.busy);

/**
 * What stands in the way of `wanted`, in order and each once. All-day entries are laid out in `zone`.
 * `between` reads the entries that may touch a span of time.
 */
export const conflictsWith = (
  wanted: readonly Occurrence[],
  zone: Zone,
  between: (fromUtc: number, toUtc: number) => StoredEntry[],
): Occurrence[] => {
  const held = wanted.filter(({ part }) => part.busy).slice(0, CONFLICT_OCCURRENCES_MAX);
  const taken = held.map((one) => takenBy(one, zone));
  const from = Math.min(...taken.map(({ start }) => start)) - DAY_MS;
  const to = Math.max(...taken.map(({ end }) => end)) + DAY_MS;
  if (held.length === 0) return [];
  const window: Window = { zone, fromUtc: from, toUtc: to };
  return busyIn(between(from, to), window).filter(
    (other) => inWindow(other, window) && held.some((one) => overlaps(one, other, zone)),
  );
};
