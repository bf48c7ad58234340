/**
 * Wall-clock time as a number: milliseconds of the date and time as they are read off a wall, counted as if
 * the wall hung in UTC. Pure arithmetic; no zone, no host clock and no host time zone takes part.
 */

/** Milliseconds of a wall-clock reading. Never an instant. */
export type Wall = number;

export const MINUTE_MS = 60_000;
export const HOUR_MS: number = 60 * MINUTE_MS;
export const DAY_MS: number = 24 * HOUR_MS;
const YEAR_FIRST = 1800;
export const YEAR_LAST = 2299;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2}))?$/;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** "2026-07-01" as its midnight; undefined for a date that no calendar has. */
export const parseDate = (text: string): Wall | undefined => {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined || Number(year) < YEAR_FIRST || Number(year) > YEAR_LAST) return undefined;
  const wall = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return dateText(wall) === text ? wall : undefined;
};

/** "2026-07-01T09:30" or with seconds; undefined for anything else. A leap second reads as :59. */
export const parseDateTime = (text: string): Wall | undefined => {
  const [, date, hour, minute, second] = DATE_TIME.exec(text) ?? [];
  const day = date === undefined ? undefined : parseDate(date);
  if (day === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 60)
    return undefined;
  return day + Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Math.min(Number(second ?? 0), 59) * 1000;
};

/** "09:30" as milliseconds after midnight; "24:00" is the end of the day. */
export const parseHour = (text: string): number | undefined => {
  const [, hour, minute] = /^(\d{2}):(\d{2})$/.exec(text) ?? [];
  const ms = Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS;
  return Number(minute) < 60 && ms <= DAY_MS ? ms : undefined;
};

const two = (value: number): string => String(value).padStart(2, '0');

export const dateText = (wall: Wall): string => new Date(wall).toISOString().slice(0, 10);

/** "2026-07-01T09:30", with seconds only where there are some. */
export const dateTimeText = (wall: Wall): string => {
  const text = new Date(wall).toISOString();
  return text.slice(17, 19) === '00' ? text.slice(0, 16) : text.slice(0, 19);
};

export const hourText = (wall: Wall): string => dateTimeText(wall).slice(11);

/** "2026-07-01T09:30:00Z" of an instant. */
export const utcText = (utc: number): string => `${new Date(utc).toISOString().slice(0, 19)}Z`;

/** "+05:30" of an offset in milliseconds; seconds only where a historical offset has some. */
export const offsetText = (offset: number): string => {
  const seconds = Math.round(Math.abs(offset) / 1000);
  const rest = seconds % 60;
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}${rest ? `:${two(rest)}` : ''}`;
};

export const dayOf = (wall: Wall): Wall => Math.floor(wall / DAY_MS) * DAY_MS;

/** 0 is Sunday. */
export const weekdayOf = (wall: Wall): number => new Date(wall).getUTCDay();

/** "Wed 1 Jul 2026", the same on every host. */
export const dayName = (wall: Wall): string => {
  const date = new Date(wall);
  return `${WEEKDAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
};
