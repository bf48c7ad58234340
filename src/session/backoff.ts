/** When a failed attempt is tried again. Pure: the jitter comes from what is retried, not from a die. */
import { sha256 } from '../event/canonical.ts';

export const REQUEST_BACKOFF_MS = 500;
export const REQUEST_BACKOFF_MS_MAX = 60_000;
/** The longest wait that a provider may ask for; a longer one ends the turn instead of parking it for hours. */
export const RETRY_AFTER_MS_MAX = 120_000;

const SHARES = 0xffff_ffff;

/** A number in [0, 1) that is always the same for the same name. */
const share = (name: string): number => Number.parseInt(sha256(name).slice(0, 8), 16) / (SHARES + 1);

/**
 * Milliseconds before attempt `attempt` (2 for the first retry): doubled each time, at most `maxMs`, and
 * between half and all of that, so that many sessions do not come back at the same moment.
 */
export const backoffMs = (
  name: string,
  attempt: number,
  { baseMs, maxMs }: { readonly baseMs: number; readonly maxMs: number },
): number => {
  const full = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 2, 30));
  return Math.round(full * (0.5 + share(name) / 2));
};
