/** A session that takes its drivers down: tried again later and later, parked in the end, and nobody else kept waiting. */
import { describe, expect, test } from 'vitest';
import { MemoryLog } from '../../src/log/memory.ts';
import type { Append, LogStore } from '../../src/log/store.ts';
import { verify } from '../../src/replay/verify.ts';
import { tool } from '../../src/tool/tool.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { LOST_AT_ONCE, LOST_MAX } from '../../src/worker/parking.ts';
import { calm, until } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';

const GONE = { id: 'gone', host: 'elsewhere', boot: '', pid: 1, started: '' };

/** Drivers that claim and are lost before they say a word. */
const loseDrivers = async (store: LogStore, session: string, count: number): Promise<void> => {
  for (let n = 0; n < count; n++)
    await store.claim({ session, owner: GONE, now: 0, leaseMs: 1, isGone: () => true });
};

/** A session with something to do, which nobody drives yet. */
const waiting = async (stage: Stage): Promise<string> => {
  const door = await stage.open({ drive: false });
  const { session } = await door.send({ agent: 'clerk', message: 'Do it.' });
  return session;
};

describe('a session whose drivers are lost before they have said anything', () => {
  test('is parked without being driven once more, says why, and goes on when a person unparks it', async () => {
    const stage = new Stage();
    const session = await waiting(stage);
    await loseDrivers(stage.store, session, LOST_MAX);
    const runtime = await stage.open();
    await stage.event(session, 'session.parked');
    expect(stage.heard).toEqual([]);
    const [row] = await runtime.sessions();
    expect(row?.summary).toMatchObject({
      canGoOn: false,
      waits: { for: 'unpark', since: stage.clock.now() },
    });
    stage.clock.advance(LEASE_MS);
    await calm();
    expect(stage.heard).toEqual([]);
    expect(stage.warnings).toEqual([expect.stringContaining(`after ${LOST_MAX} tries`)]);
    await runtime.unpark(session, { reason: 'more memory' });
    await stage.event(session, 'turn.ended');
    await expect(runtime.unpark(session)).rejects.toMatchObject({ code: 'not-parked' });
    expect((await verify(stage.store, session)).findings).toEqual([]);
  });

  test('is tried at once after a few losses, and after more of them the next driver waits', async () => {
    const stage = new Stage();
    const session = await waiting(stage);
    await loseDrivers(stage.store, session, LOST_AT_ONCE + 1);
    await stage.open();
    await until('it is driven', () => stage.clock.pending > 0);
    await calm();
    expect(stage.heard).toEqual([]);
    stage.clock.advance(999);
    await calm();
    expect(stage.heard).toEqual([]);
    stage.clock.advance(1);
    await stage.event(session, 'turn.ended');
  });

  test('is not parked for what is no fault of its own: a store that was away, a driver that gave it back', async () => {
    const stage = new Stage();
    const session = await waiting(stage);
    await loseDrivers(stage.store, session, LOST_MAX - 1);
    const claim = await stage.store.claim({ session, owner: GONE, now: 0, leaseMs: 1, isGone: () => true });
    if (claim.won) await stage.store.release(session, claim.epoch);
    await stage.open();
    await stage.event(session, 'turn.ended');
    expect(await stage.types(session)).not.toContain('session.parked');
  });
});

test('a session is not parked while each of its drivers gets further before it is lost', async () => {
  const stage = new Stage({
    says: (_, step) =>
      step <= LOST_MAX * 2 ? { calls: [{ tool: 'none', args: { n: step } }] } : { text: 'Done.' },
  });
  const session = await waiting(stage);
  for (let life = 0; life < LOST_MAX + 2; life++) {
    await stage.open();
    stage.crash(3);
    await until('its driver is lost', () => stage.isCrashed);
    stage.clock.advance(LEASE_MS);
  }
  await stage.open();
  await stage.event(session, 'turn.ended');
  const types = await stage.types(session);
  expect(types.filter((type) => type === 'driver.changed').length).toBeGreaterThan(LOST_MAX);
  expect(types).not.toContain('session.parked');
});

/** A store that takes nothing more of one session once it is driven, and says that it is no fault of its own. */
class Poisoned extends MemoryLog {
  readonly refused = new Set<string>();
  override async append(append: Append): Promise<void> {
    if (append.epoch !== undefined && this.refused.has(append.session) && !isParking(append))
      throw new TypeError('the fold chokes on this one');
    return super.append(append);
  }
}

const isParking = ({ events }: Append): boolean => events.some(({ body }) => body.includes('session.parked'));

test('a driver that fails again and again parks its session with what it failed of, and keeps no other from its end', async () => {
  const store = new Poisoned();
  const stage = new Stage({ store });
  const bad = await waiting(stage);
  store.refused.add(bad);
  const runtime = await stage.open();
  const { session: good } = await runtime.send({ agent: 'clerk', message: 'Me, too.' });
  await stage.event(good, 'turn.ended');
  await until('it is parked', async () => {
    stage.clock.advance(LEASE_MS / 3);
    await calm();
    return (await stage.types(bad)).includes('session.parked');
  });
  const parked = (await stage.events(bad)).find((event) => event.type === 'session.parked');
  expect(parked?.data).toEqual({
    reason: 'driver-failed',
    tries: LOST_MAX,
    message: 'the fold chokes on this one',
  });
});

test('no more calls of a tool run at once than the worker may, and the others follow', async () => {
  const release: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const slow = tool({
    name: 'slow',
    description: 'takes its time',
    inputSchema: { type: 'object' },
    effect: 'none',
    execute: async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => release.push(resolve));
      running--;
      return 'done';
    },
  });
  const stage = new Stage({
    tools: () => [slow],
    says: (_, step) =>
      step === 1 ? { calls: [1, 2].map((n) => ({ tool: 'slow', args: { n } })) } : { text: 'Done.' },
  });
  const runtime = await stage.open({ limits: { tools: { slow: 3 } } });
  const sessions = await Promise.all(
    ['a', 'b', 'c'].map(async (message) => (await runtime.send({ agent: 'clerk', message })).session),
  );
  await until('three run', () => running === 3);
  await calm();
  expect(running).toBe(3);
  await until('all have ended', async () => {
    release.splice(0).forEach((done) => done());
    await calm();
    return (await Promise.all(sessions.map((session) => stage.types(session)))).every((types) =>
      types.includes('turn.ended'),
    );
  });
  expect(most).toBe(3);
});
