/**
 * VTIMEZONE both ways: a zone from the component of a file, and a component from a zone that Intl knows.
 */
import { ComponentFault } from './fault.ts';
import { type Jcal, type JcalProperty, type JcalValue, propertiesOf, propertyOf, valueText } from './jcal.ts';
import { readRule } from './rule.ts';
import { ruleWalls } from './walk.ts';
import {
  DAY_MS,
  dayOf,
  MINUTE_MS,
  offsetText,
  parseDateTime,
  type Wall,
  weekdayOf,
  YEAR_LAST,
} from './wall.ts';
import type { Zone } from './zone.ts';

type Transition = { readonly utc: number; readonly from: number; readonly to: number };

const readOffset = (component: Jcal, name: string): number => {
  const property = propertyOf(component, name);
  const [, sign, hours, minutes, seconds] =
    /^([+-])(\d\d):?(\d\d):?(\d\d)?$/.exec(valueText(property?.[3])) ?? [];
  if (sign === undefined || !property)
    throw new ComponentFault(`A VTIMEZONE has no valid ${name.toUpperCase()}`, property);
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
  return (sign === '-' ? -total : total) * 1000;
};

const END_OF_TIME = Date.UTC(YEAR_LAST, 11, 31);

/** The changes of one STANDARD or DAYLIGHT block. Its times are read with the offset before the change. */
const observance = (component: Jcal): Transition[] => {
  const from = readOffset(component, 'tzoffsetfrom');
  const to = readOffset(component, 'tzoffsetto');
  const begin = propertyOf(component, 'dtstart');
  const start = begin && parseDateTime(valueText(begin[3]));
  // Windows dates the first rule 1601. No event before 1800 is read, so any year about then will do.
  const first = start ?? (begin && earlyStart(valueText(begin[3])));
  if (first === undefined) throw new ComponentFault('A block of a VTIMEZONE has no valid DTSTART', begin);
  const walls = new Set<Wall>([first]);
  for (const property of propertiesOf(component, 'rdate'))
    for (const value of property.slice(3)) {
      const wall = parseDateTime(
        valueText(Array.isArray(value) ? (value[0] as JcalValue) : value).replace(/Z$/, ''),
      );
      if (wall === undefined) throw new ComponentFault('An RDATE of a VTIMEZONE is no time', property);
      walls.add(wall);
    }
  for (const property of propertiesOf(component, 'rrule')) {
    const rule = readRule(property);
    const { until } = rule;
    const last =
      until?.kind === 'utc'
        ? until.utc + from
        : until?.kind === 'wall'
          ? until.wall
          : (until?.day ?? END_OF_TIME) + DAY_MS;
    for (const wall of ruleWalls(rule, first, first)) {
      if (wall > last) break;
      walls.add(wall);
    }
  }
  return [...walls].map((wall) => ({ utc: wall - from, from, to }));
};

/** "1601-03-01T02:00:00", as Windows writes it, moved to 1801. */
const earlyStart = (text: string): Wall | undefined => {
  const [, rest] = /^1[67]\d\d(-\d\d-\d\dT\d\d:\d\d:\d\d)$/.exec(text) ?? [];
  return rest === undefined ? undefined : parseDateTime(`1801${rest}`);
};

const ZONES_CACHED_MAX = 100;
const zones = new Map<string, Zone>();

/** The zone that a VTIMEZONE describes. Throws ComponentFault. */
export const vtimezoneZone = (component: Jcal, name: string): Zone => {
  // Entries are read anew for each operation, and a zone costs some thousand dates.
  const key = JSON.stringify([name, component]);
  const known = zones.get(key) ?? readZone(component, name);
  if (zones.size >= ZONES_CACHED_MAX) zones.clear();
  zones.set(key, known);
  return known;
};

const readZone = (component: Jcal, name: string): Zone => {
  const blocks = component[2].filter(([kind]) => kind === 'standard' || kind === 'daylight');
  if (blocks.length === 0)
    throw new ComponentFault(`The VTIMEZONE "${name}" has no rules`, propertyOf(component, 'tzid'));
  const changes = blocks.flatMap(observance).sort((a, b) => a.utc - b.utc);
  const before = changes[0]?.from ?? 0;
  return {
    name,
    offsetAt: (utc) => {
      let low = 0;
      let high = changes.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((changes[middle]?.utc ?? 0) <= utc) low = middle + 1;
        else high = middle;
      }
      return low === 0 ? before : (changes[low - 1]?.to ?? before);
    },
  };
};

/** No zone in the IANA data has changed and changed back within this time since 1900. */
const PROBE_MS: number = 7 * DAY_MS;

/** All changes of offset in a span of time, found by probing and halving. */
const transitionsOf = (zone: Zone, fromUtc: number, toUtc: number): Transition[] => {
  const found: Transition[] = [];
  let left = fromUtc;
  let offset = zone.offsetAt(left);
  while (left < toUtc) {
    const right = Math.min(left + PROBE_MS, toUtc);
    const next = zone.offsetAt(right);
    if (next !== offset) {
      let low = left;
      let high = right;
      while (high - low > 1000) {
        const middle = low + Math.floor((high - low) / 2000) * 1000;
        if (middle === low) break;
        if (zone.offsetAt(middle) === offset) low = middle;
        else high = middle;
      }
      found.push({ utc: high, from: offset, to: zone.offsetAt(high) });
    }
    offset = next;
    left = right;
  }
  return found;
};

/** Whether two zones read the same wall clock all through a span of time. */
export const sameClock = (a: Zone, b: Zone, fromUtc: number, toUtc: number): boolean => {
  if (a.offsetAt(fromUtc) !== b.offsetAt(fromUtc)) return false;
  const ours = transitionsOf(a, fromUtc, toUtc);
  const theirs = transitionsOf(b, fromUtc, toUtc);
  return (
    ours.length === theirs.length &&
    ours.every((change, at) => change.utc === theirs[at]?.utc && change.to === theirs[at]?.to)
  );
};

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** The wall-clock time of a change, read with the offset before it. */
const changeWall = ({ utc, from }: Transition): Wall => utc + from;

const icalText = (wall: Wall): string => new Date(wall).toISOString().slice(0, 19);

/** "the last Sunday of March", as the parts of a yearly rule; `last` where the month has no such day a week later. */
const yearlyRule = (wall: Wall, last: boolean): { bymonth: number; byday: string } => {
  const date = new Date(wall);
  const weekday = DAYS[weekdayOf(wall)] ?? 'SU';
  return {
    bymonth: date.getUTCMonth() + 1,
    byday: last ? `-1${weekday}` : `${Math.ceil(date.getUTCDate() / 7)}${weekday}`,
  };
};

const isLastWeek = (wall: Wall): boolean =>
  new Date(wall).getUTCMonth() !== new Date(wall + 7 * DAY_MS).getUTCMonth();

/** Years at the end of the probed span that have to follow one rule before it is written for good. */
const TAIL_YEARS = 8;

/** A yearly rule that all these changes follow, one a year; undefined where there is none. */
const tailRule = (tail: readonly Transition[]): { bymonth: number; byday: string } | undefined => {
  const walls = tail.map(changeWall);
  const first = walls[0];
  if (first === undefined || walls.length !== TAIL_YEARS) return undefined;
  const rule = yearlyRule(first, walls.every(isLastWeek));
  const timeOfDay = first - dayOf(first);
  const same = walls.every((wall) => {
    const own = yearlyRule(wall, rule.byday.startsWith('-'));
    return own.bymonth === rule.bymonth && own.byday === rule.byday && wall - dayOf(wall) === timeOfDay;
  });
  return same ? rule : undefined;
};

const block = (kind: 'standard' | 'daylight', change: Transition, more: JcalProperty[]): Jcal => [
  kind,
  [
    ['dtstart', {}, 'date-time', icalText(changeWall(change))],
    ['tzoffsetfrom', {}, 'utc-offset', offsetText(change.from)],
    ['tzoffsetto', {}, 'utc-offset', offsetText(change.to)],
    ...more,
  ],
  [],
];

/** A change to a larger offset is called daylight time. Readers go by the offsets, not by the name. */
const blocksOf = (changes: readonly Transition[], tailFrom: number): Jcal[] => {
  const groups = Map.groupBy(changes, ({ from, to }) => `${from} ${to}`);
  return [...groups.values()].flatMap((group) => {
    const kind = (group[0]?.to ?? 0) > (group[0]?.from ?? 0) ? 'daylight' : 'standard';
    const tail = group.filter(({ utc }) => utc >= tailFrom);
    const rule = tailRule(tail);
    const single = rule ? group.filter(({ utc }) => utc < tailFrom) : group;
    const [first, ...others] = single;
    const blocks: Jcal[] = [];
    const dates = others.map((change) => icalText(changeWall(change)));
    if (first)
      blocks.push(block(kind, first, dates.length > 0 ? [['rdate', {}, 'date-time', ...dates]] : []));
    if (rule && tail[0])
      blocks.push(block(kind, tail[0], [['rrule', {}, 'recur', { freq: 'YEARLY', ...rule }]]));
    return blocks;
  });
};

/**
 * A VTIMEZONE for a zone that Intl knows, right from `fromUtc` to `toUtc`, and after that where its last
 * eight years follow a yearly rule.
 */
export const vtimezoneOf = (zone: Zone, fromUtc: number, toUtc: number): Jcal => {
  const end = Date.UTC(new Date(toUtc).getUTCFullYear() + 1, 0, 1);
  const tailFrom = Date.UTC(new Date(end).getUTCFullYear() - TAIL_YEARS, 0, 1);
  const begin = Math.min(fromUtc, tailFrom) - 366 * DAY_MS;
  const offset = zone.offsetAt(begin);
  const changes = transitionsOf(zone, begin, end);
  const still: Transition = { utc: Math.floor(begin / MINUTE_MS) * MINUTE_MS, from: offset, to: offset };
  const tzid: JcalProperty = ['tzid', {}, 'text', zone.name];
  return ['vtimezone', [tzid], [block('standard', still, []), ...blocksOf(changes, tailFrom)]];
};
