/** A watch over foreign code: nothing for what ends at once, a deadline and a grace for all that does not. */
import { expect, test } from 'vitest';
import { CANCEL_GRACE_MS, watch } from '../../src/worker/watch.ts';
import { FakeClock, turn } from '../kit/clock.ts';

const TIMEOUT_MS = 1000;

type Watched = {
  readonly clock: FakeClock;
  readonly abort: AbortController;
  readonly said: readonly string[];
  readonly end: () => void;
};

const watched = (): Watched => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const said: string[] = [];
  const end = watch({
    clock,
    signal: abort.signal,
    timeoutMs: TIMEOUT_MS,
    late: () => void said.push('late'),
    deaf: () => void said.push('deaf'),
  });
  return { clock, abort, said, end };
};

test('what ends before the event loop turns has set no timer', async () => {
  const { clock, abort, said, end } = watched();
  await Promise.resolve();
  end();
  await turn();
  expect(clock.pending).toBe(0);
  abort.abort();
  clock.advance(TIMEOUT_MS + CANCEL_GRACE_MS);
  expect(said).toEqual([]);
});

test('what goes on is late at its deadline, and not before', async () => {
  const { clock, said, end } = watched();
  await turn();
  clock.advance(TIMEOUT_MS - 1);
  expect(said).toEqual([]);
  clock.advance(1);
  expect(said).toEqual(['late']);
  end();
  expect(clock.pending).toBe(0);
});

test.each([
  ['before the event loop turned', true],
  ['after the event loop turned', false],
])('what was told to stop %s is deaf after its grace', async (_, atOnce) => {
  const { clock, abort, said, end } = watched();
  if (atOnce) abort.abort();
  await turn();
  if (!atOnce) abort.abort();
  clock.advance(TIMEOUT_MS);
  expect(said).toEqual(['late']);
  clock.advance(CANCEL_GRACE_MS - TIMEOUT_MS);
  expect(said).toEqual(['late', 'deaf']);
  end();
});

test('what has ended says nothing more, whoever tells it to stop', async () => {
  const { clock, abort, said, end } = watched();
  await turn();
  abort.abort();
  end();
  expect(clock.pending).toBe(0);
  clock.advance(TIMEOUT_MS + CANCEL_GRACE_MS);
  expect(said).toEqual([]);
});
