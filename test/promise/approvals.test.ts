/** People decide: one call approved and another rejected, the same decision twice, decisions side by side. */
import { expect, test } from 'vitest';
import type { ApprovalDecision } from '../../src/event/events.ts';
import type { CallState } from '../../src/session/state.ts';
import type { ScriptCall } from '../../src/model/script.ts';
import { audit } from '../kit/audit.ts';
import { calm } from '../kit/clock.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';

const NO_RULES = { rules: [] };

const stageWith = (calls: readonly ScriptCall[], rest: ConstructorParameters<typeof Stage>[0] = {}): Stage =>
  new Stage({ policy: NO_RULES, says: (_, step) => (step === 1 ? { calls } : { text: 'Done.' }), ...rest });

const two: readonly ScriptCall[] = [
  { tool: 'once', args: { n: 1 } },
  { tool: 'once', args: { n: 2 } },
];

const answer = (
  session: string,
  call: CallState | undefined,
  decision: ApprovalDecision,
): Parameters<Stage['runtime']['decide']>[0] => {
  if (!call?.digest) throw new Error('the call does not wait');
  return { session, call: call.id, digest: call.digest, decision };
};

test('approve-a-reject-b: a runs, b does not, and the model is told of both', async () => {
  const stage = stageWith(two);
  const runtime = await stage.open();
  const session = await stage.send();
  const [a, b] = await stage.asking(session, '1.1.1', '1.1.2');
  await runtime.decide(answer(session, a, { do: 'approve' }));
  await runtime.decide(answer(session, b, { do: 'reject', reason: 'Not this one.' }));
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.world.executions.map((one) => one.args.n)).toEqual([1]);
  expect(stage.heard[1]?.body).toMatch(/once did 1.*Not this one\./);
  await audit(stage, session, await runtime.state(session));
  stage.expectNoWarnings();
});

test('same-decision-twice-one-execution: at one moment', async () => {
  const stage = stageWith(two.slice(0, 1));
  const runtime = await stage.open();
  const session = await stage.send();
  const [a] = await stage.asking(session, '1.1.1');
  await Promise.all(Array.from({ length: 10 }, () => runtime.decide(answer(session, a, { do: 'approve' }))));
  await runtime.rest(session);
  expect(stage.world.executions).toHaveLength(1);
  const events = await audit(stage, session, await runtime.state(session));
  expect(events.filter((event) => event.type === 'approval.decided')).toHaveLength(1);
});

test('same-decision-twice-one-execution: again after all is done, as a client does that saw no answer', async () => {
  const stage = stageWith(two.slice(0, 1));
  const runtime = await stage.open();
  const session = await stage.send();
  const [a] = await stage.asking(session, '1.1.1');
  await runtime.decide(answer(session, a, { do: 'approve' }));
  await runtime.rest(session);
  const head = await stage.store.head(session);
  expect(await runtime.decide(answer(session, a, { do: 'approve' }))).toMatchObject({ replayed: true });
  expect(await stage.store.head(session)).toEqual(head);
  expect(stage.world.executions).toHaveLength(1);
});

test('two opposite decisions at one moment: one counts, the other is told so', async () => {
  const stage = stageWith(two.slice(0, 1));
  const runtime = await stage.open();
  const session = await stage.send();
  const [a] = await stage.asking(session, '1.1.1');
  const outcomes = await Promise.allSettled([
    runtime.decide(answer(session, a, { do: 'reject' })),
    runtime.decide(answer(session, a, { do: 'approve' })),
  ]);
  expect(outcomes.map((one) => one.status)).toEqual(['fulfilled', 'rejected']);
  await runtime.rest(session);
  expect(stage.world.executions).toEqual([]);
});

test('parallel-approvals: eight people answer at one moment, each answer counts once', async () => {
  const calls = Array.from({ length: 8 }, (_, n) => ({ tool: 'once', args: { n } }));
  const stage = stageWith(calls);
  const runtime = await stage.open();
  const session = await stage.send();
  const ids = calls.map((_, i) => `1.1.${i + 1}` as const);
  const waiting = await stage.asking(session, ...ids);
  await Promise.all(
    waiting.map((call, i) =>
      runtime.decide(answer(session, call, i % 2 ? { do: 'reject' } : { do: 'approve' })),
    ),
  );
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(new Set(stage.world.executions.map((one) => one.args['n']))).toEqual(new Set([0, 2, 4, 6]));
  expect(stage.world.executions).toHaveLength(4);
  await audit(stage, session, await runtime.state(session));
});

test('an approved call runs while another one still waits', async () => {
  const stage = stageWith(two);
  const runtime = await stage.open();
  const session = await stage.send();
  const [, b] = await stage.asking(session, '1.1.1', '1.1.2');
  await runtime.decide(answer(session, b, { do: 'approve' }));
  await stage.event(session, (event) => event.type === 'call.result' && event.data.call === '1.1.2');
  expect(await runtime.rest(session)).toMatchObject({ status: 'waiting', approvals: ['1.1.1'] });
});

test.each([
  ['the only call that waits', two.slice(0, 1)],
  ['one of two calls that wait', two],
])('a decision from a process that does not drive wakes the one that does: %s', async (_, calls) => {
  const file = tempFile();
  const stage = stageWith(calls, { store: openSqlite(file) });
  const runtime = await stage.open();
  const session = await stage.send();
  const [a] = await stage.asking(session, '1.1.1');
  await runtime.rest(session);
  // Another connection, as another process has it.
  const elsewhere = stageWith(calls, { store: openSqlite(file) });
  const other = await elsewhere.open({ drive: false });
  await other.decide(answer(session, a, { do: 'approve' }));
  await stage.event(session, (event) => event.type === 'call.result');
  expect(stage.world.executions).toHaveLength(1);
});

test('a session that rests holds no lease, no timer and no work', async () => {
  const stage = stageWith(two);
  const runtime = await stage.open();
  const before = stage.clock.pending;
  const session = await stage.send();
  await stage.asking(session, '1.1.1', '1.1.2');
  await runtime.rest(session);
  await calm();
  expect(stage.clock.pending).toBe(before);
  const owner = { id: 'x', host: 'h', boot: 'b', pid: 1, started: '' };
  const claim = { session, owner, now: stage.clock.now(), leaseMs: 1, isGone: () => false };
  expect(await stage.store.claim(claim)).toMatchObject({ won: true });
});

test('an edit runs what the person wrote, and nothing else', async () => {
  const stage = stageWith(two.slice(0, 1));
  const runtime = await stage.open();
  const session = await stage.send();
  const [a] = await stage.asking(session, '1.1.1');
  await runtime.decide(answer(session, a, { do: 'edit', args: '{"n":7}' }));
  await runtime.rest(session);
  expect(stage.world.executions.map((one) => one.args)).toEqual([{ n: 7 }]);
  await audit(stage, session, await runtime.state(session));
});

test('an approval outlives the process that asked for it', async () => {
  const stage = stageWith(two.slice(0, 1));
  await stage.open();
  const session = await stage.send();
  const [a] = await stage.asking(session, '1.1.1');
  stage.crash();
  stage.clock.advance(3_600_000);
  const runtime = await stage.open();
  await runtime.decide(answer(session, a, { do: 'approve' }));
  expect(await runtime.rest(session)).toMatchObject({ status: 'done' });
  expect(stage.world.executions).toHaveLength(1);
  expect(stage.heard).toHaveLength(2);
  await audit(stage, session, await runtime.state(session));
});
