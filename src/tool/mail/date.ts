/**
 * Dates of mail headers (RFC 5322, 3.3 and the obsolete forms of 4.3), read without the zone of this
 * machine: a date that names no zone has no instant.
 */

export type MailDate = {
  /** As the header says it. */
  readonly written: string;
  /** ISO 8601 with Z, to the second; absent where the header names no zone or is no date. */
  readonly utc?: string;
};

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const NAMED_ZONE_HOURS: Readonly<Record<string, number>> = {
  ut: 0,
  utc: 0,
  gmt: 0,
  z: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};
const DATE =
  /^(?:[a-z]{3,9}\s*,?\s*)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*[\s-]+(\d{2,4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([+-]\d{4}|[a-z]{1,5})?$/i;
const WRITTEN_CHARS_MAX = 100;

const fullYear = (text: string): number => {
  const year = Number(text);
  if (text.length === 4) return year;
  return text.length === 2 && year < 50 ? 2000 + year : 1900 + year;
};

/** Minutes east of UTC; undefined for no or an unknown zone. */
const zoneMinutes = (zone: string | undefined): number | undefined => {
  if (zone === undefined) return undefined;
  const [, sign, hours, minutes] = /^([+-])(\d\d)([0-5]\d)$/.exec(zone) ?? [];
  if (sign !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const named = NAMED_ZONE_HOURS[zone.toLowerCase()];
  return named === undefined ? undefined : named * 60;
};

const instant = (header: string): string | undefined => {
  const text = header
    .replaceAll(/\([^()]*\)/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const found = DATE.exec(text);
  const offset = zoneMinutes(found?.[7]);
  if (!found || offset === undefined) return undefined;
  const [day, month, year] = [
    Number(found[1]),
    MONTHS.indexOf((found[2] ?? '').toLowerCase()),
    fullYear(found[3] ?? ''),
  ];
  const [hour, minute, second] = [Number(found[4]), Number(found[5]), Number(found[6] ?? 0)];
  const local = new Date(Date.UTC(year, month, day, hour, minute, Math.min(second, 59)));
  // Date.UTC carries over; a date that does not come back as it went in does not exist.
  if (month < 0 || local.getUTCDate() !== day || local.getUTCMonth() !== month) return undefined;
  if (local.getUTCHours() !== hour || local.getUTCMinutes() !== minute || second > 60) return undefined;
  return new Date(local.getTime() - offset * 60_000).toISOString().replace('.000Z', 'Z');
};

export const readDate = (header: string): MailDate => {
  const written = header.replaceAll(/\s+/g, ' ').trim().slice(0, WRITTEN_CHARS_MAX);
  const utc = instant(written);
  return utc === undefined ? { written } : { written, utc };
};
