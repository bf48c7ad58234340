/** Random sessions forked at any of their events, and what must hold of every fork. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { conclude } from '../../src/session/conclude.ts';
import { next } from '../../src/session/next.ts';
import type { SessionState } from '../../src/session/state.ts';
import { audit } from '../kit/audit.ts';
import { settings } from '../kit/arbitrary.ts';
import { Play, plan, type Plan } from '../kit/play.ts';

const expectRest = (state: SessionState): void => {
  expect(conclude(state)).toBeUndefined();
  expect(next(state)).toEqual([]);
  expect([state.active, state.queue, state.leftOpen]).toEqual([undefined, [], []]);
};

const forkEverywhere = async (some: Plan, places: readonly number[]): Promise<void> => {
  const play = new Play(some);
  try {
    await play.run();
    const { stage, session } = play;
    const parent = await stage.store.read(session);
    let from = session;
    for (const place of places) {
      const log = await stage.store.read(from);
      const at = 1 + (place % log.length);
      const { session: branch } = await stage.runtime.fork({ session: from, at, closeOpen: true });
      expectRest(await stage.runtime.state(branch));
      const executions = stage.world.executions.length;
      const second = new Play(some, stage);
      second.session = branch;
      await stage.runtime.send({ session: branch, message: 'Here we go on.' });
      await second.heal();
      const heard = stage.heard.filter(({ body }) => body.includes('Here we go on.'));
      await audit(
        { store: stage.store, world: stage.world, heard: [] },
        branch,
        await stage.runtime.state(branch),
      );
      expect(heard.length).toBeGreaterThan(0);
      expect((await verify(stage.store, branch)).findings).toEqual([]);
      // Whatever ran since ran in the fork's own name.
      for (const one of stage.world.executions.slice(executions)) expect(one.call).toContain(branch);
      from = branch;
    }
    // Of what went on in the meantime the parent hears a late result at most.
    const now = await stage.store.read(session);
    expect(now.slice(0, parent.length)).toEqual(parent);
    expect(now.slice(parent.length).every((stored) => open(stored).type === 'call.late')).toBe(true);
    const events = now.map(open);
    const replayed = replay({ session, events, encoderOf: () => neutralEncoder, program: 'fork' });
    expect(replayed.difference).toBeUndefined();
    stage.expectNoWarnings();
  } finally {
    await play.stage.close();
  }
};

test('at any event of any session: the fork rests, proves itself, replays, and goes on in its own name alone', async () => {
  const places = fc.array(fc.nat(9999), { minLength: 1, maxLength: 3 });
  const holds = fc.assert(fc.asyncProperty(plan, places, forkEverywhere), settings({ numRuns: 100 }));
  await expect(holds).resolves.toBeUndefined();
}, 120_000);
