/**
 * A provider whose cache follows stated rules, so that the experiment and its analysis can be tested without a key:
 * a smallest prefix, a lookback in blocks, a lifetime that each use renews, prices for writing and reading.
 */
import type { Clock } from '../../clock.ts';
import { splitBody } from '../../context/body-split.ts';
import { priceList, type Prices } from '../../cost/prices.ts';
import type { Rates } from '../../cost/rates.ts';
import { sha256, type Digest } from '../../event/canonical.ts';
import type { Usage } from '../../event/content.ts';
import type { Model } from '../../model/model.ts';
import { neutralEncoder } from '../../model/neutral.ts';

export type CacheRules = {
  readonly minimumTokens: number;
  /** Blocks before the last one where a prefix that was written is still looked for. */
  readonly lookbackBlocks: number;
  readonly lifetimeMs: number;
  readonly bytesPerToken: number;
  readonly rates: Rates;
  /** Milliseconds to a first token: for every request, and for each thousand tokens that are read anew or from the cache. */
  readonly firstTokenMs: { readonly base: number; readonly fresh: number; readonly cached: number };
};

/** Those of a common provider with a short cache, in round numbers. */
export const CACHE_RULES: CacheRules = {
  minimumTokens: 1024,
  lookbackBlocks: 20,
  lifetimeMs: 5 * 60_000,
  bytesPerToken: 4,
  rates: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  firstTokenMs: { base: 400, fresh: 60, cached: 4 },
};

export const SIMULATED = { provider: 'simulated', name: 'cache-rules' } as const;

export const simulatedPrices = ({ rates }: CacheRules): Prices =>
  priceList([{ provider: SIMULATED.provider, model: SIMULATED.name, base: rates, tiers: [] }], {
    source: 'the rules of the simulation',
    date: '2026-11-29',
  });

export class SimulatedCache {
  readonly #rules: CacheRules;
  readonly #clock: Clock;
  /** Prefixes that were written, and until when they are kept. */
  readonly #kept = new Map<Digest, number>();

  constructor(rules: CacheRules, clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
  }

  /** What a request reads, writes and reads anew. Marks stand behind the frame and behind the last part. */
  ask(body: string): Usage {
    const { head, parts } = splitBody(body) ?? { head: body, parts: [] };
    const blocks = [head, ...parts];
    const prefixes = blocks.map((_, i) => blocks.slice(0, i + 1).join(','));
    const tokens = prefixes.map((prefix) => Math.ceil(Buffer.byteLength(prefix) / this.#rules.bytesPerToken));
    const names = prefixes.map((prefix) => sha256(prefix));
    const last = blocks.length - 1;
    const total = tokens[last] ?? 0;
    const from = Math.max(0, last - this.#rules.lookbackBlocks);
    let read = 0;
    for (let i = last; i >= 0 && read === 0; i--)
      if ((i >= from || i === 0) && this.#isKept(names[i])) {
        read = tokens[i] ?? 0;
        this.#keep(names[i]);
      }
    for (const mark of [0, last])
      if ((tokens[mark] ?? 0) >= this.#rules.minimumTokens) this.#keep(names[mark]);
    const written = total >= this.#rules.minimumTokens ? total - read : 0;
    return { cacheRead: read, cacheWrite: written, input: total - read - written, output: 4 };
  }

  #isKept(name: Digest | undefined): boolean {
    return name !== undefined && (this.#kept.get(name) ?? -Infinity) >= this.#clock.now();
  }

  #keep(name: Digest | undefined): void {
    if (name !== undefined) this.#kept.set(name, this.#clock.now() + this.#rules.lifetimeMs);
  }
}

export const simulatedModel = (rules: CacheRules, clock: Clock): Model => {
  const cache = new SimulatedCache(rules, clock);
  const { base, fresh, cached } = rules.firstTokenMs;
  return {
    definition: { ...SIMULATED, params: {} },
    encoder: neutralEncoder,
    send: async (request) => {
      const usage = cache.ask(request.body());
      const anew = usage.input + usage.cacheWrite;
      const firstTokenMs = Math.round(base + (anew * fresh + usage.cacheRead * cached) / 1000);
      return { kind: 'response', stop: 'end', content: [{ type: 'text', text: 'OK.' }], usage, firstTokenMs };
    },
  };
};

/** A clock that is as late as it was told to be: pauses of hours pass at once. */
export class JumpClock implements Clock {
  readonly #clock: Clock;
  #ahead = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.#ahead;
  }

  monotonic(): number {
    return this.#clock.monotonic() + this.#ahead;
  }

  after(ms: number, callback: () => void, background?: boolean): ReturnType<Clock['after']> {
    return this.#clock.after(ms, callback, background);
  }

  jump(ms: number): void {
    this.#ahead += ms;
  }
}
