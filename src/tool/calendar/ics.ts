/** .ics text to entries. What is not understood is kept as it is; what is wrong is refused by line. */
import { createHash } from 'node:crypto';
import { type Entry, readEntry, type StoredJcal } from './entry.ts';
import { ComponentFault, refuse } from './fault.ts';
import {
  type Jcal,
  type JcalProperty,
  parameterOf,
  propertiesOf,
  textOf,
  valueText,
  withProperties,
} from './jcal.ts';
import { atLine, type IcsTree, readIcsTree } from './lines.ts';
import { boundsOf } from './occurrence.ts';
import { DAY_MS, parseDate } from './wall.ts';
import { sameClock, vtimezoneZone } from './vtimezone.ts';
import { findZone, namedZone } from './zone.ts';

/** VEVENTs of one file. */
const ICS_EVENTS_MAX = 5_000;
/** How far the time zones of a file are held against the IANA rules. */
const ZONE_YEARS = 12;
const YEAR_MS: number = 366 * DAY_MS;
const TIME_PROPERTIES: ReadonlySet<string> = new Set([
  'dtstart',
  'dtend',
  'rdate',
  'exdate',
  'recurrence-id',
]);

export type ImportedEntry = { readonly uid: string; readonly stored: StoredJcal; readonly entry: Entry };

export type ImportedFile = {
  readonly entries: readonly ImportedEntry[];
  /** Sentences about what was decided: zones, missing ids, components left out. */
  readonly notes: readonly string[];
};

/** A UID for an event that has none: the same for the same event, so that a second import changes nothing. */
const derivedUid = (event: Jcal): string => {
  const lasting = withProperties(event, ['dtstamp', 'created', 'last-modified'], []);
  return `${createHash('sha256').update(JSON.stringify(lasting)).digest('hex').slice(0, 24)}@onrecord`;
};

const isFloating = (property: JcalProperty): boolean =>
  TIME_PROPERTIES.has(property[0]) &&
  parameterOf(property, 'tzid') === undefined &&
  property
    .slice(3)
    .flat()
    .some((value) => /T[\d:]+$/.test(valueText(value)) && !valueText(value).startsWith('P'));

/** Names such as "/example.org/20050809/Europe/Berlin" end in the IANA name. */
const knownName = (tzid: string): string => {
  if (!tzid.startsWith('/')) return tzid;
  const parts = tzid.split('/');
  const names = [parts.slice(-3).join('/'), parts.slice(-2).join('/')];
  return names.find((name) => findZone(name) !== undefined) ?? tzid;
};

/** The event as it is kept: floating times get the zone, names of zones are brought to IANA where they hold one. */
const withZones = (event: Jcal, floating: string | undefined, kept: ReadonlyMap<string, Jcal>): Jcal => {
  const properties = event[1].map((property): JcalProperty => {
    if (!TIME_PROPERTIES.has(property[0])) return property;
    const [name, parameters, type, ...values] = property;
    const tzid = parameterOf(property, 'tzid');
    if (tzid !== undefined && !kept.has(tzid))
      return [name, { ...parameters, tzid: knownName(tzid) }, type, ...values];
    if (floating !== undefined && isFloating(property))
      return [name, { ...parameters, tzid: floating }, type, ...values];
    return property;
  });
  return [event[0], properties, event[2]];
};

type Draft = { uid: string; events: Jcal[]; origins: Jcal[]; timezones: Jcal[] };

/** The VTIMEZONEs of a file that have to be kept, because Intl does not know them or says something else. */
const keptTimezones = (calendar: Jcal, tree: IcsTree, notes: Set<string>): Map<string, Jcal> => {
  const kept = new Map<string, Jcal>();
  const starts = calendar[2]
    .flatMap((event) => propertiesOf(event, 'dtstart'))
    .map((property) => parseDate(valueText(property[3]).slice(0, 10)));
  const from = starts.reduce<number>(
    (least, start) => Math.min(least, start ?? least),
    Number.POSITIVE_INFINITY,
  );
  for (const component of calendar[2].filter(([name]) => name === 'vtimezone')) {
    const tzid = textOf(component, 'tzid');
    if (tzid === undefined) throw atLine(tree.lineOf(component), 'a VTIMEZONE has no TZID');
    const zone = lined(component, tree, () => vtimezoneZone(component, tzid));
    const known = findZone(knownName(tzid));
    if (
      known &&
      (!Number.isFinite(from) || sameClock(zone, known, from - 2 * DAY_MS, from + ZONE_YEARS * YEAR_MS))
    )
      continue;
    if (known)
      notes.add(`The rules of the file for "${tzid}" differ from the IANA ones. Those of the file are used.`);
    kept.set(tzid, component);
  }
  return kept;
};

const lined = <T>(component: Jcal, tree: IcsTree, read: () => T): T => {
  try {
    return read();
  } catch (fault) {
    if (!(fault instanceof ComponentFault)) throw fault;
    const line = tree.lineOf(component);
    const own =
      fault.property && component[1].includes(fault.property) ? tree.lineOf(fault.property) : undefined;
    const inner =
      fault.property && own === undefined
        ? component[2].find((child) => fault.property && child[1].includes(fault.property))
        : undefined;
    throw atLine(
      own ?? (inner && fault.property ? tree.lineOf(fault.property) : line),
      fault.message,
      fault.code,
    );
  }
};

const floatingZone = (calendar: Jcal, zone: string | undefined, notes: Set<string>): string | undefined => {
  if (zone !== undefined) return namedZone(zone).name;
  const named = textOf(calendar, 'x-wr-timezone');
  if (named === undefined || !findZone(named)) return undefined;
  notes.add(`Times without a zone are read in "${named}", as the file says (X-WR-TIMEZONE).`);
  return named;
};

const addEvents = (
  calendar: Jcal,
  tree: IcsTree,
  into: { drafts: Map<string, Draft>; notes: Set<string>; zone: string | undefined },
): void => {
  const { drafts, notes } = into;
  const kept = keptTimezones(calendar, tree, notes);
  const floating = floatingZone(calendar, into.zone, notes);
  const others = new Set<string>();
  for (const origin of calendar[2]) {
    if (origin[0] === 'vtimezone') continue;
    if (origin[0] !== 'vevent') {
      others.add(origin[0].toUpperCase());
      continue;
    }
    const bare = origin[1].find(isFloating);
    if (bare && floating === undefined)
      throw atLine(
        tree.lineOf(bare),
        `"${valueText(bare[3])}" has no zone. Give \`zone\` for times without one`,
        'zone-missing',
      );
    const given = textOf(origin, 'uid');
    const uid = given === undefined || given === '' ? derivedUid(origin) : given;
    if (given !== uid) notes.add('Events without a UID were given one made from their content.');
    const event = withZones(
      given === uid ? origin : withProperties(origin, [], [['uid', {}, 'text', uid]]),
      floating,
      kept,
    );
    const draft: Draft = drafts.get(uid) ?? { uid, events: [], origins: [], timezones: [] };
    draft.events.push(event);
    draft.origins.push(origin);
    const tzids = new Set(event[1].map((property) => parameterOf(property, 'tzid')));
    for (const [tzid, component] of kept)
      if (tzids.has(tzid) && !draft.timezones.includes(component)) draft.timezones.push(component);
    drafts.set(uid, draft);
  }
  if (others.size > 0) notes.add(`Left out, as only events are kept: ${[...others].join(', ')}.`);
};

const rank = (event: Jcal | undefined): number => (event ? Number(textOf(event, 'sequence') ?? 0) || 0 : -1);

/** Two VEVENTs for the same occurrence: the higher SEQUENCE counts, then the later in the file. */
const latestOnly = (draft: Draft): void => {
  const chosen = new Map<string, number>();
  for (const [at, event] of draft.events.entries()) {
    const id = JSON.stringify(textOf(event, 'recurrence-id') ?? null);
    const earlier = chosen.get(id);
    if (earlier === undefined || rank(event) >= rank(draft.events[earlier])) chosen.set(id, at);
  }
  const keep = new Set(chosen.values());
  draft.events = draft.events.filter((_, at) => keep.has(at));
  draft.origins = draft.origins.filter((_, at) => keep.has(at));
};

/** Which line of the file a fault of an entry belongs to. Values were carried over, so they are compared. */
const lineOfFault = (fault: ComponentFault, draft: Draft, tree: IcsTree): number => {
  const { property } = fault;
  const same = (one: JcalProperty): boolean =>
    property !== undefined &&
    one[0] === property[0] &&
    JSON.stringify(one.slice(3)) === JSON.stringify(property.slice(3));
  const found = draft.origins.flatMap((origin) => origin[1]).find(same);
  const begin =
    draft.origins.find((origin) => !origin[1].some(([name]) => name === 'dtstart')) ?? draft.origins[0];
  return found ? tree.lineOf(found) : begin ? tree.lineOf(begin) : 1;
};

/**
 * Reads a file. `zone` is for times that have none. Throws `ics-invalid`, `zone-unknown`, `zone-missing`,
 * `rule-invalid` and `rule-too-long`, each with the line, and `ics-too-large`.
 */
export const readIcs = (ics: string, zone?: string): ImportedFile => {
  const tree = readIcsTree(ics);
  const events = tree.calendars.flatMap((calendar) => calendar[2].filter(([name]) => name === 'vevent'));
  if (events.length > ICS_EVENTS_MAX)
    throw refuse(
      'ics-too-large',
      `The file has ${events.length} events; at most ${ICS_EVENTS_MAX} are read. Split it.`,
    );
  const drafts = new Map<string, Draft>();
  const notes = new Set<string>();
  for (const calendar of tree.calendars) addEvents(calendar, tree, { drafts, notes, zone });
  const entries = [...drafts.values()].map((draft): ImportedEntry => {
    latestOnly(draft);
    const stored: StoredJcal = { timezones: draft.timezones, events: draft.events };
    try {
      const entry = readEntry(draft.uid, 0, stored);
      boundsOf(entry);
      return { uid: draft.uid, stored, entry };
    } catch (fault) {
      if (!(fault instanceof ComponentFault)) throw fault;
      throw atLine(lineOfFault(fault, draft, tree), fault.message, fault.code);
    }
  });
  return { entries, notes: [...notes] };
};
