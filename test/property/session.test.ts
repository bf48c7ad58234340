/** Random sessions through the real runtime, and everything that must hold of each of them. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { open, type StoredEvent } from '../../src/event/envelope.ts';
import type { LogEvent } from '../../src/event/events.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import type { LogStore } from '../../src/log/store.ts';
import { verify } from '../../src/replay/verify.ts';
import { conclude } from '../../src/session/conclude.ts';
import { summaryOf } from '../../src/session/summary.ts';
import { audit, fold } from '../kit/audit.ts';
import { settings } from '../kit/arbitrary.ts';
import { Play, plan, stageFor, type Plan } from '../kit/play.ts';

test('whatever happens: the chain holds, decisions follow, calls have one result, nothing acts twice, requests are exact', async () => {
  const holds = fc.assert(
    fc.asyncProperty(plan, async (some) => {
      const play = new Play(some);
      try {
        await play.run();
        const { stage, session } = play;
        const incremental = await stage.runtime.state(session);
        await audit(stage, session, incremental);
        expect((await verify(stage.store, session)).findings).toEqual([]);
        const [row] = await stage.store.sessions();
        const { status, waiting, inDoubt } = summaryOf(incremental);
        expect(row?.summary).toMatchObject({ status, waiting, inDoubt });
        stage.expectNoWarnings();
      } finally {
        await play.stage.close();
      }
    }),
    settings(),
  );
  await expect(holds).resolves.toBeUndefined();
}, 120_000);

/** The first `seq` events of a session in a store of its own, with every blob that there is. */
const cutAt = async (store: LogStore, session: string, seq: number): Promise<MemoryLog> => {
  const stored: readonly StoredEvent[] = (await store.read(session)).slice(0, seq);
  const state = fold(session, stored.map(open));
  const blobs = [];
  for (const text of stored
    .map((one) => one.body)
    .join(' ')
    .match(/[0-9a-f]{64}/g) ?? []) {
    const bytes = await store.blob(text as never);
    if (bytes) blobs.push({ digest: text as never, bytes });
  }
  const copy = new MemoryLog();
  await copy.append({ session, expected: 0, events: stored, blobs, summary: summaryOf(state) });
  return copy;
};

/** Plays a plan, cuts its log at some events that fit, and lets each of the shorter logs come to its end. */
const playCut = async (
  some: Plan,
  cuts: readonly number[],
  fits: (events: readonly LogEvent[]) => boolean,
): Promise<void> => {
  const play = new Play(some);
  try {
    await play.run();
    const { stage, session } = play;
    const events = (await stage.store.read(session)).map(open);
    const ends = events.map((_, i) => i + 1).filter((seq) => seq > 1 && fits(events.slice(0, seq)));
    for (const cut of cuts) {
      const seq = ends[cut % ends.length] ?? 2;
      const second = new Play(some, stageFor(some, { store: await cutAt(stage.store, session, seq) }));
      try {
        second.session = session;
        await second.heal();
        const { stage: next } = second;
        await audit(
          { store: next.store, world: next.world, heard: next.heard },
          session,
          await next.runtime.state(session),
        );
      } catch (error) {
        throw new Error(`cut at ${seq} of ${events.length}`, { cause: error });
      } finally {
        await second.stage.close();
      }
    }
  } finally {
    await play.stage.close();
  }
};

const cuts = fc.array(fc.nat(999), { minLength: 2, maxLength: 4 });

test('a log that is cut at any commit is taken up and comes to its end', async () => {
  const holds = fc.assert(
    fc.asyncProperty(plan, cuts, (some, where) =>
      playCut(some, where, (events) => conclude(fold('', events)) === undefined),
    ),
    settings({ numRuns: 60 }),
  );
  await expect(holds).resolves.toBeUndefined();
}, 120_000);

test('a log that is cut at any event is taken up and comes to its end', async () => {
  const holds = fc.assert(
    fc.asyncProperty(plan, cuts, (some, where) => playCut(some, where, () => true)),
    settings({ numRuns: 60 }),
  );
  await expect(holds).resolves.toBeUndefined();
}, 120_000);

/** A reply that asks for reads under these labels. */
const calls = (...labels: readonly string[]): Plan['replies'][number] => ({
  calls: labels.map((label, n) => ({ tool: 'none', do: 'ok', n, label, raw: '' })),
  error: false,
  stop: 'calls',
});

test('ids of calls are unique in a request, whatever labels a provider has chosen', async () => {
  const play = new Play({
    replies: [calls('call_1_2_1', 'a'), calls('call_1_2_1')],
    turns: 1,
    asks: false,
    dice: [],
  });
  await play.run();
  expect(await audit(play.stage, play.session)).toBeDefined();
});
