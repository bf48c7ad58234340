/** SIGKILL while three calls are under way and two of them are done: each kind of effect as it has to be. */
import { describe, expect, test } from 'vitest';
import type { EffectKind } from '../../src/event/effect-kind.ts';
import { expectProof, keysOf, Scene, type Server } from './children/stage.ts';

/** Kills the process when two results are in its log and the third call is in the world. */
const killedInTheMiddle = async (kind: EffectKind): Promise<{ scene: Scene; server: Server }> => {
  const scene = new Scene(kind);
  const server = await scene.serve();
  await server.line((line) => line.startsWith('slow 3'));
  let results = 0;
  const seen = new Set<string>();
  await server.line((line) => {
    if (line.endsWith(' call.result') && !seen.has(line)) results = seen.add(line).size;
    return results === 2;
  });
  await server.kill();
  return { scene, server };
};

const MODEL_ONCE_A_STEP = ['model 1.1#1', 'model 1.2#1'];

describe('SIGKILL with two of three calls done', () => {
  test('once: the two are reused, the third is in doubt until a person says', async () => {
    const { scene, server } = await killedInTheMiddle('once');
    const { runtime, told } = await scene.here();
    expect(await runtime.rest(server.session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.3'] });
    expect(told).toEqual([]);
    await runtime.settle({
      session: server.session,
      call: '1.1.3',
      settlement: { answer: 'happened', content: [{ type: 'text', text: 'I saw it.' }] },
    });
    expect(await runtime.rest(server.session)).toMatchObject({ status: 'done', inDoubt: [] });
    expect(told).toEqual(['model 1.2#1']);
    const all = [...scene.world, ...told];
    expect(all.filter((line) => line.startsWith('model'))).toEqual(MODEL_ONCE_A_STEP);
    expect(keysOf(all, 'fast')).toHaveLength(2);
    expect(keysOf(all, 'slow')).toHaveLength(1);
    const events = await expectProof(runtime.store, server.session);
    expect(events.filter((event) => event.type === 'call.doubted')).toHaveLength(1);
    expect(events.filter((event) => event.type === 'driver.changed')).toHaveLength(1);
  });

  test.each([
    ['reconcilable', ['reconcile 3'], 0],
    ['idempotent', ['slow 3'], 1],
    ['none', ['slow 3'], 1],
  ] as const)('%s: the third is settled without anybody', async (kind, does, again) => {
    const { scene, server } = await killedInTheMiddle(kind);
    const before = scene.world;
    const { runtime, told } = await scene.here();
    expect(await runtime.rest(server.session)).toMatchObject({ status: 'done', inDoubt: [] });
    expect(told.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([...does, 'model 1.2#1']);
    const all = [...before, ...told];
    expect(all.filter((line) => line.startsWith('model'))).toEqual(MODEL_ONCE_A_STEP);
    expect(keysOf(all, 'fast')).toHaveLength(2);
    // The same key in both processes: the service behind it can tell that it is the same call.
    expect(keysOf(all, 'slow')).toHaveLength(1 + again);
    expect(new Set(keysOf(all, 'slow')).size).toBe(1);
    const events = await expectProof(runtime.store, server.session);
    expect(events.filter((event) => event.type === 'call.doubted')).toEqual([]);
    expect(events.filter((event) => event.type === 'driver.changed')).toHaveLength(1);
    const results = events.flatMap((event) => (event.type === 'call.result' ? [event.data.call] : []));
    expect(new Set(results).size).toBe(results.length);
  });

  test('what reconcile cannot say is a doubt for a person', async () => {
    const { scene, server } = await killedInTheMiddle('reconcilable');
    const { runtime } = await scene.here({ reconcile: () => ({ happened: 'unknown', note: 'no trace' }) });
    expect(await runtime.rest(server.session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.3'] });
  });

  test('what reconcile denies is run again under the same key', async () => {
    const { scene, server } = await killedInTheMiddle('reconcilable');
    const { runtime, told } = await scene.here({ reconcile: () => ({ happened: false }) });
    expect(await runtime.rest(server.session)).toMatchObject({ status: 'done' });
    expect(keysOf(told, 'slow')).toEqual(keysOf(scene.world, 'slow'));
  });
});

test('SIGKILL while the model is asked: it is asked again, and only for that step', async () => {
  const scene = new Scene('once');
  const server = await scene.serve({ modelWaits: true });
  await server.line((line) => line === 'model 1.1#1');
  await server.kill();
  const { runtime, told } = await scene.here();
  expect(await runtime.rest(server.session)).toMatchObject({ status: 'done' });
  expect(told.filter((line) => line.startsWith('model'))).toEqual(['model 1.1#2', 'model 1.2#1']);
  const events = await expectProof(runtime.store, server.session);
  const retry = events.find((event) => event.type === 'request.retry');
  expect(retry?.data).toMatchObject({ reason: 'process-lost', maybeBilled: true });
});
