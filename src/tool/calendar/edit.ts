/**
 * Changes to an entry, as pure functions from components to components: create, move, cancel. What an edit
 * does not name stays as it is, properties of other programs included.
 */
import { type Entry, type Moment, type Part, readEntry, repeats, type StoredJcal } from './entry.ts';
import { ComponentFault, refuse } from './fault.ts';
import {
  type Jcal,
  type JcalProperty,
  type JcalValue,
  parseLine,
  propertiesOf,
  withProperties,
} from './jcal.ts';
import { type Occurrence, occurrenceOfKey, occurrencesOf } from './occurrence.ts';
import type { Rule } from './rule.ts';
import type { StoredEntry } from './store.ts';
import type { Times } from './times.ts';
import { DAY_MS, dateText, dayOf, parseDate, parseDateTime, utcText, type Wall } from './wall.ts';
import { UTC, utcAt, wallAt, type Zone } from './zone.ts';

/** What an edit leads to: the entry as it will be, and the occurrence a person is shown. */
export type Edit = {
  readonly uid: string;
  readonly stored: StoredJcal;
  readonly entry: Entry;
  readonly before: Occurrence | undefined;
  readonly after: Occurrence | undefined;
  readonly notes: readonly string[];
};

export type Details = {
  readonly title: string;
  readonly where?: string | undefined;
  readonly notes?: string | undefined;
  /** An RRULE: "FREQ=WEEKLY;COUNT=10". */
  readonly repeats?: string | undefined;
};

const wallText = (wall: Wall): string => new Date(wall).toISOString().slice(0, 19);

const momentValue = (moment: Moment): string => {
  if (moment.kind === 'date') return dateText(moment.wall);
  return `${wallText(moment.wall)}${moment.zone === UTC ? 'Z' : ''}`;
};

const momentProperty = (name: string, moment: Moment): JcalProperty => [
  name,
  moment.kind === 'time' && moment.zone !== UTC ? { tzid: moment.zone.name } : {},
  moment.kind === 'date' ? 'date' : 'date-time',
  momentValue(moment),
];

const stamp = (name: string, nowMs: number): JcalProperty => [name, {}, 'date-time', utcText(nowMs)];

/** Reads a value that a model gave; a fault in it is a refusal with its own code. */
const refusing = <T>(read: () => T): T => {
  try {
    return read();
  } catch (fault) {
    if (!(fault instanceof ComponentFault)) throw fault;
    throw refuse(
      fault.code === 'ics-invalid' ? 'time-invalid' : fault.code,
      `${fault.message}. Nothing was written.`,
    );
  }
};

const ruleProperty = (text: string): JcalProperty => {
  const wrong = (why: string): ComponentFault =>
    new ComponentFault(`The rule "${text.slice(0, 100)}" ${why}`, undefined, 'rule-invalid');
  const bare = text.replace(/^RRULE:/i, '');
  if (!/^[A-Za-z0-9=;,:+-]+$/.test(bare)) throw wrong('is no RRULE such as "FREQ=WEEKLY;COUNT=10"');
  try {
    return parseLine(`RRULE:${bare.toUpperCase()}`);
  } catch (cause) {
    throw wrong(`cannot be read (${cause instanceof Error ? cause.message : 'no reason'})`);
  }
};

const firstOccurrence = (entry: Entry): Occurrence | undefined => {
  const start = entry.master?.start;
  if (!start) return undefined;
  const window = { zone: UTC, fromUtc: start.wall - 2 * DAY_MS, toUtc: start.wall + 3 * DAY_MS };
  return [...occurrencesOf(entry, window)].sort((a, b) => a.start - b.start)[0];
};

const textProperty = (name: string, value: string | undefined): JcalProperty[] =>
  value === undefined || value === '' ? [] : [[name, {}, 'text', value]];

export const createEdit = (uid: string, details: Details, times: Times, nowMs: number): Edit =>
  refusing(() => {
    const event: Jcal = [
      'vevent',
      [
        ['uid', {}, 'text', uid],
        stamp('dtstamp', nowMs),
        stamp('created', nowMs),
        momentProperty('dtstart', times.start),
        momentProperty('dtend', times.end),
        ...textProperty('summary', details.title),
        ...textProperty('location', details.where),
        ...textProperty('description', details.notes),
        ...(details.repeats === undefined ? [] : [ruleProperty(details.repeats)]),
        ['sequence', {}, 'integer', 0],
      ],
      [],
    ];
    const stored: StoredJcal = { timezones: [], events: [event] };
    const entry = readEntry(uid, 0, stored);
    const after = firstOccurrence(entry);
    if (!after)
      throw new ComponentFault(
        'The entry would have no occurrence; its rule ends before its start',
        undefined,
        'rule-invalid',
      );
    return { uid, stored, entry, before: undefined, after, notes: times.notes };
  });

/** Which part of an entry a call means. */
export type Scope =
  | { readonly kind: 'whole'; readonly before: Occurrence }
  | { readonly kind: 'one'; readonly before: Occurrence; readonly moment: Moment };

/**
 * Finds what `occurrence` names: nothing or "all" for an entry that does not repeat, "all" or the key of an
 * occurrence for one that does. Throws `entry-not-found`, `occurrence-missing` and `occurrence-not-found`.
 */
export const scopeOf = (
  id: string,
  known: StoredEntry | undefined,
  occurrence: string | undefined,
): Scope => {
  const entry = known?.entry;
  const gone =
    !entry || (entry.master ? entry.master.cancelled : entry.overrides.every((part) => part.cancelled));
  if (!entry || gone)
    throw refuse(
      'entry-not-found',
      `There is no entry with the id "${id.slice(0, 200)}", or it was cancelled. List the entries to see the ids.`,
    );
  const series = repeats(entry) || !entry.master;
  if (series && occurrence === undefined)
    throw refuse(
      'occurrence-missing',
      `The entry "${id}" repeats. Give \`occurrence\` as the list shows it, or "all".`,
    );
  const first = refusing(() => firstOccurrence(entry));
  if (entry.master && (occurrence === 'all' || (!series && occurrence === undefined))) {
    if (first) return { kind: 'whole', before: first };
    const { start } = entry.master;
    throw refuse(
      'occurrence-not-found',
      `The first occurrence of "${id}" (${dateText(start.wall)}) was left out. Name one occurrence.`,
    );
  }
  const named = refusing(() => occurrenceOfKey(entry, occurrence ?? ''));
  if (!named)
    throw refuse(
      'occurrence-not-found',
      `The entry "${id}" has no occurrence "${(occurrence ?? '').slice(0, 60)}". Give it as the list shows it.`,
    );
  return series
    ? { kind: 'one', before: named.found, moment: named.moment }
    : { kind: 'whole', before: named.found };
};

const touched = (event: Jcal, nowMs: number): JcalProperty[] => [
  ['sequence', {}, 'integer', (Number(propertiesOf(event, 'sequence')[0]?.[3]) || 0) + 1],
  stamp('last-modified', nowMs),
  stamp('dtstamp', nowMs),
];

const sameKind = (part: Part, times: Times): void => {
  if (part.start.kind === times.start.kind) return;
  throw refuse(
    'time-invalid',
    part.start.kind === 'date'
      ? 'The entry is all-day. Give `start` as a date such as "2026-07-01".'
      : 'The entry has a time. Give `start` with a time such as "2026-07-01T09:00".',
  );
};

const carriesLater = (part: Part): void => {
  if (part.replaces?.onward)
    throw refuse(
      'series-move-unsupported',
      'The series was changed from one occurrence on, and this one belongs to that change. Cancel the series and create a new one.',
    );
};

const replacedEvents = (events: readonly Jcal[], old: Jcal | undefined, put: readonly Jcal[]): Jcal[] => [
  ...events.filter((event) => event !== old),
  ...put,
];

const RULE_PROPERTIES = ['rrule', 'rdate', 'exdate', 'exrule'];

const moveOne = (
  stored: StoredJcal,
  part: Part,
  moment: Moment,
  change: { times: Times; nowMs: number },
): StoredJcal => {
  carriesLater(part);
  const own = part.replaces ? part.jcal : undefined;
  const event = withProperties(
    part.jcal,
    [...RULE_PROPERTIES, 'duration'],
    [
      momentProperty('recurrence-id', moment),
      momentProperty('dtstart', change.times.start),
      momentProperty('dtend', change.times.end),
      ...touched(part.jcal, change.nowMs),
    ],
  );
  return { ...stored, events: replacedEvents(stored.events, own, [event]) };
};

const shiftText = (text: string, shift: number): string => {
  const zulu = text.endsWith('Z');
  const day = parseDate(text);
  if (day !== undefined) return dateText(day + dayOf(shift));
  const wall = parseDateTime(text.replace(/Z$/, ''));
  return wall === undefined ? text : `${wallText(wall + shift)}${zulu ? 'Z' : ''}`;
};

/** A value written in another zone than the series is moved by reading it in that of the series. */
const shiftMoments = (property: JcalProperty, shift: number): JcalProperty => {
  const [name, parameters, type, ...values] = property;
  return [
    name,
    parameters,
    type,
    ...values.map((value) => (typeof value === 'string' ? shiftText(value, shift) : value)),
  ];
};

/** UNTIL is moved with the series in the wall clock of its zone, so that the last occurrence stays in it. */
const shiftUntil = (rule: Rule, zone: Zone, shift: number): JcalProperty => {
  const [name, parameters, type, value] = rule.property;
  const { until } = rule;
  if (!until || typeof value !== 'object' || Array.isArray(value)) return rule.property;
  const moved =
    until.kind === 'utc'
      ? utcText(utcAt(wallAt(until.utc, zone) + shift, zone).utc)
      : shiftText(until.kind === 'date' ? dateText(until.day) : wallText(until.wall), shift);
  return [name, parameters, type, { ...(value as { readonly [key: string]: JcalValue }), until: moved }];
};

const moveSeries = (known: StoredEntry, master: Part, times: Times, nowMs: number): StoredJcal => {
  const { entry, stored } = known;
  const zone = master.start.kind === 'time' ? master.start.zone : UTC;
  const start =
    times.start.kind === 'time'
      ? wallAt(utcAt(times.start.wall, times.start.zone).utc, zone)
      : times.start.wall;
  const shift = start - master.start.wall;
  const bound = entry.series.rules.some(
    ({ by, byday }) => byday !== undefined || Object.keys(by).some((part) => part !== 'bysetpos'),
  );
  const others =
    entry.overrides.length > 0 ||
    entry.series.added.length > 0 ||
    entry.series.left.some(
      (moment) =>
        moment.kind !== master.start.kind || (moment.kind === 'time' && moment.zone.name !== zone.name),
    );
  if (bound && dayOf(start) !== dayOf(master.start.wall))
    throw refuse(
      'series-move-unsupported',
      'The rule of this series names its days, so the series cannot move to another day. Cancel it and create a new one.',
    );
  if (others)
    throw refuse(
      'series-move-unsupported',
      'Some occurrences of this series were moved or added one by one. Move single occurrences, or cancel the series and create a new one.',
    );
  const end: Moment =
    times.end.kind === 'time'
      ? { kind: 'time', wall: wallAt(utcAt(times.end.wall, times.end.zone).utc, zone), zone }
      : times.end;
  const begin: Moment =
    master.start.kind === 'time' ? { kind: 'time', wall: start, zone } : { kind: 'date', wall: start };
  const kept = master.jcal[1]
    .filter(([name]) => name !== 'rrule')
    .map((property) => (property[0] === 'exdate' ? shiftMoments(property, shift) : property));
  const event = withProperties(
    [master.jcal[0], kept, master.jcal[2]],
    ['duration'],
    [
      momentProperty('dtstart', begin),
      momentProperty('dtend', end),
      ...entry.series.rules.map((rule) => shiftUntil(rule, zone, shift)),
      ...touched(master.jcal, nowMs),
    ],
  );
  return { ...stored, events: replacedEvents(stored.events, master.jcal, [event]) };
};

/** Moves an entry, a series, or one occurrence of it. */
export const moveEdit = (known: StoredEntry, scope: Scope, times: Times, nowMs: number): Edit => {
  const { entry, stored } = known;
  const { uid } = entry;
  sameKind(scope.before.part, times);
  return refusing(() => {
    const next =
      scope.kind === 'one'
        ? moveOne(stored, scope.before.part, scope.moment, { times, nowMs })
        : moveSeries(known, scope.before.part, times, nowMs);
    const changed = readEntry(uid, entry.version + 1, next);
    const after =
      scope.kind === 'one'
        ? occurrenceOfKey(changed, scope.before.key ?? '')?.found
        : firstOccurrence(changed);
    return { uid, stored: next, entry: changed, before: scope.before, after, notes: times.notes };
  });
};

const CANCELLED: JcalProperty = ['status', {}, 'text', 'CANCELLED'];

/** Cancels an entry or a series (it stays in the file, marked), or leaves one occurrence out of its series. */
export const cancelEdit = (known: StoredEntry, scope: Scope, nowMs: number): Edit => {
  const { entry, stored } = known;
  const { uid } = entry;
  const done = (events: Jcal[]): Edit => {
    const next = { ...stored, events };
    const changed = readEntry(uid, entry.version + 1, next);
    return { uid, stored: next, entry: changed, before: scope.before, after: undefined, notes: [] };
  };
  const cancelled = (event: Jcal): Jcal => withProperties(event, [], [CANCELLED, ...touched(event, nowMs)]);
  const { master } = entry;
  if (scope.kind === 'whole') return done(stored.events.map(cancelled));
  const { part } = scope.before;
  const own = part.replaces && keyIsOwn(scope) ? part : undefined;
  if (own) carriesLater(own);
  if (!master) return done(stored.events.map((event) => (event === part.jcal ? cancelled(event) : event)));
  const left = withProperties(master.jcal, [], touched(master.jcal, nowMs));
  left[1].push(momentProperty('exdate', scope.moment));
  return done(
    stored.events
      .filter((event) => event !== own?.jcal)
      .map((event) => (event === master.jcal ? left : event)),
  );
};

/** Whether the part was written for this very occurrence, and not for an earlier one that carries it. */
const keyIsOwn = ({ before, moment }: Extract<Scope, { kind: 'one' }>): boolean => {
  const replaced = before.part.replaces?.moment;
  return replaced !== undefined && replaced.wall === moment.wall;
};
