/** Lengths of time as people write them: "90s", "15m", "2h", "7d". */
import { badInput } from '../errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60 * 1000,
  min: 60 * 1000,
  h: 60 * 60 * 1000,
  d: 24 * 60 * 60 * 1000,
};

export const DURATION_WORDS = 'a whole number with a unit: 90s, 15m, 2h or 7d';

/** Milliseconds; undefined where the text is no length of time. */
export const durationMs = (text: string): number | undefined => {
  const [, digits, unit = ''] = /^([1-9]\d{0,8}) ?(s|m|min|h|d)$/.exec(text) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit] ?? Number.NaN);
  return Number.isSafeInteger(ms) ? ms : undefined;
};

/** Throws `duration-invalid`. */
export const givenDuration = (option: string, text: string): number => {
  const ms = durationMs(text);
  if (ms !== undefined) return ms;
  throw badInput(
    'duration-invalid',
    `--${option} "${text}" is no length of time. It takes ${DURATION_WORDS}.`,
    {
      [option]: text,
    },
  );
};
