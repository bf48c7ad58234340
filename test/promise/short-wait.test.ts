/** A planned attempt is not forgotten, however its wait and the writing of its plan fall together. */
import { expect, test } from 'vitest';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Append } from '../../src/log/store.ts';
import type { FakeClock } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';

/** A store whose appends take their time. */
class SlowLog extends MemoryLog {
  clock: FakeClock | undefined;

  override append(append: Append): ReturnType<MemoryLog['append']> {
    this.clock?.advance(50);
    return super.append(append);
  }
}

test.each([1, 49, 50, 51])(
  'a wait of %i ms ends, although writing the plan takes 50',
  async (retryAfterMs) => {
    const store = new SlowLog();
    const stage = new Stage({
      store,
      says: (_turn, _step, attempt) =>
        attempt === 1 ? { error: { kind: 'overloaded', retryAfterMs } } : { text: 'Done.' },
    });
    store.clock = stage.clock;
    const runtime = await stage.open();
    const session = await stage.send();
    await stage.event(session, 'request.retry');
    stage.clock.advance(Math.max(0, retryAfterMs - 50));
    await stage.event(session, 'turn.ended');
    expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  },
);
