/**
 * The only doors to time and randomness. Everything that can be decided without them lives in the pure
 * chapters; the worker is handed a Clock and a Random, and tests hand in their own.
 */
import { randomBytes } from 'node:crypto';

export type Timer = { cancel(): void };

export type Clock = {
  /** Wall clock in milliseconds since 1970 UTC. Information and absolute deadlines only, never an order. */
  now(): number;
  /** Monotonic milliseconds. The only source for durations and timeouts. */
  monotonic(): number;
  /**
   * Calls back once after `ms` of monotonic time. Keeps the process alive until then, because work in
   * flight depends on it; `background` timers (polls, heartbeats) do not.
   */
  after(ms: number, callback: () => void, background?: boolean): Timer;
};

/** setTimeout holds 31 bits of milliseconds; a longer wait is taken in pieces. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback, background = false) {
    let handle: NodeJS.Timeout;
    const arm = (left: number): void => {
      const piece = Math.min(Math.max(0, left), TIMEOUT_MS_MAX);
      handle = setTimeout(() => (left > piece ? arm(left - piece) : callback()), piece);
      if (background) handle.unref();
    };
    arm(ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

export type Random = {
  bytes(count: number): Uint8Array;
};

export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/** Crockford base 32 without I, L, O, U: no two characters that a person confuses. */
export const ID_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A random id of `length` characters (5 bits each), for people to read aloud. */
export const randomId = (random: Random, length: number): string => {
  let id = '';
  for (const byte of random.bytes(length)) id += ID_ALPHABET[byte & 31];
  return id;
};
