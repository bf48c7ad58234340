/** Field cases that are about PostgreSQL itself: it goes away, and two machines share it. */
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { startChild } from '../kit/child.ts';
import { CutWire } from '../kit/cut-wire.ts';
import { tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { soon, typesOf } from '../crash/children/stage.ts';
import { Bench } from './bench.ts';
import { expectEffects, expectLog, expectRun } from './expected.ts';
import type { Plan } from './plan.ts';
import { sender } from './sender.ts';
import { postgres } from './stores.ts';

/** The server is gone for so long in a case; its clients wait on the case's clock. */
const OUTAGE_MS = 30_000;
const STEP_MS = 1000;
/** As often a step of it passes while the server is looked for again. */
const TICK_MS = 5;

export const POSTGRES: Readonly<Record<string, Plan>> = {
  'FC-89': async (given) => {
    const server = await postgres();
    const wire = await CutWire.to(server.port);
    const url = (await server.store()).replace(`:${server.port}`, `:${wire.port}`);
    const store = await openPostgres(url);
    const bench = new Bench({ ...given, on: { next: () => store } });
    await bench.open();
    await bench.send();
    // The effect takes place, and nothing more gets through: connections are taken and end at once.
    bench.stubs.onEffect = () => wire.turn(1);
    await soon('the store is away', () => bench.runtime.storageFault?.fault === 'unavailable');
    for (let passed = 0; passed < OUTAGE_MS; passed += STEP_MS) {
      bench.clock.advance(STEP_MS);
      await soon('it is tried again', () => bench.clock.pending > 0);
    }
    expect(bench.runtime.storageFault?.fault).toBe('unavailable');
    expectEffects(bench, { send: 1 });
    wire.turn(server.port);
    // The store looks again at times of its own, seconds apart: only the case's deadline ends this.
    const tick = setInterval(() => bench.clock.advance(STEP_MS), TICK_MS);
    await bench.rest().finally(() => clearInterval(tick));
    await expectRun(bench, 'completed');
    expectEffects(bench, { send: 1 });
    await expectLog(bench, ['tool.started c1', 'tool.finished c1']);
    expect(await bench.count('call.started')).toBe(1);
  },
  'FC-95': async () => {
    const url = await (await postgres()).store();
    const world = join(tempFolder(), 'world');
    const sent = (): number => linesIn(world).length;
    const a = startChild('../field/child-sender.ts', [url, world]);
    const session = (await a.line((line) => line.startsWith('session '))).slice('session '.length);
    await soon('it is sent', () => sent() === 1);
    a.process.kill('SIGSTOP');
    // Another machine, whose clock shows that the lease has run out: it cannot see whether the first one lives.
    const clock = { ...systemClock, now: () => Date.now() + LEASE_MS + 1000 };
    const store = await openPostgres(url);
    const b = await openRuntime({
      store,
      clock,
      isGone: () => false,
      agents: [sender(() => Promise.reject(new Error('nobody sends twice')))],
    });
    onTestFinished(() => b.close({ drainMs: 0 }));
    await soon('the other one has it', async () => (await typesOf(store, session)).includes('call.doubted'));
    expect((await b.rest(session)).status).toBe('in-doubt');
    expect(await typesOf(store, session)).toEqual(expect.arrayContaining(['driver.changed', 'call.doubted']));
    a.process.kill('SIGCONT');
    a.say('go\n');
    // What the first one knows is evidence, and settles it.
    await soon('the turn ends', async () => (await typesOf(store, session)).includes('turn.ended'));
    const types = await typesOf(store, session);
    expect(types.filter((type) => type === 'call.started')).toHaveLength(1);
    expect(types.indexOf('call.late')).toBeGreaterThan(types.indexOf('call.doubted'));
    expect(types.filter((type) => type === 'call.result')).toEqual([]);
    expect(sent()).toBe(1);
  },
};
