/**
 * Numbers, sizes, money, durations and moments as people read them, the same on the terminal, the pages
 * and in reports. Pure: the moment "now" and the zone are arguments. Unknown is said in words.
 */

const UNKNOWN = 'unknown';

/** `1,918`. Whole numbers; fractions are rounded. */
export const formatCount = (count: number): string => {
  if (!Number.isFinite(count)) return UNKNOWN;
  const digits = String(Math.abs(Math.round(count))).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return Math.round(count) < 0 ? `-${digits}` : digits;
};

/** `1 call`, `2 calls`; give the plural where an s does not make it. */
export const countOf = (count: number, singular: string, plural: string = `${singular}s`): string =>
  `${formatCount(count)} ${count === 1 ? singular : plural}`;

const fixed = (value: number, decimals: number): string => {
  const [whole = '0', fraction] = value.toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
};

/** `91.8 %`. `ratio` is 0 to 1; a part of nothing is unknown. */
export const formatShare = (ratio: number, decimals: number = 0): string =>
  Number.isFinite(ratio) ? `${fixed(ratio * 100, decimals)} %` : UNKNOWN;

const COST_SHOWN_MIN = 0.0001;

/** US dollars: `$0.0169` with 4 decimals under 1, `$1,284.50` with 2 from 1 up, `unknown` without a price. */
export const formatCost = (usd: number | undefined): string => {
  if (usd === undefined || !Number.isFinite(usd)) return UNKNOWN;
  const size = Math.abs(usd);
  const sign = usd < 0 ? '-' : '';
  if (size > 0 && size < COST_SHOWN_MIN) return `${sign}under $0.0001`;
  const small = size.toFixed(4);
  return `${sign}$${Number(small) < 1 ? small : fixed(size, 2)}`;
};

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Decimal units: `512 B`, `3.8 kB`, `48 kB`, `214 MB`; one decimal under ten. */
export const formatBytes = (bytes: number): string => {
  if (!Number.isFinite(bytes) || bytes < 0) return UNKNOWN;
  let text = `${Math.round(bytes)} B`;
  let value = Math.round(bytes);
  for (const unit of BYTE_UNITS) {
    if (Math.round(value) < 1000) break;
    value /= 1000;
    text = `${value < 9.95 ? value.toFixed(1) : fixed(value, 0)} ${unit}`;
  }
  return text;
};

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const pair = (large: string, small: string, smallCount: number): string =>
  smallCount === 0 ? large : `${large} ${small}`;

/** `1 ms`, `0.4 s`, `18.4 s`, `3 min`, `2 h 5 min`, `3 d 4 h`; two units at most, rounded to the nearest. */
export const formatDuration = (ms: number | undefined): string => {
  if (ms === undefined || !Number.isFinite(ms) || ms < 0) return UNKNOWN;
  if (ms > 0 && ms < 0.5) return 'under 1 ms';
  if (Math.round(ms) < 100) return `${Math.round(ms)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return pair(`${Math.floor(minutes / 60)} h`, `${minutes % 60} min`, minutes % 60);
  const hours = Math.round(ms / HOUR_MS);
  return pair(`${formatCount(Math.floor(hours / 24))} d`, `${hours % 24} h`, hours % 24);
};

/** `in 2 h`, `3 min ago`, `now`. Only beside an absolute time. */
export const formatRelative = (ms: number, now: number): string => {
  const distance = Math.abs(ms - now);
  if (!Number.isFinite(distance)) return UNKNOWN;
  if (distance < SECOND_MS) return 'now';
  const seconds = Math.round(distance / SECOND_MS);
  const text = seconds < 60 ? `${seconds} s` : formatDuration(distance);
  return ms > now ? `in ${text}` : `${text} ago`;
};

export type TimeOptions = {
  /** IANA name, for example Europe/Vienna. */
  readonly zone: string;
  /** Show UTC instead of the zone. */
  readonly utc?: boolean;
  /** Milliseconds since 1970 UTC: decides what counts as today. */
  readonly now: number;
};

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
/** The range of Date: 100,000,000 days around 1970. */
const TIME_MS_MAX = 8.64e15;

/** The wall clock of a zone at a moment. */
type Wall = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: string;
  readonly clock: string;
  readonly milliseconds: string;
  /** Whole days since 1970 of the local date. */
  readonly dayNumber: number;
  readonly offsetMinutes: number;
};

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a formatter costs tens of microseconds; there are few zones in a process. */
const formatOf = (locale: string, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `${locale} ${zone} ${options.timeZoneName ?? ''}`;
  const made = formats.get(key) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
  formats.set(key, made);
  return made;
};

const wallOf = (ms: number, zone: string): Wall => {
  const parts = formatOf('en-US-u-ca-gregory', zone, {
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    era: 'short',
  }).formatToParts(ms);
  const part = (type: Intl.DateTimeFormatPartTypes): string =>
    parts.find((candidate) => candidate.type === type)?.value ?? '';
  const year = part('era') === 'BC' ? 1 - Number(part('year')) : Number(part('year'));
  const [month, day] = [Number(part('month')), Number(part('day'))];
  const midnight = new Date(0).setUTCFullYear(year, month - 1, day);
  const clock = `${part('hour')}:${part('minute')}:${part('second')}`;
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  const local = midnight + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS;
  const wholeSecond = Math.floor(ms / SECOND_MS) * SECOND_MS;
  return {
    year,
    month,
    day,
    weekday: WEEKDAYS[new Date(midnight).getUTCDay()] ?? '',
    clock,
    milliseconds: String(Math.floor(ms) - wholeSecond).padStart(3, '0'),
    dayNumber: midnight / DAY_MS,
    offsetMinutes: Math.round((local - wholeSecond) / MINUTE_MS),
  };
};

const offsetLabel = (minutes: number): string => {
  const size = Math.abs(minutes);
  const rest = size % 60 === 0 ? '' : `:${String(size % 60).padStart(2, '0')}`;
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${Math.floor(size / 60)}${rest}`;
};

const zoneName = (ms: number, zone: string, offsetMinutes: number): string => {
  for (const locale of ['en-GB', 'en-US']) {
    const parts = formatOf(locale, zone, { timeZoneName: 'short' }).formatToParts(ms);
    const name = parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
    if (/^[A-Z]{3,5}$/.test(name)) return name;
  }
  return offsetLabel(offsetMinutes);
};

const isMoment = (ms: number): boolean => Number.isFinite(ms) && Math.abs(ms) <= TIME_MS_MAX;

const zoneOf = (options: Pick<TimeOptions, 'zone' | 'utc'>): string =>
  options.utc === true ? 'UTC' : options.zone;

/** The zone at a moment: `CET (UTC+1)`, `EDT (UTC-4)`, `UTC`. */
export const formatZone = (ms: number, options: Pick<TimeOptions, 'zone' | 'utc'>): string => {
  if (!isMoment(ms)) return UNKNOWN;
  const zone = zoneOf(options);
  const { offsetMinutes } = wallOf(ms, zone);
  const [name, offset] = [zoneName(ms, zone, offsetMinutes), offsetLabel(offsetMinutes)];
  return name === offset ? name : `${name} (${offset})`;
};

/**
 * A moment, always with its zone: `14:02:38 CET` today, `Thu 17:31 CET` in the six days before,
 * `Sat 28 Nov, 14:02 CET` later this year, `Wed 25 Nov 2026, 18:10 CET` otherwise.
 */
export const formatTime = (ms: number, options: TimeOptions): string => {
  if (!isMoment(ms) || !isMoment(options.now)) return UNKNOWN;
  const zone = zoneOf(options);
  const [wall, today] = [wallOf(ms, zone), wallOf(options.now, zone)];
  const name = zoneName(ms, zone, wall.offsetMinutes);
  const days = wall.dayNumber - today.dayNumber;
  if (days === 0) return `${wall.clock} ${name}`;
  const minute = wall.clock.slice(0, 5);
  if (days < 0 && days >= -6) return `${wall.weekday} ${minute} ${name}`;
  const date = `${wall.weekday} ${wall.day} ${MONTHS[wall.month - 1] ?? ''}`;
  if (days > 0 && wall.year === today.year) return `${date}, ${minute} ${name}`;
  return `${date} ${wall.year}, ${minute} ${name}`;
};

/** A day with its zone, for headings: `Fri 27 Nov 2026, CET`. */
export const formatDay = (ms: number, options: Pick<TimeOptions, 'zone' | 'utc'>): string => {
  if (!isMoment(ms)) return UNKNOWN;
  const zone = zoneOf(options);
  const wall = wallOf(ms, zone);
  const name = zoneName(ms, zone, wall.offsetMinutes);
  return `${wall.weekday} ${wall.day} ${MONTHS[wall.month - 1] ?? ''} ${wall.year}, ${name}`;
};

/** A deadline: date, time, zone and distance: `Sat 28 Mar, 21:30 EDT (UTC-4), in 2 h`. */
export const formatDeadline = (ms: number, options: TimeOptions): string => {
  if (!isMoment(ms) || !isMoment(options.now)) return UNKNOWN;
  const zone = zoneOf(options);
  const [wall, today] = [wallOf(ms, zone), wallOf(options.now, zone)];
  const year = wall.year === today.year ? '' : ` ${wall.year}`;
  const date = `${wall.weekday} ${wall.day} ${MONTHS[wall.month - 1] ?? ''}${year}`;
  return `${date}, ${wall.clock.slice(0, 5)} ${formatZone(ms, options)}, ${formatRelative(ms, options.now)}`;
};

/** Time of day to the millisecond without a zone, for columns whose heading names it: `14:02:32.401`. */
export const formatClock = (ms: number, options: Pick<TimeOptions, 'zone' | 'utc'>): string => {
  if (!isMoment(ms)) return UNKNOWN;
  const wall = wallOf(ms, zoneOf(options));
  return `${wall.clock}.${wall.milliseconds}`;
};

/** Whether a zone name is one this program can show times in. */
export const isZone = (zone: string): boolean => {
  try {
    formatOf('en-GB', zone, { timeZoneName: 'short' });
    return true;
  } catch {
    return false;
  }
};

/** First 4, an ellipsis, last 4; all of it with `full`, or when it is not longer than that. */
export const shortDigest = (digest: string, full: boolean = false): string =>
  full || digest.length <= 9 ? digest : `${digest.slice(0, 4)}…${digest.slice(-4)}`;
