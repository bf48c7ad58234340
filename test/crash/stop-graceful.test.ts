/** A graceful stop leaves the same facts as SIGKILL, plus what comes in while it waits. */
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EffectKind } from '../../src/event/effect-kind.ts';
import { SqliteLog } from '../../src/log/sqlite.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { startChild } from '../kit/child.ts';
import { calm } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';
import { expectProof, eventsOf, Scene, typesOf, type Server } from './children/stage.ts';
import { trio } from './children/trio.ts';

const underWay = async (scene: Scene, drainMs: number): Promise<Server> => {
  const server = await scene.serve({ drainMs });
  await server.line((line) => line.startsWith('slow 3'));
  const results = new Set<string>();
  await server.line((line) => line.endsWith(' call.result') && results.add(line).size === 2);
  return server;
};

/** Ends the process, goes on here, and answers the types of the whole log. */
const storyOf = async (
  kind: EffectKind,
  end: (server: Server) => Promise<void>,
): Promise<readonly string[]> => {
  const scene = new Scene(kind);
  const server = await underWay(scene, 50);
  await end(server);
  const { runtime } = await scene.here();
  await runtime.rest(server.session);
  await expectProof(runtime.store, server.session);
  return typesOf(runtime.store, server.session);
};

const terminate = async (server: Server): Promise<void> => {
  server.process.kill('SIGTERM');
  await server.done();
};

describe('SIGTERM with a call that never settles', () => {
  test.each(['once', 'reconcilable', 'idempotent', 'none'] as const)(
    '%s: the log goes on exactly as after SIGKILL',
    async (kind) => {
      const [killed, stopped] = await Promise.all([
        storyOf(kind, (server) => server.kill()),
        storyOf(kind, terminate),
      ]);
      expect(stopped).toEqual(killed);
      expect(stopped.filter((type) => type === 'driver.changed')).toHaveLength(1);
    },
  );

  test('close() takes as long as it was given, and no longer', async () => {
    const stage = new Stage({ says: () => ({ calls: [{ tool: 'once', args: { do: 'hang' } }] }) });
    const runtime = await stage.open();
    await stage.event(await stage.send(), 'call.started');
    let isClosed = false;
    const closed = runtime.close({ drainMs: 100 }).then(() => (isClosed = true));
    await calm();
    stage.clock.advance(99);
    await calm();
    expect(isClosed).toBe(false);
    stage.clock.advance(1);
    await closed;
  });
});

test('a result that comes while the process waits is recorded, and nothing is begun after the signal', async () => {
  const scene = new Scene('once');
  const server = await underWay(scene, 20_000);
  server.process.kill('SIGTERM');
  await server.line((line) => line === 'closing');
  server.say('settle');
  await server.done();
  const before = new SqliteLog(scene.file);
  onTestFinished(() => before.close());
  const types = await typesOf(before, server.session);
  expect(types.filter((type) => type === 'call.result')).toHaveLength(3);
  expect(types.filter((type) => type === 'request.built')).toHaveLength(1);
  expect(scene.world.filter((line) => line.startsWith('model'))).toEqual(['model 1.1#1']);

  const { runtime, told } = await scene.here();
  expect(await runtime.rest(server.session)).toMatchObject({ status: 'done' });
  expect(told).toEqual(['model 1.2#1']);
  // Nothing was lost: nobody has to say so.
  expect(await typesOf(runtime.store, server.session)).not.toContain('driver.changed');
});

test('a response that comes while the process waits is recorded with what it asks for, and none of it is begun', async () => {
  const scene = new Scene('once');
  const server = await scene.serve({ modelWaits: true, drainMs: 20_000 });
  await server.line((line) => line === 'model 1.1#1');
  server.process.kill('SIGTERM');
  await server.line((line) => line === 'closing');
  server.say('settle');
  await server.done();
  const { runtime, told } = await scene.here();
  await runtime.rest(server.session);
  const events = await expectProof(runtime.store, server.session);
  expect(events.filter((event) => event.type === 'response.received')).toHaveLength(2);
  expect(events.filter((event) => event.type === 'driver.changed')).toEqual([]);
  expect(scene.world).toEqual(['model 1.1#1']);
  expect(told.filter((line) => line.startsWith('model'))).toEqual(['model 1.2#1']);
});

test('a locked store does not hold close() up, and what was in hand is not taken for written', async () => {
  const scene = new Scene('once');
  const server = await underWay(scene, 100);
  const locker = startChild('child-locker.ts', [scene.file]);
  await locker.line((line) => line === 'locked');
  server.say('settle');
  // Lines are read in order: its result is in hand by then.
  server.say('fault');
  await server.line((line) => line === 'fault none');
  await terminate(server);
  locker.say('go');
  await locker.line((line) => line === 'unlocked');
  const { runtime } = await scene.here();
  expect(await runtime.rest(server.session)).toMatchObject({ status: 'in-doubt', inDoubt: ['1.1.3'] });
  const events = await eventsOf(runtime.store, server.session);
  expect(events.filter((event) => event.type === 'call.result')).toHaveLength(2);
});

describe('close() in one process', () => {
  test('a session that was given up can be driven by the next runtime of the same process at once', async () => {
    const scene = new Scene('once');
    const first = await scene.here({ slow: () => new Promise(() => undefined) });
    const { session } = await first.runtime.send({ agent: 'trio', message: 'Do all three.' });
    for await (const event of first.runtime.follow(session))
      if (event.type === 'call.result' && (await typesOf(first.runtime.store, session)).length > 0) break;
    await first.runtime.close({ drainMs: 0 });
    const { runtime } = await scene.here();
    expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt' });
  });

  test('whoever waits for a session to rest is answered when it is given up', async () => {
    const { runtime } = await new Scene('once').here({ slow: () => new Promise(() => undefined) });
    const { session } = await runtime.send({ agent: 'trio', message: 'Do all three.' });
    for await (const event of runtime.follow(session)) if (event.type === 'call.result') break;
    const rest = runtime.rest(session).then(
      () => 'answered',
      () => 'answered',
    );
    await runtime.close({ drainMs: 0 });
    expect(await rest).toBe('answered');
  });

  test('two who close wait for the same end', async () => {
    const slow = Promise.withResolvers<string>();
    const scene = new Scene('once');
    const { runtime } = await scene.here({ slow: () => slow.promise });
    const { session } = await runtime.send({ agent: 'trio', message: 'Do all three.' });
    for await (const event of runtime.follow(session)) if (event.type === 'call.result') break;
    const ends: string[] = [];
    const first = runtime.close().then(() => void ends.push('first'));
    const second = runtime.close().then(() => void ends.push('second'));
    slow.resolve('done');
    await second;
    await first;
    expect(ends).toEqual(['first', 'second']);
    const store = new SqliteLog(scene.file);
    onTestFinished(() => store.close());
    expect((await typesOf(store, session)).filter((type) => type === 'call.result')).toHaveLength(3);
  });

  test('a command after the end is refused with words and not left unanswered', async () => {
    const { runtime } = await new Scene('once').here({ drive: false });
    const { session } = await runtime.send({ agent: 'trio', message: 'Do all three.' });
    await runtime.close();
    for (const command of [
      runtime.send({ agent: 'trio', message: 'Once more.' }),
      runtime.send({ session, message: 'Once more.' }),
      runtime.cancel(session),
    ])
      await expect(command).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  test('a process whose work is done ends by itself: nothing of a closed runtime keeps it alive', async () => {
    const server = await new Scene('once').serve();
    await server.line((line) => line.startsWith('slow 3'));
    server.say('settle');
    await server.line((line) => line.endsWith('turn.ended'));
    server.process.kill('SIGTERM');
    const [code] = (await once(server.process, 'close')) as [number];
    expect(code).toBe(0);
  });
});

test('the agent of these tests does what it is asked when nobody disturbs it', async () => {
  const scene = new Scene('once');
  const store = new SqliteLog(scene.file);
  const told: string[] = [];
  const runtime = await openRuntime({
    store,
    agents: [trio({ kind: 'once', tell: (line) => told.push(line) })],
  });
  onTestFinished(() => runtime.close());
  const { session } = await runtime.send({ agent: 'trio', message: 'Do all three.' });
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(told.map((line) => line.split(' ')[0])).toEqual(['model', 'fast', 'fast', 'slow', 'model']);
});
