/** Questions lapse and escalate by the clock alone: nobody has to be there, and nothing waits in memory for it. */
import { expect, test } from 'vitest';
import type { AskTerms } from '../../src/event/definition.ts';
import { genesis } from '../../src/event/envelope.ts';
import type { CallState } from '../../src/session/state.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { audit } from '../kit/audit.ts';
import { summary } from '../kit/chain.ts';
import { calm } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
const CARA = { kind: 'person', name: 'cara', roles: ['cfo'] } as const;

const stageWith = (ask: AskTerms, options: ConstructorParameters<typeof Stage>[0] = {}): Stage =>
  new Stage({
    policy: { ask, rules: [] },
    says: (_, step) => (step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' }),
    ...options,
  });

const decision = (
  session: string,
  call: CallState | undefined,
): Parameters<Stage['runtime']['decide']>[0] => ({
  session,
  call: '1.1.1',
  digest: call?.digest ?? ('' as never),
  decision: { do: 'approve' },
});

test('nobody decides for a week: the question lapses, nothing runs, the model hears it, and no timer was held', async () => {
  const stage = stageWith({ expiresMs: WEEK_MS }, { store: openSqlite(tempFile()) });
  const runtime = await stage.open();
  const timers = stage.clock.pending;
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  await runtime.rest(session);
  await calm();
  expect(stage.clock.pending).toBe(timers);
  stage.clock.setWall(WEEK_MS - 1);
  await runtime.sweep();
  expect((await stage.state(session)).active?.calls[0]?.phase).toBe('asking');
  stage.clock.setWall(1);
  await runtime.sweep();
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(await stage.types(session)).toEqual(expect.arrayContaining(['time.reached', 'approval.expired']));
  expect(stage.world.executions).toEqual([]);
  expect(stage.heard[1]?.body).toMatch(/Nobody decided about this call before its deadline/);
  await expect(runtime.decide(decision(session, call))).rejects.toMatchObject({ code: 'approval-expired' });
  await audit(stage, session, await runtime.state(session));
  stage.expectNoWarnings();
});

test('a running runtime finds it by itself', async () => {
  const stage = stageWith({ expiresMs: 60_000 });
  await stage.open();
  const session = await stage.send();
  await stage.asking(session, '1.1.1');
  stage.clock.advance(60_000 + LEASE_MS);
  await stage.event(session, 'turn.ended');
  expect(await stage.types(session)).toContain('approval.expired');
});

test('a question that lapsed while no process was there lapses when the next one starts', async () => {
  const stage = stageWith({ expiresMs: 60_000 });
  await stage.open();
  const session = await stage.send();
  await stage.asking(session, '1.1.1');
  stage.crash();
  stage.clock.advance(WEEK_MS);
  const runtime = await stage.open();
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.world.executions).toEqual([]);
});

test('whoever comes too late is told so, and from then on the log says it, too', async () => {
  const stage = stageWith({ expiresMs: 60_000 });
  const runtime = await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  stage.clock.setWall(60_000);
  await expect(runtime.decide(decision(session, call))).rejects.toMatchObject({ code: 'approval-expired' });
  expect(await stage.types(session)).toContain('approval.expired');
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.world.executions).toEqual([]);
});

test('a yes in time that nobody could start in time starts nothing', async () => {
  const stage = stageWith({ expiresMs: 60_000 });
  await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  stage.crash();
  stage.clock.advance(59_999);
  const desk = await stage.open({ drive: false });
  await desk.decide(decision(session, call));
  stage.clock.advance(1);
  const runtime = await stage.open();
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.world.executions).toEqual([]);
  expect(stage.heard.at(-1)?.body).toMatch(/was approved, but could not be started before its deadline/);
});

test('an escalation comes by itself, and then further people may decide', async () => {
  const stage = stageWith({
    by: ['ben'],
    escalate: { afterMs: 60_000, to: ['role:cfo'] },
    expiresMs: WEEK_MS,
  });
  const runtime = await stage.open();
  const session = await stage.send();
  const [call] = await stage.asking(session, '1.1.1');
  const yes = { ...decision(session, call), by: CARA };
  await expect(runtime.decide(yes)).rejects.toMatchObject({ code: 'not-an-approver' });
  stage.clock.advance(60_000 + LEASE_MS);
  await stage.event(session, 'approval.escalated');
  expect((await runtime.sessions({ untold: true })).map(({ summary: { untold } }) => untold)).toEqual([1]);
  await runtime.decide(yes);
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.world.executions).toHaveLength(1);
});

test('a session that cannot be read keeps no other one from lapsing, and no runtime from starting', async () => {
  const stage = stageWith({ expiresMs: 60_000 });
  await stage.open();
  const session = await stage.send();
  await stage.asking(session, '1.1.1');
  stage.crash();
  const events = [{ seq: 1, hash: genesis('broken'), body: 'no event at all' }];
  const due = { ...summary('waiting', 1, 'clerk'), wakeAt: 1, updatedAt: stage.clock.now() + WEEK_MS };
  await stage.store.append({ session: 'broken', expected: 0, events, summary: due });
  stage.clock.advance(60_000);
  const runtime = await stage.open();
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.warnings.length).toBeGreaterThan(0);
});
