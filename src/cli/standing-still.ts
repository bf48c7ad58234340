/** Sessions that nobody drives, in the words of doctor: those that are parked, and those that could go on. */
import { systemClock } from '../clock.ts';
import { isGone } from '../log/owner.ts';
import type { SessionRow } from '../log/store.ts';
import { countOf, formatDuration } from '../view/format.ts';
import type { Finding } from './examination.ts';
import { isParked } from './gate.ts';

const NAMES_SHOWN_MAX = 3;

const listed = (rows: readonly SessionRow[]): string => {
  const more = rows.length - NAMES_SHOWN_MAX;
  const names = rows.slice(0, NAMES_SHOWN_MAX).map(({ session }) => session);
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

/** The reason of each stands in its log: `onrecord show`. */
export const parkedFindings = (rows: readonly SessionRow[]): readonly Finding[] => {
  const parked = rows.filter(({ summary }) => isParked(summary));
  const [first] = parked;
  if (!first) return [];
  return [
    {
      level: 'problem',
      name: 'parked',
      text: `${countOf(parked.length, 'session')} took one driver after the other down, and nobody tries again: ${listed(parked)}`,
      hint: `onrecord show ${first.session}; onrecord unpark ${first.session}`,
    },
  ];
};

/** Why nobody drives what could go on, as far as the store shows it. */
export const leftText = (left: readonly SessionRow[], all: readonly SessionRow[]): string => {
  const now = systemClock.now();
  const oldest = Math.min(...left.map(({ summary }) => summary.waits?.since ?? summary.updatedAt));
  const since = formatDuration(Math.max(0, now - oldest));
  const many = left.length > 1;
  return `${countOf(left.length, 'session')} can go on, the longest for ${since}, and nobody drives ${many ? 'them' : 'it'}: ${listed(left)}. ${reason(left, all, now)}`;
};

const reason = (left: readonly SessionRow[], all: readonly SessionRow[], now: number): string => {
  const stale = left.find(({ lease }) => lease && (lease.until <= now || isGone(lease.owner)));
  if (stale?.lease)
    return `${stale.session} was driven by process ${stale.lease.owner.pid} on ${stale.lease.owner.host}, which is gone or stands still`;
  const busy = new Set(
    all.flatMap(({ lease }) => (lease && lease.until > now && !isGone(lease.owner) ? [lease.owner.id] : [])),
  );
  if (busy.size === 0) return 'No worker drives anything in this store';
  return `${countOf(busy.size, 'worker')} ${busy.size === 1 ? 'drives' : 'drive'} others: there is no place for it, or its wake was lost`;
};
