/** A process is gone: what is picked up, by whom, when, and what is never done twice. */
import { describe, expect, test } from 'vitest';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { audit } from '../kit/audit.ts';
import { calm, until } from '../kit/clock.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { ALL_RUN, Stage } from '../kit/stage.ts';

const CALLS = [
  { tool: 'none', args: { n: 1 } },
  { tool: 'idempotent', args: { n: 2 } },
  { tool: 'reconcilable', args: { n: 3 } },
  { tool: 'once', args: { n: 4 } },
];

/** Runs a session to its end with one crash; answers doubts as the world knows them. */
const runWithCrash = async (appends: number, stage: Stage): Promise<string> => {
  await stage.open();
  stage.crash(appends);
  void stage.runtime.send({ agent: 'clerk', key: 'k', message: 'Do it.' });
  await calm(40);
  if (!stage.isCrashed) stage.crash();
  stage.clock.advance(LEASE_MS + 1);
  const runtime = await stage.open();
  const [row] = await stage.store.sessions();
  if (!row) return '';
  const { session } = row;
  for (let rest = await runtime.rest(session); rest.inDoubt.length > 0; rest = await runtime.rest(session))
    for (const id of rest.inDoubt)
      await runtime.settle({
        session,
        call: id as '1.1.1',
        settlement:
          stage.world.of(id).length > 0 ? { answer: 'happened', content: [] } : { answer: 'not-happened' },
      });
  return session;
};

describe('cut in any append', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'append %i is written and never acknowledged: all ends well',
    async (appends) => {
      const stage = new Stage({ says: (_, step) => (step === 1 ? { calls: CALLS } : { text: 'Done.' }) });
      const session = await runWithCrash(appends, stage);
      expect(session).not.toBe('');
      expect(await stage.runtime.rest(session)).toMatchObject({ status: 'done' });
      expect(stage.world.of('once').length).toBe(1);
      const events = await audit(stage, session, await stage.state(session));
      expect(events.filter((event) => event.type === 'turn.ended')).toHaveLength(1);
    },
  );
});

const hanging = (): Stage =>
  new Stage({
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'none', args: { do: 'hang' } }] } : { text: 'Done.' }),
  });

describe('take over', () => {
  test('nobody takes a session whose driver says that it is there', async () => {
    const stage = hanging();
    await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    const other = await stage.open();
    for (let i = 0; i < 4; i++) {
      stage.clock.advance(200);
      await calm();
    }
    expect((await other.rest(session)).status).toBe('running');
    expect((await stage.types(session)).includes('driver.changed')).toBe(false);
  });

  test('a session of a process that is gone is taken up when its lease has run out, without anybody asking', async () => {
    const stage = hanging();
    await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    stage.crash();
    await stage.open();
    for (let i = 0; i < 12; i++) {
      stage.clock.advance(LEASE_MS / 3);
      await calm();
    }
    expect(await stage.types(session)).toContain('driver.changed');
  });

  test('work that was lost while another call of the step waits for a person is taken up', async () => {
    const stage = new Stage({
      says: (_, step) =>
        step === 1
          ? {
              calls: [
                { tool: 'none', args: { n: 1 } },
                { tool: 'once', args: { n: 2 } },
              ],
            }
          : { text: 'Done.' },
      policy: { rules: [] },
      tools: (world) => [world.tool('none', 'none', { timeoutMs: 100_000 }), world.tool('once', 'once')],
    });
    await stage.open();
    // Cut after the commit that starts call 1 and asks about call 2.
    stage.crash(3);
    void stage.runtime.send({ agent: 'clerk', message: 'Do it.' });
    await until('the process is gone', () => stage.isCrashed);
    await calm();
    const [row] = await stage.store.sessions();
    expect(row?.summary.status).toBe('waiting');
    stage.clock.advance(LEASE_MS + 1);
    await stage.open();
    await stage.event(row?.session ?? '', 'call.result');
  });

  test('a driver that was taken over from writes nothing more and starts nothing more', async () => {
    const store = new MemoryLog();
    const stage = new Stage({
      store,
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'none', args: { do: 'late', n: 1 } }] } : { text: 'Done.' },
      tools: (world) => [world.tool('none', 'none', { timeoutMs: 60_000 })],
    });
    await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    // Somebody takes the lease, as after a pause of this process that was longer than it.
    const owner = { id: 'other', host: 'other', boot: 'b', pid: 1, started: '' };
    await store.claim({
      session,
      owner,
      now: stage.clock.now() + 2 * LEASE_MS,
      leaseMs: LEASE_MS,
      isGone: () => false,
    });
    const head = await store.head(session);
    stage.clock.advance(2000);
    await calm();
    const after = (await stage.events(session)).filter((event) => event.seq > (head?.seq ?? 0));
    expect(after.filter((event) => event.type !== 'call.late')).toEqual([]);
    expect(stage.world.executions).toHaveLength(1);
    expect(stage.heard).toHaveLength(1);
    // What its tool has said meanwhile is evidence that nobody else has.
    expect(after).toMatchObject([{ type: 'call.late', data: { call: '1.1.1', outcome: { kind: 'ok' } } }]);
  });
});

const says = (turn: number, step: number): object =>
  turn === 1 && step < 3 ? { calls: [{ tool: 'once', args: { n: step } }] } : { text: 'Done.' };

describe('a new build', () => {
  test('whose limits end the turn: the turn is ended, and no request is built for it after that', async () => {
    const stage = new Stage({ says, policy: { rules: [] } });
    await stage.open();
    const session = await stage.send();
    const [call] = await stage.asking(session, '1.1.1');
    stage.crash();
    stage.clock.advance(LEASE_MS + 1);
    const { agent } = new Stage({ says, policy: ALL_RUN, limits: { stepsPerTurn: 1 } });
    const runtime = await stage.open({ agent });
    if (!call?.digest) throw new Error('the call waits');
    await runtime.decide({ session, call: '1.1.1', digest: call.digest, decision: { do: 'reject' } });
    await runtime.rest(session);
    const types = await stage.types(session);
    expect(types).toContain('agent.updated');
    const end = types.indexOf('turn.ended');
    expect(end < 0 ? [] : types.slice(end)).not.toContain('request.built');
    await audit(stage, session, await runtime.state(session));
  });
});

describe('closing', () => {
  test('a store that fails when a lease is given back does not take the process down', async () => {
    const failures: unknown[] = [];
    const note = (reason: unknown): void => void failures.push(reason);
    process.on('unhandledRejection', note);
    try {
      const store = new MemoryLog();
      store.release = async (): Promise<never> => {
        throw new Error('the disk is full');
      };
      const stage = new Stage({ store });
      await stage.open();
      const session = await stage.send();
      await stage.event(session, 'turn.ended');
      await calm();
      expect(failures).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  test('close leaves what runs as the log has it, and the next process goes on', async () => {
    const stage = new Stage({
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'once', args: { do: 'hang' } }] } : { text: 'Done.' },
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await stage.event(session, 'call.started');
    const closed = runtime.close({ drainMs: 500 });
    await calm();
    stage.clock.advance(500);
    await closed;
    stage.clock.advance(LEASE_MS);
    const after = await stage.open();
    expect(await after.rest(session)).toMatchObject({ status: 'in-doubt' });
    expect(stage.world.executions).toHaveLength(1);
  });
});

describe('a fault of the model or the tools', () => {
  /** So often the fault comes before it stops by itself, so that a test can end that should have ended earlier. */
  const TOO_OFTEN = 30;

  test('a model that answers with what no log can hold is not asked for ever', async () => {
    const stage = new Stage({
      says: (_, step, attempt) => ({
        text: 'Hi.',
        ...(attempt < TOO_OFTEN && step > 0 && { cost: Number.NaN }),
      }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    expect(stage.heard.length).toBeLessThan(10);
  });

  test('a reconciliation that answers nonsense leaves the call in doubt', async () => {
    const stage = new Stage({
      says: (_, step) =>
        step === 1 ? { calls: [{ tool: 'reconcilable', args: { do: 'throw' } }] } : { text: 'Done.' },
    });
    stage.world.reconcile = () =>
      (stage.world.asked.length < TOO_OFTEN
        ? { happened: 'unknown', note: 12n }
        : { happened: false }) as never;
    const runtime = await stage.open();
    const session = await stage.send();
    expect(await runtime.rest(session)).toMatchObject({ status: 'in-doubt' });
    expect(stage.world.asked.length).toBeLessThan(10);
  });

  test('an error whose message is no text is an outcome like any other', async () => {
    const stage = new Stage({
      says: (_, step) => (step === 1 ? { calls: [{ tool: 'odd' }] } : { text: 'Done.' }),
      tools: (world) => [
        world.tool('odd', 'none', {
          execute: () => {
            throw Object.assign(new Error(), { message: { reason: 'an object' } });
          },
        }),
      ],
    });
    const runtime = await stage.open();
    const session = await stage.send();
    const rested = runtime.rest(session).then((rest) => rest.status);
    expect(await Promise.race([rested, calm(300).then(() => 'no rest')])).toBe('done');
    stage.crash();
  });
});
