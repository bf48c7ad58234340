import { describe, expect, it } from 'vitest';
import {
  countOf,
  formatBytes,
  formatClock,
  formatCost,
  formatCount,
  formatDay,
  formatDeadline,
  formatDuration,
  formatRelative,
  formatShare,
  formatTime,
  formatZone,
  isZone,
  shortDigest,
} from '../../src/view/format.ts';

const at = Date.UTC(2026, 10, 27, 13, 2, 38, 401);
const DAY = 86_400_000;
const vienna = { zone: 'Europe/Vienna', now: Date.UTC(2026, 10, 27, 13, 5) };

describe('numbers', () => {
  it('cost has four decimals under one dollar, two from there, and is unknown in words', () => {
    const shown = [0, 0.0169, 0.99994, 0.99996, 1, 1284.5, undefined, Number.NaN].map((usd) =>
      formatCost(usd),
    );
    expect(shown).toEqual([
      '$0.0000',
      '$0.0169',
      '$0.9999',
      '$1.00',
      '$1.00',
      '$1,284.50',
      'unknown',
      'unknown',
    ]);
  });

  it('a cost that is not zero never reads as zero', () => {
    expect(formatCost(0.00001)).toBe('under $0.0001');
  });

  it('durations have units and never read 60 of one', () => {
    const cases: [number | undefined, string][] = [
      [0, '0 ms'],
      [0.2, 'under 1 ms'],
      [1, '1 ms'],
      [99.4, '99 ms'],
      [99.6, '0.1 s'],
      [401, '0.4 s'],
      [18_400, '18.4 s'],
      [59_949, '59.9 s'],
      [59_951, '1 min'],
      [180_000, '3 min'],
      [3_599_999, '1 h'],
      [7_500_000, '2 h 5 min'],
      [1e9, '11 d 14 h'],
      [-1, 'unknown'],
      [undefined, 'unknown'],
    ];
    expect(cases.map(([ms]) => formatDuration(ms))).toEqual(cases.map(([, shown]) => shown));
  });

  it('sizes, counts and shares', () => {
    expect([0, 999, 3800, 9949, 9951, 48_210, 999_999, 214e6].map((bytes) => formatBytes(bytes))).toEqual([
      '0 B',
      '999 B',
      '3.8 kB',
      '9.9 kB',
      '10 kB',
      '48 kB',
      '1.0 MB',
      '214 MB',
    ]);
    expect([0, 999, 1918, 1_234_567, -1000].map((count) => formatCount(count))).toEqual([
      '0',
      '999',
      '1,918',
      '1,234,567',
      '-1,000',
    ]);
    expect([formatShare(0.918, 1), formatShare(0.45), formatShare(0 / 0)]).toEqual([
      '91.8 %',
      '45 %',
      'unknown',
    ]);
    expect([countOf(1, 'call'), countOf(1918, 'entry', 'entries')]).toEqual(['1 call', '1,918 entries']);
  });

  it('a digest is four, an ellipsis, four, or all of it', () => {
    const digest = `b81e${'0'.repeat(56)}04cd`;
    expect(shortDigest(digest)).toBe('b81e…04cd');
    expect(shortDigest(digest, true)).toBe(digest);
    expect(shortDigest('b81e04cd')).toBe('b81e04cd');
  });
});

describe('time', () => {
  it('always names its zone', () => {
    expect(formatTime(at, vienna)).toBe('14:02:38 CET');
    expect(formatTime(at - DAY, vienna)).toBe('Thu 14:02 CET');
    expect(formatTime(at + DAY, vienna)).toBe('Sat 28 Nov, 14:02 CET');
    expect(formatTime(at - 2 * 365 * DAY, vienna)).toBe('Wed 27 Nov 2024, 14:02 CET');
    expect(formatTime(at + 60 * DAY, vienna)).toBe('Tue 26 Jan 2027, 14:02 CET');
    expect(formatTime(at, { ...vienna, utc: true })).toBe('13:02:38 UTC');
    expect(formatTime(at, { ...vienna, zone: 'Asia/Kolkata' })).toBe('18:32:38 UTC+5:30');
    expect(formatDay(at, vienna)).toBe('Fri 27 Nov 2026, CET');
    expect(formatZone(at, vienna)).toBe('CET (UTC+1)');
    expect(formatClock(at, vienna)).toBe('14:02:38.401');
  });

  it('today is the day of the zone, not of UTC', () => {
    const now = Date.UTC(2026, 10, 27, 23, 30);
    expect(formatTime(now - 3_600_000, { zone: 'Europe/Vienna', now })).toBe('Fri 23:30 CET');
    expect(formatTime(now - 3_600_000, { zone: 'UTC', now })).toBe('22:30:00 UTC');
  });

  it('a deadline across the change to summer time is right in both zones', () => {
    const now = Date.parse('2026-03-28T23:30:00Z');
    const expires = Date.parse('2026-03-29T01:30:00Z');
    expect(formatDeadline(expires, { zone: 'America/New_York', now })).toBe(
      'Sat 28 Mar, 21:30 EDT (UTC-4), in 2 h',
    );
    expect(formatDeadline(expires, { zone: 'Europe/Berlin', now })).toBe(
      'Sun 29 Mar, 03:30 CEST (UTC+2), in 2 h',
    );
    expect(formatDeadline(expires, { zone: 'UTC', now })).toBe('Sun 29 Mar, 01:30 UTC, in 2 h');
  });

  it('says how far away a moment is', () => {
    expect([0, 999, 3000, -180_000].map((ms) => formatRelative(ms, 0))).toEqual([
      'now',
      'now',
      'in 3 s',
      '3 min ago',
    ]);
  });

  it('knows a zone from a word, and a moment from no moment', () => {
    expect([isZone('Europe/Vienna'), isZone('Middle/Earth')]).toEqual([true, false]);
    expect(formatTime(Number.NaN, vienna)).toBe('unknown');
    expect(formatTime(1e20, vienna)).toBe('unknown');
  });
});
