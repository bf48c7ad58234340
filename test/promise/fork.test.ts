/** A fork has the whole past and none of its leave: what was open is closed, and what it does is its own doing. */
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../src/event/events.ts';
import { open as openEvent, seal, type StoredEvent } from '../../src/event/envelope.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { rebuildRequest } from '../../src/context/rebuild.ts';
import { next, waiting } from '../../src/session/next.ts';
import { verify } from '../../src/replay/verify.ts';
import type { Digest } from '../../src/event/canonical.ts';
import { ANNA } from '../kit/story.ts';
import { audit } from '../kit/audit.ts';
import { calm } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';
import { TOOL_TIMEOUT } from '../kit/world.ts';

type Says = NonNullable<NonNullable<ConstructorParameters<typeof Stage>[0]>['says']>;

/** Turn by turn: what the first step asks for; then the model is done. */
const saying =
  (turns: Readonly<Record<number, Parameters<typeof Array.of>[0]>>): Says =>
  (turn, step) => {
    const calls = turns[turn] as { tool: string; args: object }[] | undefined;
    return step === 1 && calls ? { calls: calls as never } : { text: `Done with ${turn}.` };
  };

const ONCE = { tool: 'once', args: { n: 1 } };

const types = (events: readonly LogEvent[]): readonly string[] => events.map(({ type }) => type);

/** The events of a fork that are its own. */
const own = async (stage: Stage, session: string, at: number): Promise<readonly LogEvent[]> =>
  (await stage.events(session)).slice(at);

const proved = async (stage: Stage, session: string): Promise<void> => {
  expect((await verify(stage.store, session)).findings).toEqual([]);
  await audit({ store: stage.store, world: stage.world, heard: [] }, session, await stage.state(session));
};

const bodyOf = async (stage: Stage, session: string, turn: number, step: number): Promise<string> => {
  const events = await stage.events(session);
  const built = events.find(
    (event) => event.type === 'request.built' && event.data.turn === turn && event.data.step === step,
  );
  const source = {
    eventAt: (seq: number) => events[seq - 1],
    blob: (digest: Digest) => stage.store.blob(digest),
  };
  return (await rebuildRequest(source, built?.seq ?? 0)).body;
};

describe('a fork of a session that rests', () => {
  test('is idle, goes on from the shared past, and its parent does not notice', async () => {
    const stage = new Stage({ store: openSqlite(tempFile()) });
    const runtime = await stage.open();
    const session = await stage.send('The first.');
    await runtime.rest(session);
    const before = await stage.store.read(session);

    const forked = await runtime.fork({ session, by: ANNA });
    expect(forked).toMatchObject({ parent: { session, seq: before.length }, replayed: false });
    const branch = forked.session;
    expect(branch).toMatch(/^s_[0-9A-Z]{8}$/);
    expect(types(await own(stage, branch, before.length))).toEqual(['session.forked']);
    expect(await runtime.sessions({ forkOf: session })).toMatchObject([
      {
        session: branch,
        fork: { parent: session, seq: before.length },
        summary: { status: 'done', turns: 1 },
      },
    ]);

    await runtime.send({ session: branch, message: 'The second, here.' });
    await runtime.rest(branch);
    const there = await runtime.send({ session, message: 'The second, there.' });
    await runtime.rest(session);
    expect(there.turn).toBe(2);
    expect((await stage.store.read(branch)).slice(0, before.length)).toEqual(before);
    expect(await bodyOf(stage, branch, 2, 1)).toMatch(/The first\..*Done\..*The second, here\./);
    expect(await bodyOf(stage, session, 2, 1)).toMatch(/The first\..*Done\..*The second, there\./);
    await proved(stage, branch);
    await proved(stage, session);
    stage.expectNoWarnings();
  });

  test('no byte of the past is stored again', async () => {
    const stage = new Stage();
    const runtime = await stage.open();
    const session = await stage.send('x'.repeat(10_000));
    await runtime.rest(session);
    const past = await stage.store.read(session);
    const { session: branch } = await runtime.fork({ session });
    // The very same values, not equal ones.
    for (const [i, event] of (await stage.store.read(branch)).slice(0, past.length).entries())
      expect(event).toBe(past[i]);
  });

  test('the same key at the same place is the same fork, also at one moment; another key is another', async () => {
    const stage = new Stage();
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    const many = await Promise.all(Array.from({ length: 5 }, () => runtime.fork({ session, key: 'try' })));
    expect(new Set(many.map((one) => one.session)).size).toBe(1);
    expect(many.filter((one) => !one.replayed)).toHaveLength(1);
    expect((await runtime.fork({ session, key: 'else' })).session).not.toBe(many[0]?.session);
    expect((await runtime.fork({ session, key: 'try', at: 1 })).session).not.toBe(many[0]?.session);
    expect(await runtime.sessions({ forkOf: session })).toHaveLength(3);
  });

  test('of a fork it is the fork of whoever wrote the last shared event', async () => {
    const stage = new Stage();
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    const first = await runtime.fork({ session });
    await runtime.send({ session: first.session, message: 'On.' });
    await runtime.rest(first.session);
    const second = await runtime.fork({ session: first.session });
    expect(second.parent.session).toBe(first.session);
    // Before the first fork's own part, the two are one and the same past.
    const early = await runtime.fork({ session: second.session, at: 1 });
    expect(early.parent).toMatchObject({ session, seq: 1 });
    for (const one of [first, second, early]) await proved(stage, one.session);
  });

  test('a place that is not there is refused, and nothing is made', async () => {
    const stage = new Stage();
    const runtime = await stage.open();
    const session = await stage.send();
    const { seq } = await runtime.rest(session);
    await expect(runtime.fork({ session, at: seq + 1 })).rejects.toMatchObject({
      code: 'fork-place-missing',
    });
    await expect(runtime.fork({ session, at: 0 })).rejects.toMatchObject({ code: 'fork-place-invalid' });
    await expect(runtime.fork({ session: 's_NOBODY' })).rejects.toMatchObject({ code: 'session-not-found' });
    await expect(runtime.fork({ session, key: 'a b' })).rejects.toMatchObject({ code: 'turn-key-invalid' });
    expect(await runtime.sessions()).toHaveLength(1);
  });
});

describe('what was open where a fork begins', () => {
  test('an approval that waits is not asked again: its call is not run here, and the parent still asks', async () => {
    const stage = new Stage({ policy: { rules: [] }, says: saying({ 1: [ONCE] }) });
    const runtime = await stage.open();
    const session = await stage.send();
    const [call] = await stage.asking(session, '1.1.1');
    const at = (await stage.events(session)).length;
    const { session: branch } = await runtime.fork({ session, closeOpen: true });
    const after = await own(stage, branch, at);
    expect(types(after)).toEqual(['session.forked', 'call.cancelled', 'turn.ended']);
    expect(after[1]?.data).toEqual({ call: '1.1.1', fork: 'not-run' });
    expect(after[2]?.data).toEqual({
      turn: 1,
      outcome: 'cancelled',
      reason: 'forked',
      receipt: { landed: [], stopped: ['1.1.1'], inDoubt: [] },
    });
    const digest = call?.digest as Digest;
    await expect(
      runtime.decide({ session: branch, call: '1.1.1', digest, decision: { do: 'approve' } }),
    ).rejects.toMatchObject({ code: 'turn-cancelled' });
    await runtime.send({ session: branch, message: 'And now?' });
    await runtime.rest(branch);
    expect(await bodyOf(stage, branch, 2, 1)).toContain('It was not run in this branch');
    expect(stage.world.executions).toHaveLength(0);
    await runtime.decide({ session, call: '1.1.1', digest, decision: { do: 'approve' } });
    await runtime.rest(session);
    expect(stage.world.executions.map((one) => one.call)).toEqual([`${session} 1.1.1`]);
    await proved(stage, branch);
    await proved(stage, session);
  });

  test('an approval that was given is no leave for the fork', async () => {
    const stage = new Stage({ policy: { rules: [] }, says: saying({ 1: [ONCE], 2: [ONCE] }) });
    const runtime = await stage.open();
    const session = await stage.send();
    const [call] = await stage.asking(session, '1.1.1');
    const digest = call?.digest as Digest;
    await runtime.decide({ session, call: '1.1.1', digest, decision: { do: 'approve' } });
    await runtime.rest(session);
    const decided = await stage.event(session, 'approval.decided');
    // Approved, and not started yet.
    const { session: branch } = await runtime.fork({ session, closeOpen: true, at: decided.seq });
    expect(await runtime.rest(branch)).toMatchObject({ status: 'cancelled' });
    await runtime.send({ session: branch, message: 'Again.' });
    expect(await runtime.rest(branch)).toMatchObject({ status: 'waiting', approvals: ['2.1.1'] });
    expect(stage.world.executions.map((one) => one.call)).toEqual([`${session} 1.1.1`]);
    await proved(stage, branch);
  });

  test('a call that was started is closed as unknown; its twin asks a person although policy lets it run', async () => {
    const stage = new Stage({
      says: saying({
        1: [{ tool: 'once', args: { n: 1, do: 'hang' } }],
        2: [{ tool: 'once', args: { do: 'hang', n: 1 } }],
      }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    const started = await stage.event(session, 'call.started');
    await calm();
    const { session: branch } = await runtime.fork({ session, closeOpen: true, at: started.seq });
    const after = await own(stage, branch, started.seq);
    expect(after[1]).toMatchObject({ type: 'call.cancelled', data: { fork: 'unknown' } });
    expect(after[2]?.data).toMatchObject({ receipt: { inDoubt: ['1.1.1'], stopped: [] } });
    await runtime.send({ session: branch, message: 'Again.' });
    expect(await runtime.rest(branch)).toMatchObject({ status: 'waiting', approvals: ['2.1.1'] });
    expect(await bodyOf(stage, branch, 2, 1)).toContain('not known in this branch');
    expect(stage.world.executions).toHaveLength(1);
    await proved(stage, branch);
  });

  test('a call in doubt is left to the parent, also one of a turn that has ended; a twin still asks', async () => {
    for (const cancels of [false, true]) {
      const stage = new Stage({
        says: saying({
          1: [{ tool: 'once', args: { n: 1, do: 'hang' } }],
          2: [{ tool: 'once', args: { n: 1, do: 'hang' } }],
        }),
      });
      const runtime = await stage.open();
      const session = await stage.send();
      await stage.event(session, 'call.started');
      await calm();
      stage.clock.advance(TOOL_TIMEOUT);
      await stage.event(session, 'call.doubted');
      if (cancels) await runtime.cancel(session);
      await runtime.rest(session);
      const { session: branch } = await runtime.fork({ session, closeOpen: true });
      expect(await runtime.rest(branch)).toMatchObject({ status: 'cancelled', inDoubt: [] });
      await expect(
        runtime.settle({ session: branch, call: '1.1.1', settlement: { answer: 'give-up' } }),
      ).rejects.toMatchObject({ code: 'call-not-found' });
      await runtime.send({ session: branch, message: 'Again.' });
      expect(await runtime.rest(branch)).toMatchObject({ approvals: ['2.1.1'] });
      expect(waiting(await stage.state(session)).inDoubt).toEqual(['1.1.1']);
      await proved(stage, branch);
    }
  });

  test('a request under way is dropped; the fork asks nobody before somebody writes', async () => {
    const stage = new Stage();
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    const built = await stage.event(session, 'request.built');
    const heard = stage.heard.length;
    const { session: branch } = await runtime.fork({ session, closeOpen: true, at: built.seq });
    await runtime.rest(branch);
    expect(stage.heard).toHaveLength(heard);
    expect(types(await own(stage, branch, built.seq))).toEqual(['session.forked', 'turn.ended']);
    await proved(stage, branch);
  });

  test('turns that wait are closed one by one, and the model does not hear of them', async () => {
    const stage = new Stage({ policy: { rules: [] }, says: saying({ 1: [ONCE] }) });
    const runtime = await stage.open();
    const session = await stage.send('The first.');
    await stage.asking(session, '1.1.1');
    await runtime.send({ session, message: 'The second waits.' });
    await runtime.send({ session, message: 'The third waits, too.' });
    const at = (await stage.events(session)).length;
    const { session: branch } = await runtime.fork({ session, closeOpen: true });
    const ended = (await own(stage, branch, at)).flatMap((event) =>
      event.type === 'turn.ended' ? [[event.data.turn, event.data.outcome, event.data.reason]] : [],
    );
    expect(ended).toEqual([1, 2, 3].map((turn) => [turn, 'cancelled', 'forked']));
    const state = await stage.state(branch);
    expect([state.active, state.queue, next(state)]).toEqual([undefined, [], []]);
    await runtime.send({ session: branch, message: 'The fourth is heard.' });
    await runtime.rest(branch);
    const body = await bodyOf(stage, branch, 4, 1);
    expect(body).toContain('The fourth is heard.');
    expect(body).not.toContain('waits');
    await proved(stage, branch);
  });

  test('a place within a batch is moved to its end, where a log can stand', async () => {
    const stage = new Stage({
      says: saying({
        1: [
          { tool: 'none', args: {} },
          { tool: 'none', args: { n: 2 } },
        ],
      }),
    });
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    const events = await stage.events(session);
    const response = events.find(({ type }) => type === 'response.received')?.seq ?? 0;
    const first = await runtime.fork({ session, closeOpen: true, at: response, key: 'k' });
    expect(first.parent.seq).toBe(response + 2);
    expect(events[response + 1]?.type).toBe('call.proposed');
    expect(await runtime.fork({ session, closeOpen: true, at: response + 1, key: 'k' })).toMatchObject({
      session: first.session,
      replayed: true,
    });
    await proved(stage, first.session);
  });
});

const finished = async (): Promise<{ stage: Stage; session: string; branch: string }> => {
  const stage = new Stage();
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  const { session: branch } = await runtime.fork({ session, closeOpen: true });
  return { stage, session, branch };
};

const under = async (stage: Stage, session: string, name: string): Promise<MemoryLog> => {
  const copy = new MemoryLog();
  await copy.append({ session: name, expected: 0, events: await stage.store.read(session) });
  return copy;
};

const kinds = async (store: MemoryLog, session: string): Promise<readonly string[]> =>
  (await verify(store, session)).findings.flatMap(({ kind }) => (kind === 'blob-missing' ? [] : [kind]));

describe('a log says whose it is', () => {
  test('under another name it is found out, a fork’s as well as its parent’s', async () => {
    const { stage, session, branch } = await finished();
    expect(await kinds(await under(stage, session, session), session)).toEqual([]);
    expect(await kinds(await under(stage, branch, branch), branch)).toEqual([]);
    expect(await kinds(await under(stage, branch, session), session)).toEqual(['lineage']);
    expect(await kinds(await under(stage, session, branch), branch)).toEqual(['lineage']);
  });

  test('a fork that names another past than the one before it is found out', async () => {
    const { stage, session, branch } = await finished();
    const stored = await stage.store.read(branch);
    const past = stored.slice(0, -1);
    const forked = openEvent(stored.at(-1) as StoredEvent);
    if (forked.type !== 'session.forked') throw new Error('it ends with the fork');
    const wrong = [
      { session: 's_ANOTHER', seq: past.length, hash: past.at(-1)?.hash },
      { session, seq: past.length - 1, hash: past.at(-1)?.hash },
      { session, seq: past.length, hash: past[0]?.hash },
    ];
    for (const parent of wrong) {
      const data = { ...forked.data, parent: parent as typeof forked.data.parent };
      const place = { seq: past.length + 1, at: forked.at, prev: past.at(-1)?.hash as Digest };
      const copy = new MemoryLog();
      const events = [...past, seal({ type: 'session.forked', data }, place).stored];
      await copy.append({ session: branch, expected: 0, events });
      expect(await kinds(copy, branch)).toEqual(['lineage']);
    }
  });
});

test('a fork and its parent never share an idempotency key, and an edit of one is not the other’s', async () => {
  const stage = new Stage({ says: saying({ 1: [ONCE], 2: [{ tool: 'idempotent', args: { n: 1 } }] }) });
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  const { session: branch } = await runtime.fork({ session, closeOpen: true });
  await runtime.send({ session, message: 'Do.' });
  await runtime.send({ session: branch, message: 'Do.' });
  await Promise.all([runtime.rest(session), runtime.rest(branch)]);
  const keys = stage.world.of('idempotent').map((one) => one.key);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(2);
});

test('what a fork costs is its own; the past is the parent’s to pay', async () => {
  const stage = new Stage({ says: () => ({ text: 'Done.', cost: 0.5 }) });
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  const { session: branch } = await runtime.fork({ session, closeOpen: true });
  expect((await stage.state(branch)).cost).toBe(0);
  await runtime.send({ session: branch, message: 'On.' });
  await runtime.rest(branch);
  expect((await stage.state(branch)).cost).toBe(0.5);
  expect((await stage.state(session)).cost).toBe(0.5);
});
