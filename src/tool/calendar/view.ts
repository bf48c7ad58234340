/** How times and entries are shown: to models as fields, to people as a line. Never by the host's locale. */
import type { JsonObject } from '../../event/json.ts';
import type { CalendarEntryView } from '../preview.ts';
import { type Entry, repeats } from './entry.ts';
import type { Occurrence } from './occurrence.ts';
import { ruleWords } from './rule.ts';
import { DAY_MS, dateText, dateTimeText, dayName, dayOf, hourText, offsetText, utcText } from './wall.ts';
import { wallAt, type Zone } from './zone.ts';

/** One instant in all its forms. */
export const timeFields = (utc: number, zone: Zone): JsonObject => {
  const wall = wallAt(utc, zone);
  return { local: dateTimeText(wall), offset: offsetText(wall - utc), zone: zone.name, utc: utcText(utc) };
};

/** An occurrence as a reader in `zone` is told of it. Dates stay dates and name no zone. */
export const occurrenceFields = (found: Occurrence, zone: Zone): JsonObject => {
  const { uid, version, part, key, notes } = found;
  const common = {
    id: uid,
    title: part.title,
    ...(part.where !== undefined && { where: part.where }),
    ...(key !== undefined && { occurrence: key }),
    ...(!part.busy && { free: true }),
  };
  if (found.kind === 'date')
    return {
      ...common,
      allDay: true,
      startDate: dateText(found.start),
      endDateExclusive: dateText(found.end),
      version,
    };
  return {
    ...common,
    start: timeFields(found.start, zone),
    end: timeFields(found.end, zone),
    ...(found.zone.name !== zone.name && { keptIn: timeFields(found.start, found.zone) }),
    version,
    ...(notes.length > 0 && { notes: [...notes] }),
  };
};

const timeRange = (start: number, end: number, zone: Zone): string => {
  const from = wallAt(start, zone);
  const to = wallAt(end, zone);
  const fromOffset = offsetText(from - start);
  const toOffset = offsetText(to - end);
  const until = dayOf(from) === dayOf(to) ? hourText(to) : `${dayName(to)} ${hourText(to)}`;
  const offset = fromOffset === toOffset ? fromOffset : `${fromOffset}, then ${toOffset}`;
  return `${dayName(from)}, ${hourText(from)} to ${until} (${zone.name}, UTC${offset})`;
};

/** "Mon 26 Oct 2026, 09:10 to 09:40 (America/New_York, UTC-04:00)"; days alone for all-day entries. */
const whenText = (found: Occurrence, zone: Zone): string => {
  if (found.kind === 'time') return timeRange(found.start, found.end, zone);
  const last = found.end - DAY_MS;
  return last <= found.start
    ? `${dayName(found.start)}, all day`
    : `${dayName(found.start)} to ${dayName(last)}, all day, both included`;
};

export const conflictText = (found: Occurrence, zone: Zone): string =>
  `“${found.part.title}”, ${whenText(found, zone)}`;

export const repeatsText = (entry: Entry): string | undefined => {
  if (!repeats(entry)) return undefined;
  const words = entry.series.rules.map(ruleWords);
  if (entry.series.added.length > 0) words.push(`${entry.series.added.length} more dates`);
  return words.join(' and ');
};

/** An entry as a person is shown it: in its own zone, and in the reader's where that one is another. */
export const entryView = (found: Occurrence, entry: Entry, reader: Zone): CalendarEntryView => {
  const own = whenText(found, found.kind === 'time' ? found.zone : reader);
  const read = whenText(found, reader);
  const differs = found.kind === 'time' && found.zone.name !== reader.name;
  const repeated = repeatsText(entry);
  return {
    title: found.part.title,
    when: differs ? `${own} = ${read}` : own,
    ...(found.kind === 'time' && { utc: utcText(found.start) }),
    ...(found.part.where !== undefined && { where: found.part.where }),
    ...(repeated !== undefined && { repeats: repeated }),
  };
};
