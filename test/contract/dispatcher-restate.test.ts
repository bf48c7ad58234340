/** The contract of a dispatcher over Restate, on a real server of one node; and what becomes of wakes without it. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Taken } from '../../src/worker/dispatcher.ts';
import { RestateDispatcher } from '../../src/worker/restate-dispatcher.ts';
import { restatePlace } from '../kit/restate-place.ts';
import { noRestate, RestateCluster } from '../kit/restate-server.ts';
import { describeDispatcher } from './dispatcher.ts';

const reason = noRestate();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
const NOTHING: Taken = { kind: 'nothing' };
/** For waits on a server; it only ends what is in vain. */
const PATIENCE = { timeout: 45_000 };
let cluster: RestateCluster;

beforeAll(async () => {
  if (reason === undefined) cluster = await RestateCluster.start();
}, 120_000);
afterAll(() => cluster?.stop());

describe.skipIf(reason !== undefined)(`on a real server${skipped}`, { timeout: 120_000 }, () => {
  describeDispatcher('RestateDispatcher', { place: () => restatePlace(cluster), shared: true });

  test('a call that is under way holds nothing of the conversation, and nothing is left of it', async () => {
    const place = await restatePlace(cluster);
    const dispatcher = await place.open();
    onTestFinished(() => dispatcher.stop());
    const taken = new Set<string>();
    await dispatcher.start({ take: async (session) => (taken.add(session), NOTHING), room: () => 1 });
    for (let i = 0; i < 20; i++) await dispatcher.wake({ session: `s-${i}`, reason: 'appended' });
    await expect.poll(() => taken.size, PATIENCE).toBe(20);
    const left = async (): Promise<unknown> => {
      const answer = await fetch(`${cluster.node(0).admin}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({
          query: `SELECT count(*) AS left FROM sys_invocation WHERE target_service_name = '${place.service}'`,
        }),
      });
      return ((await answer.json()) as { rows: readonly { left: number }[] }).rows[0]?.left;
    };
    await expect.poll(left, PATIENCE).toBe(0);
  });

  test('what a sweep says again and again is said once', async () => {
    const place = await restatePlace(cluster);
    const door = await place.open();
    for (let i = 0; i < 50; i++) await door.wake({ session: 's', reason: 'swept' });
    const worker = await place.open();
    onTestFinished(() => worker.stop());
    const taken: string[] = [];
    await worker.start({ take: async (session) => (taken.push(session), NOTHING), room: () => 1 });
    await door.wake({ session: 'last', reason: 'appended' });
    await expect.poll(() => taken.includes('last') && taken.includes('s'), PATIENCE).toBe(true);
    expect(taken.filter((session) => session === 's')).toHaveLength(1);
  });

  test('what came by way of memory and what comes from Restate is not taken at once', async () => {
    const place = await restatePlace(cluster);
    const worker = await place.open({ ingress: 'http://127.0.0.1:9' });
    onTestFinished(() => worker.stop());
    const passed = Promise.withResolvers<void>();
    const taken: string[] = [];
    let [under, most] = [0, 0];
    await worker.start({
      take: async (session) => {
        taken.push(session);
        if (session !== 's') return NOTHING;
        most = Math.max(most, ++under);
        await passed.promise;
        under--;
        return NOTHING;
      },
      room: () => 10,
    });
    await worker.wake({ session: 's', reason: 'swept' });
    await expect.poll(() => taken).toEqual(['s']);
    const door = await place.open();
    await door.wake({ session: 's', reason: 'appended' });
    // Sent behind it, again and again: by the time that many have come, the call for the other one has, too.
    for (let i = 0; i < 20; i++) await door.wake({ session: `other-${i}`, reason: 'appended' });
    await expect.poll(() => taken.length, PATIENCE).toBeGreaterThan(20);
    passed.resolve();
    await expect.poll(() => taken.filter((session) => session === 's'), PATIENCE).toHaveLength(2);
    expect(most).toBe(1);
  });

  test('a worker that Restate cannot reach does not start', async () => {
    const { admin, ingress } = cluster.node(0);
    const dispatcher = new RestateDispatcher({ ingress, register: { admin, as: 'http://127.0.0.1:9' } });
    await expect(dispatcher.start({ take: async () => NOTHING, room: () => 1 })).rejects.toMatchObject({
      code: 'restate-not-registered',
    });
    await dispatcher.stop();
  });
});

describe('RestateDispatcher without its server', () => {
  test('a worker goes on with what it knows of itself, and says so once', async () => {
    const warnings: string[] = [];
    const dispatcher = new RestateDispatcher({
      ingress: 'http://127.0.0.1:9',
      headers: { authorization: 'Bearer key-of-restate' },
      log: { info: () => undefined, warn: (message) => void warnings.push(message) },
    });
    onTestFinished(() => dispatcher.stop());
    const taken: string[] = [];
    await dispatcher.start({ take: async (session) => (taken.push(session), NOTHING), room: () => 1 });
    for (const session of ['a', 'b', 'c']) await dispatcher.wake({ session, reason: 'swept' });
    await expect.poll(() => taken).toEqual(['a', 'b', 'c']);
    expect(warnings).toHaveLength(1);
    expect(warnings.join()).not.toContain('key-of');
  });

  test('what cannot be meant is refused', () => {
    const ingress = 'http://restate:8080';
    for (const options of [
      { ingress: 'restate:8080' },
      { ingress, register: { admin: 'r' } },
      { ingress, service: 'a/b' },
    ])
      expect(() => new RestateDispatcher(options)).toThrow(
        expect.objectContaining({ code: 'restate-settings-invalid' }),
      );
  });
});
