/**
 * Occurrences of an entry within a window. Rules are walked in the wall-clock time of the event's own zone
 * and only then turned into instants; all-day entries are dates all the way.
 */
import { ComponentFault } from './fault.ts';
import type { Entry, Moment, Part, Series, Span } from './entry.ts';
import type { Rule } from './rule.ts';
import { ruleWalls } from './walk.ts';
import { DAY_MS, dateText, dayOf, utcText, type Wall } from './wall.ts';
import { utcAt, wallAt, type Zone } from './zone.ts';

/** What a reader looks at: instants for timed entries, and the same as days in the reader's zone. */
export type Window = {
  readonly zone: Zone;
  readonly fromUtc: number;
  /** Exclusive. */
  readonly toUtc: number;
};

type Common = {
  readonly uid: string;
  readonly version: number;
  readonly part: Part;
  /** Names this occurrence of a repeating entry: its original start as UTC, or as a date. */
  readonly key: string | undefined;
  /** Said where a local time had to be decided (skipped or doubled hour). */
  readonly notes: readonly string[];
};

export type Occurrence = Common &
  (
    | { readonly kind: 'date'; readonly start: Wall; /** Exclusive. */ readonly end: Wall }
    | {
        readonly kind: 'time';
        readonly start: number;
        readonly end: number;
        /** The zone the event is kept in. */
        readonly zone: Zone;
      }
  );

/** Wall clocks on earth are at most this far from UTC, and two readings of one instant twice as far apart. */
const WALL_SLACK_MS: number = 2 * DAY_MS;

const windowDays = (window: Window): { first: Wall; end: Wall } => {
  const last = wallAt(window.toUtc, window.zone);
  return { first: dayOf(wallAt(window.fromUtc, window.zone)), end: dayOf(last + DAY_MS - 1) };
};

/** Whether it touches the window. An entry without length is in it from its start on. */
export const inWindow = (found: Occurrence, window: Window): boolean => {
  const { first, end } =
    found.kind === 'date' ? windowDays(window) : { first: window.fromUtc, end: window.toUtc };
  return found.start < end && (found.end > first || (found.end === found.start && found.start >= first));
};

/** The same place in a list for every reader: dates come at their midnight in the reader's zone. */
export const sortInstant = (found: Occurrence, zone: Zone): number =>
  found.kind === 'time' ? found.start : utcAt(found.start, zone).utc;

const keyOf = (moment: Moment): string =>
  moment.kind === 'date' ? dateText(moment.wall) : utcText(utcAt(moment.wall, moment.zone).utc);

const placed = (
  entry: Entry,
  part: Part,
  at: { moment: Moment; span: Span; key: string | undefined },
): Occurrence => {
  const { moment, span, key } = at;
  const common = { uid: entry.uid, version: entry.version, part, key };
  if (moment.kind === 'date')
    return {
      ...common,
      kind: 'date',
      start: moment.wall,
      end: moment.wall + span.days * DAY_MS + dayOf(span.ms),
      notes: [],
    };
  const start = utcAt(moment.wall, moment.zone);
  const end =
    span.days === 0
      ? start.utc + span.ms
      : utcAt(wallAt(start.utc, moment.zone) + span.days * DAY_MS, moment.zone).utc + span.ms;
  const notes = start.note === undefined ? [] : [start.note];
  return { ...common, kind: 'time', start: start.utc, end, zone: moment.zone, notes };
};

const beyondUntil = (rule: Rule, moment: Moment): boolean => {
  const { until } = rule;
  if (!until) return false;
  switch (until.kind) {
    case 'date':
      return dayOf(moment.wall) > until.day;
    case 'wall':
      return moment.kind === 'date' ? moment.wall > dayOf(until.wall) : moment.wall > until.wall;
    case 'utc':
      return moment.kind === 'date'
        ? moment.wall > dayOf(until.utc)
        : utcAt(moment.wall, moment.zone).utc > until.utc;
    default:
      return until satisfies never;
  }
};

/** Names everything that EXDATE leaves out. A date leaves out the whole day, as some programs write it. */
const leftOut = (series: Series): ((moment: Moment) => boolean) => {
  const keys = new Set(series.left.map(keyOf));
  return (moment) => keys.size > 0 && (keys.has(keyOf(moment)) || keys.has(dateText(moment.wall)));
};

const atWall = (start: Moment, wall: Wall): Moment =>
  start.kind === 'date' ? { kind: 'date', wall } : { kind: 'time', wall, zone: start.zone };

/** Starts of the series as its rules and dates give them, in no order, without those left out. */
function* seriesStarts(
  entry: Entry,
  master: Part,
  span: { from: Wall; to: Wall },
): Generator<{ moment: Moment; span: Span }> {
  const { series } = entry;
  const isLeftOut = leftOut(series);
  if (series.rules.length === 0 && !isLeftOut(master.start))
    yield { moment: master.start, span: master.span };
  for (const rule of series.rules)
    for (const wall of ruleWalls(rule, master.start.wall, span.from)) {
      const moment = atWall(master.start, wall);
      if (wall > span.to || beyondUntil(rule, moment)) break;
      if (!isLeftOut(moment)) yield { moment, span: master.span };
    }
  for (const { moment, span: own } of series.added)
    if (!isLeftOut(moment)) yield { moment, span: own ?? master.span };
}

const lengthMs = (span: Span): number => span.days * DAY_MS + span.ms;

type Override = {
  readonly part: Part;
  readonly key: string;
  readonly moment: Moment;
  readonly onward: boolean;
};

const overridesOf = (entry: Entry): Override[] =>
  entry.overrides.flatMap((part) =>
    part.replaces
      ? [
          {
            part,
            key: keyOf(part.replaces.moment),
            moment: part.replaces.moment,
            onward: part.replaces.onward,
          },
        ]
      : [],
  );

/** How far, in wall-clock time, an override carries its occurrence away. */
const shiftOf = ({ part, moment }: Override): number => part.start.wall - moment.wall;

/** The override for "this and all later ones" that an occurrence falls under. */
const carrierOf = (entry: Entry, moment: Moment): Override | undefined => {
  const onward = overridesOf(entry).filter((one) => one.onward && one.moment.wall <= moment.wall);
  return onward.sort((a, b) => a.moment.wall - b.moment.wall).at(-1);
};

/** How far such overrides may carry an occurrence, its length included. */
const carriedMs = (entry: Entry): number =>
  Math.max(
    0,
    ...overridesOf(entry)
      .filter(({ onward }) => onward)
      .map((one) => Math.abs(shiftOf(one)) + lengthMs(one.part.span)),
  );

type Raw = { moment: Moment; span: Span; key: string | undefined; from: Override | undefined };

const carried = (entry: Entry, master: Part, { moment, span, key, from }: Raw): Occurrence =>
  from
    ? placed(entry, from.part, {
        moment: atWall(from.part.start, moment.wall + shiftOf(from)),
        span: from.part.span,
        key,
      })
    : placed(entry, master, { moment, span, key });

/**
 * Every occurrence that touches the window, the cancelled ones left out, in no order. Throws ComponentFault
 * (`rule-invalid`, `rule-too-long`) where a rule cannot be followed.
 */
export function* occurrencesOf(entry: Entry, window: Window): Generator<Occurrence, void, undefined> {
  const { master } = entry;
  const overrides = overridesOf(entry);
  for (const { part, key } of overrides) {
    const found = placed(entry, part, { moment: part.start, span: part.span, key });
    if (!part.cancelled && inWindow(found, window)) yield found;
  }
  if (!master || master.cancelled) return;
  const replaced = new Set(overrides.map(({ key }) => key));
  const slack = WALL_SLACK_MS + lengthMs(master.span) + carriedMs(entry);
  const seen = new Set<string>();
  const repeating = entry.series.rules.length > 0 || entry.series.added.length > 0;
  const reach = { from: window.fromUtc - slack, to: window.toUtc + slack };
  for (const { moment, span } of seriesStarts(entry, master, reach)) {
    const key = keyOf(moment);
    if (seen.has(key) || replaced.has(key) || replaced.has(dateText(moment.wall))) continue;
    seen.add(key);
    const from = carrierOf(entry, moment);
    if (from?.part.cancelled) continue;
    const found = carried(entry, master, { moment, span, key: repeating ? key : undefined, from });
    if (inWindow(found, window)) yield found;
  }
}

/**
 * The occurrence that a key names, with its moment in the series as the event writes it; undefined where the
 * entry has none. A cancelled occurrence is none.
 */
export const occurrenceOfKey = (
  entry: Entry,
  key: string,
): { found: Occurrence; moment: Moment } | undefined => {
  const around = Date.parse(key.length === 10 ? `${key}T00:00:00Z` : key);
  if (!Number.isFinite(around)) return undefined;
  const override = overridesOf(entry).find((one) => one.key === key);
  if (override) {
    const { part, moment } = override;
    return part.cancelled
      ? undefined
      : { found: placed(entry, part, { moment: part.start, span: part.span, key }), moment };
  }
  const { master } = entry;
  if (!master || master.cancelled) return undefined;
  const reach = { from: around - WALL_SLACK_MS, to: around + WALL_SLACK_MS };
  for (const { moment, span } of seriesStarts(entry, master, reach)) {
    if (keyOf(moment) !== key) continue;
    const from = carrierOf(entry, moment);
    if (from?.part.cancelled) return undefined;
    return { found: carried(entry, master, { moment, span, key, from }), moment };
  }
  return undefined;
};

/**
 * A span of time outside which the entry has no occurrence, in UTC milliseconds, wide enough for every
 * reader's zone; `last` is undefined for a series without end.
 */
export const boundsOf = (entry: Entry): { first: number; last: number | undefined } => {
  const starts: { moment: Moment; span: Span }[] = entry.overrides.map((part) => ({
    moment: part.start,
    span: part.span,
  }));
  const endless = entry.series.rules.some((rule) => rule.count === undefined && rule.until === undefined);
  if (entry.master) {
    const reach = {
      from: Number.NEGATIVE_INFINITY,
      to: endless ? entry.master.start.wall : Number.POSITIVE_INFINITY,
    };
    for (const one of seriesStarts(entry, entry.master, reach)) starts.push(one);
  }
  if (starts.length === 0) throw new ComponentFault('The entry has no occurrence at all', undefined);
  const shift = carriedMs(entry);
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { moment, span } of starts) {
    first = Math.min(first, moment.wall);
    last = Math.max(last, moment.wall + lengthMs(span));
  }
  return {
    first: first - WALL_SLACK_MS - shift,
    last: endless ? undefined : last + WALL_SLACK_MS + shift,
  };
};
