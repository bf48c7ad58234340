/** The contract of a dispatcher over the queue in memory, and what only that one can promise: whose turn it is. */
import { describe, expect, test } from 'vitest';
import type { Timer } from '../../src/clock.ts';
import type { Taken } from '../../src/worker/dispatcher.ts';
import { InProcessDispatcher, WAITING_MAX } from '../../src/worker/in-process-dispatcher.ts';
import { FakeClock, calm } from '../kit/clock.ts';
import { describeDispatcher } from './dispatcher.ts';

describeDispatcher('InProcessDispatcher', {
  place: async () => ({ open: async () => new InProcessDispatcher(), session: async (name) => name }),
  shared: false,
});

const NOTHING: Taken = { kind: 'nothing' };

/** Rings a millisecond before the wall clock has come so far, as timers do. */
class EarlyClock extends FakeClock {
  override after(ms: number, callback: () => void): Timer {
    return super.after(ms > 1 ? ms - 1 : ms, callback);
  }
}

describe('InProcessDispatcher: time', () => {
  test('a timer that rings early is no wake, and none is lost by it', async () => {
    const clock = new EarlyClock();
    const dispatcher = new InProcessDispatcher(clock);
    const taken: number[] = [];
    const due = clock.now() + 1000;
    await dispatcher.start({ take: async () => (taken.push(clock.now()), NOTHING), room: () => 1 });
    await dispatcher.wake({ session: 's', notBefore: due, reason: 'appended' });
    clock.advance(999);
    await calm();
    expect(taken).toEqual([]);
    clock.advance(1);
    await calm();
    expect(taken).toEqual([due]);
    expect(clock.pending).toBe(0);
    await dispatcher.stop();
  });
});

describe('InProcessDispatcher: tenants', () => {
  test('one that has many waiting does not keep another one from its turn', async () => {
    const dispatcher = new InProcessDispatcher(new FakeClock());
    const taken: string[] = [];
    let room = 0;
    await dispatcher.start({
      take: async (session) => {
        room--;
        taken.push(session);
        return NOTHING;
      },
      room: () => room,
    });
    for (let i = 0; i < 100; i++) await dispatcher.wake({ session: `a${i}`, tenant: 'a', reason: 'swept' });
    for (let i = 0; i < 2; i++) await dispatcher.wake({ session: `b${i}`, tenant: 'b', reason: 'swept' });
    for (let i = 0; i < 6; i++) {
      room = 1;
      dispatcher.look();
      await calm();
    }
    expect(taken).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'a3']);
    await dispatcher.stop();
  });

  test('what does not fit into the queue is left to the sweep', { timeout: 120_000 }, async () => {
    const dispatcher = new InProcessDispatcher(new FakeClock());
    let room = 0;
    let taken = 0;
    await dispatcher.start({ take: async () => (taken++, NOTHING), room: () => room });
    for (let i = 0; i <= WAITING_MAX; i++) await dispatcher.wake({ session: `${i}`, reason: 'swept' });
    room = Infinity;
    dispatcher.look();
    await calm();
    expect(taken).toBe(WAITING_MAX);
    await dispatcher.stop();
  });

  test('after stop() nothing is left that keeps the process', async () => {
    const clock = new FakeClock();
    const dispatcher = new InProcessDispatcher(clock);
    await dispatcher.start({ take: async () => NOTHING, room: () => 1 });
    await dispatcher.wake({ session: 's', notBefore: clock.now() + 1000, reason: 'swept' });
    expect(clock.pending).toBe(1);
    await dispatcher.stop();
    expect(clock.pending).toBe(0);
  });
});
