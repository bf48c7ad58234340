/** How much one token may ask for: requests in a time, requests at once, streams. Bounded themselves. */
import type { Clock } from '../clock.ts';
import { ProblemError } from './problem.ts';

export type DoorLimits = {
  /** UTF-8 bytes of a body. */
  readonly bodyBytes: number;
  /** Requests of one token a second, over a longer time. */
  readonly requestsPerSecond: number;
  /** Requests of one token that may come in a burst. */
  readonly requestBurst: number;
  /** Requests of one token that are worked on at a time, streams not counted. */
  readonly requestsAtOnce: number;
  /** Proofs, bundles and bills under way at a time, of all tokens: each reads whole logs. */
  readonly proofsAtOnce: number;
  /** Attempts to sign in a minute from one address. */
  readonly loginsPerMinute: number;
  /** Open streams of one token, and of all. */
  readonly streamsPerToken: number;
  readonly streams: number;
  /** Milliseconds that `Prefer: wait` may ask for. */
  readonly waitMs: number;
  /** Milliseconds between signs of life on a stream. */
  readonly heartbeatMs: number;
  /** Items of one page. */
  readonly page: number;
};

export const DOOR_LIMITS_DEFAULT: DoorLimits = {
  bodyBytes: 2 * 1024 * 1024,
  requestsPerSecond: 200,
  requestBurst: 400,
  requestsAtOnce: 200,
  proofsAtOnce: 4,
  loginsPerMinute: 10,
  streamsPerToken: 500,
  streams: 2000,
  waitMs: 60_000,
  heartbeatMs: 15_000,
  page: 1000,
};

type Use = { allowance: number; at: number; atOnce: number; streams: number };

/** Tokens whose use is remembered; one that asks for nothing is the first to be forgotten. */
const USES_MAX = 10_000;
const MINUTE_MS = 60_000;

export class Meter {
  readonly #limits: DoorLimits;
  readonly #clock: Clock;
  readonly #uses = new Map<string, Use>();
  readonly #logins = new Map<string, number[]>();
  #streams = 0;
  #proofs = 0;

  constructor(limits: DoorLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get openStreams(): number {
    return this.#streams;
  }

  /** Counts a request. Call what comes back when it is over. Throws `too-many-requests`. */
  request(token: string): () => void {
    const { requestsPerSecond, requestBurst, requestsAtOnce } = this.#limits;
    const use = this.#use(token);
    const now = this.#clock.monotonic();
    use.allowance = Math.min(requestBurst, use.allowance + ((now - use.at) / 1000) * requestsPerSecond);
    use.at = now;
    if (use.allowance < 1)
      throw tooMany(`At most ${requestsPerSecond} requests a second are taken from one token.`, 1);
    if (use.atOnce >= requestsAtOnce)
      throw tooMany(`At most ${requestsAtOnce} requests of one token are worked on at a time.`, 1);
    use.allowance -= 1;
    use.atOnce += 1;
    return () => {
      use.atOnce -= 1;
    };
  }

  /** Counts work over whole logs. Call what comes back when it is over. Throws `too-many-requests`. */
  proof(): () => void {
    const { proofsAtOnce } = this.#limits;
    if (this.#proofs >= proofsAtOnce)
      throw tooMany(`At most ${proofsAtOnce} proofs, bundles and bills are made at a time.`, 2);
    this.#proofs += 1;
    let open = true;
    return () => {
      if (open) this.#proofs -= 1;
      open = false;
    };
  }

  /** Counts an attempt to sign in, before anything of it is looked at. Throws `too-many-logins`. */
  login(address: string): void {
    const { loginsPerMinute } = this.#limits;
    const now = this.#clock.monotonic();
    const since = this.#logins.get(address)?.filter((at) => now - at < MINUTE_MS) ?? [];
    this.#logins.delete(address);
    this.#logins.set(address, since);
    const [oldest] = this.#logins.keys();
    if (this.#logins.size > USES_MAX && oldest !== undefined) this.#logins.delete(oldest);
    const [first] = since;
    if (first !== undefined && since.length >= loginsPerMinute)
      throw new ProblemError(
        'too-many-logins',
        `At most ${loginsPerMinute} attempts to sign in are taken a minute from one address.`,
        { headers: { 'retry-after': String(Math.ceil((first + MINUTE_MS - now) / 1000)) } },
      );
    since.push(now);
  }

  /** Counts a stream. Call what comes back when it is closed. Throws `too-many-streams`. */
  stream(token: string): () => void {
    const { streamsPerToken, streams } = this.#limits;
    const use = this.#use(token);
    if (use.streams >= streamsPerToken || this.#streams >= streams)
      throw new ProblemError(
        'too-many-streams',
        `At most ${streamsPerToken} streams of one token and ${streams} in all are open at a time.`,
        { headers: { 'retry-after': '5' } },
      );
    use.streams += 1;
    this.#streams += 1;
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      use.streams -= 1;
      this.#streams -= 1;
    };
  }

  #use(token: string): Use {
    const known = this.#uses.get(token);
    const use = known ?? {
      allowance: this.#limits.requestBurst,
      at: this.#clock.monotonic(),
      atOnce: 0,
      streams: 0,
    };
    this.#uses.delete(token);
    this.#uses.set(token, use);
    if (this.#uses.size > USES_MAX) this.#forget();
    return use;
  }

  #forget(): void {
    for (const [token, { atOnce, streams }] of this.#uses)
      if (atOnce === 0 && streams === 0) {
        this.#uses.delete(token);
        return;
      }
  }
}

const tooMany = (detail: string, seconds: number): ProblemError =>
  new ProblemError('too-many-requests', detail, { headers: { 'retry-after': String(seconds) } });
