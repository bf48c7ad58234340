/** A planned attempt is made although its timer comes early by less than a millisecond, as timers do. */
import { expect, test } from 'vitest';
import type { Clock, Timer } from '../../src/clock.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { scriptedModel } from '../../src/model/scripted.ts';
import { defineAgent } from '../../src/worker/agent.ts';
import { openRuntime } from '../../src/worker/runtime.ts';

/** Milliseconds that pass at every look at the clock. */
const GRAIN_MS = 0.05;
/** The backoff is shorter than this; the limits of a request, which never come here, are longer. */
const BACKOFF_MS_MAX = 1000;

/** Time passes whenever it is looked at, and a timer rings `earlyMs` before its time. */
class GrainedClock implements Clock {
  #elapsed = 0;
  readonly #earlyMs: number;

  constructor(earlyMs: number) {
    this.#earlyMs = earlyMs;
  }

  now(): number {
    return Math.floor(this.#elapsed);
  }

  monotonic(): number {
    this.#elapsed += GRAIN_MS;
    return this.#elapsed;
  }

  after(ms: number, callback: () => void): Timer {
    if (ms > BACKOFF_MS_MAX) return { cancel: () => undefined };
    const handle = setImmediate(() => {
      this.#elapsed += Math.max(0, ms - this.#earlyMs);
      callback();
    });
    return { cancel: () => clearImmediate(handle) };
  }
}

/** Of the looks that the driver takes between a ring and its next wait, each is the moment at which the time comes. */
const EARLY = Array.from({ length: 40 }, (_, index) => GRAIN_MS * index + GRAIN_MS / 2);

test.each(EARLY)('%f ms early', async (earlyMs) => {
  const steps = [{ error: { kind: 'unavailable' } as const }, { text: 'Done.' }];
  const model = scriptedModel({ name: 'twice', steps });
  const runtime = await openRuntime({
    store: new MemoryLog(),
    agents: [defineAgent({ name: 'clerk', instructions: 'Be exact.', model })],
    clock: new GrainedClock(earlyMs),
  });
  const { session } = await runtime.send({ agent: 'clerk', message: 'Do it.' });
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  await runtime.close({ drainMs: 0 });
});
