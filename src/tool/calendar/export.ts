/** Entries to .ics text, with a VTIMEZONE for every zone they use. */
import { type Entry, repeats, type StoredJcal } from './entry.ts';
import { refuse } from './fault.ts';
import { type Jcal, type JcalProperty, parameterOf, stringifyJcal, textOf } from './jcal.ts';
import { ICS_BYTES_MAX } from './lines.ts';
import { boundsOf } from './occurrence.ts';
import { DAY_MS } from './wall.ts';
import { vtimezoneOf } from './vtimezone.ts';
import { findZone } from './zone.ts';

const PRODID = '-//Onrecord//Calendar//EN';
/** How far the written rules of a zone reach past the start of a series. Their yearly tail goes on after that. */
const ZONE_REACH_MS: number = 12 * 366 * DAY_MS;

type Source = { readonly entry: Entry; readonly stored: StoredJcal };
type Reach = { readonly from: number; readonly to: number };

const tzidsOf = (events: readonly Jcal[]): Set<string> =>
  new Set(events.flatMap((event) => event[1]).flatMap((property) => parameterOf(property, 'tzid') ?? []));

const renamed = (event: Jcal, names: ReadonlyMap<string, string>): Jcal => [
  event[0],
  event[1].map((property): JcalProperty => {
    const name = names.get(parameterOf(property, 'tzid') ?? '');
    if (name === undefined) return property;
    const [kind, parameters, type, ...values] = property;
    return [kind, { ...parameters, tzid: name }, type, ...values];
  }),
  event[2],
];

/** The time zones of a file under construction. Two with one name and other rules get two names. */
class TimezoneTable {
  private readonly kept = new Map<string, Jcal>();
  private readonly known = new Map<string, Reach>();

  /** A zone that Intl knows, to be written for at least this span of time. */
  addKnown(tzid: string, { from, to }: Reach): void {
    const reach = this.known.get(tzid);
    this.known.set(tzid, { from: Math.min(from, reach?.from ?? from), to: Math.max(to, reach?.to ?? to) });
  }

  /** A component that came with a file. Returns the name it has in this one. */
  addKept(timezone: Jcal): string {
    const given = textOf(timezone, 'tzid') ?? '';
    const text = JSON.stringify(timezone);
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? given : `${given} (${number})`;
      const taken = this.kept.get(name);
      if (taken === undefined && !this.known.has(name)) this.kept.set(name, timezone);
      if (this.kept.has(name) && (taken === undefined || JSON.stringify(taken) === text)) return name;
    }
  }

  components(): Jcal[] {
    const written = new Map<string, Jcal>();
    for (const [name, [kind, properties, blocks]] of this.kept) {
      const rest = properties.filter(([property]) => property !== 'tzid');
      written.set(name, [kind, [['tzid', {}, 'text', name], ...rest], blocks]);
    }
    for (const [tzid, { from, to }] of this.known) {
      const zone = findZone(tzid);
      if (zone) written.set(tzid, vtimezoneOf({ ...zone, name: tzid }, from, to));
    }
    return [...written].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component);
  }
}

const reachOf = (entry: Entry): Reach => {
  const { first, last } = boundsOf(entry);
  const far = first + ZONE_REACH_MS;
  return { from: first, to: Math.max(last ?? far, repeats(entry) ? far : first) };
};

/** Writes entries as one file. Throws `ics-too-large`. */
export const writeIcs = (entries: readonly Source[]): string => {
  const table = new TimezoneTable();
  const ownNames = ({ stored }: Source): Set<string> =>
    new Set(stored.timezones.map((timezone) => textOf(timezone, 'tzid') ?? ''));
  for (const source of entries) {
    const own = ownNames(source);
    for (const tzid of tzidsOf(source.stored.events))
      if (!own.has(tzid)) table.addKnown(tzid, reachOf(source.entry));
  }
  const events = entries.flatMap(({ stored }) => {
    const names = new Map(
      stored.timezones.map((timezone) => [textOf(timezone, 'tzid') ?? '', table.addKept(timezone)]),
    );
    return stored.events.map((event) => renamed(event, names));
  });
  const head: JcalProperty[] = [
    ['version', {}, 'text', '2.0'],
    ['prodid', {}, 'text', PRODID],
    ['calscale', {}, 'text', 'GREGORIAN'],
  ];
  const ics = `${stringifyJcal(['vcalendar', head, [...table.components(), ...events]])}\r\n`;
  const bytes = Buffer.byteLength(ics);
  if (bytes > ICS_BYTES_MAX)
    throw refuse(
      'ics-too-large',
      `The export would have ${bytes} bytes; at most ${ICS_BYTES_MAX} are written. Name fewer entries.`,
    );
  return ics;
};
