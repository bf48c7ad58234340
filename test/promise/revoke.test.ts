/** revoke-before-start: leave that is taken back starts nothing more, whichever process drives and whatever it has in hand. */
import { expect, test } from 'vitest';
import { exactly } from '../../src/effect/grant.ts';
import { parseStrict } from '../../src/event/strict.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { tool } from '../../src/tool/tool.ts';
import { LEASE_MS } from '../../src/worker/claims.ts';
import { audit } from '../kit/audit.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';

const ARGS = { to: 'ada' };
const STEPS = 3;
/** Shorter than a preview may take, and than a lease. */
const LEAVE_MS = 5000;

type Desk = {
  readonly stage: Stage;
  /** Executions so far. */
  readonly paid: string[];
  /** Previews that are being made; each is shown when it is called. */
  readonly looking: (() => void)[];
};

/** Pays ada once a step. From the second preview on each is held until somebody lets it be shown. */
const paying = (): Desk => {
  const paid: string[] = [];
  const looking: (() => void)[] = [];
  let previews = 0;
  const pay = tool<typeof ARGS>({
    name: 'pay',
    description: 'Pays somebody.',
    inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    effect: 'reconcilable',
    preview: async ({ to }) => {
      if (++previews > 1) await new Promise<void>((show) => looking.push(show));
      return { title: `pay ${to}`, blocks: [] };
    },
    reconcile: () => ({ happened: false }),
    execute: ({ to }) => {
      paid.push(to);
      return 'paid';
    },
  });
  const stage = new Stage({
    store: openSqlite(tempFile()),
    policy: { rules: [] },
    tools: () => [pay],
    says: (_, step): ScriptReply =>
      step <= STEPS ? { calls: [{ tool: 'pay', args: ARGS }] } : { text: 'Done.' },
  });
  return { stage, paid, looking };
};

const sameAgain = () => {
  const parsed = parseStrict(JSON.stringify(ARGS));
  const exact = parsed.ok ? exactly(parsed.value) : undefined;
  if (exact?.ok !== true) throw new Error('these arguments can be named exactly');
  return { when: exact.when, forMs: LEAVE_MS };
};

/** The first payment is approved with leave for more like it; the second one is let pass by it, and its preview is being made. */
const atTheSecond = async (): Promise<Desk & { readonly session: string }> => {
  const desk = paying();
  const { stage, looking } = desk;
  const runtime = await stage.open();
  const session = await stage.send();
  const [asked] = await stage.asking(session, '1.1.1');
  if (!asked?.digest) throw new Error('the first payment is asked about');
  const decision = { do: 'approve', grant: sameAgain() } as const;
  await runtime.decide({ session, call: '1.1.1', digest: asked.digest, decision });
  await stage.event(session, ({ type, data }) => type === 'call.proposed' && data.call === '1.2.1');
  await expect.poll(() => looking.length).toBe(1);
  return { ...desk, session };
};

const startsOf = async (stage: Stage, session: string): Promise<readonly string[]> =>
  (await stage.events(session)).flatMap(({ type, data }) => (type === 'call.started' ? [data.call] : []));

test('what a grant had let pass runs where nobody takes it back', async () => {
  const { stage, session, looking, paid } = await atTheSecond();
  looking.shift()?.();
  await stage.event(session, ({ type, data }) => type === 'call.proposed' && data.call === '1.3.1');
  expect(paid).toEqual(['ada', 'ada']);
});

test('leave that runs out before the call is started starts nothing: it is asked about, and a yes lets it run', async () => {
  const { stage, session, looking, paid } = await atTheSecond();
  stage.clock.advance(LEAVE_MS);
  looking.shift()?.();
  // Whoever is asked sees what would happen now.
  await expect.poll(() => looking.length).toBe(1);
  looking.shift()?.();
  const [asked] = await stage.asking(session, '1.2.1');
  expect([paid, await startsOf(stage, session)]).toEqual([['ada'], ['1.1.1']]);
  const ended = (await stage.events(session)).filter(({ type }) => type === 'grant.revoked');
  expect(ended).toMatchObject([
    { data: { grant: '1.1.1', by: { kind: 'runtime' }, reason: 'its time is over' } },
  ]);
  if (!asked?.digest) throw new Error('the second payment is asked about');
  const decision = { do: 'approve' } as const;
  await stage.runtime.decide({ session, call: '1.2.1', digest: asked.digest, decision });
  await stage.event(session, ({ type, data }) => type === 'call.result' && data.call === '1.2.1');
  expect(paid).toEqual(['ada', 'ada']);
  await audit(stage, session, await stage.state(session));
  stage.expectNoWarnings();
});

test('also where a gate has held it until then', async () => {
  const { stage, session, looking, paid } = await atTheSecond();
  await stage.runtime.setMode('frozen', { session });
  looking.shift()?.();
  stage.clock.advance(LEAVE_MS);
  await stage.runtime.setMode('normal', { session });
  // Looked at anew when the gate has opened, and once more for whoever is asked.
  for (let looks = 0; looks < 2; looks++) {
    await expect.poll(() => looking.length).toBe(1);
    looking.shift()?.();
  }
  await stage.asking(session, '1.2.1');
  expect([paid, await startsOf(stage, session)]).toEqual([['ada'], ['1.1.1']]);
});

test('another process takes it back while the driver has the call in hand: it is asked about and not begun', async () => {
  const { stage, session, looking, paid } = await atTheSecond();
  const driver = stage.runtime;
  const door = await stage.open({ drive: false });
  expect(await door.revoke(session, { call: '1.1.1', reason: 'wrong ada' })).toEqual({ replayed: false });
  looking.shift()?.();
  const [asked] = await stage.asking(session, '1.2.1');
  expect(paid).toEqual(['ada']);
  expect(await startsOf(stage, session)).toEqual(['1.1.1']);

  // The same again, over a network that lost the answer, is the same.
  expect(await door.revoke(session, { call: '1.1.1' })).toEqual({ replayed: true });
  await expect(door.revoke(session, { call: '1.2.1' })).rejects.toMatchObject({ code: 'grant-not-found' });
  expect((await stage.types(session)).filter((type) => type === 'grant.revoked')).toHaveLength(1);

  if (!asked?.digest) throw new Error('the second payment is asked about');
  await driver.decide({ session, call: '1.2.1', digest: asked.digest, decision: { do: 'approve' } });
  await stage.event(session, ({ type, data }) => type === 'call.started' && data.call === '1.2.1');
  await stage.event(session, ({ type, data }) => type === 'call.result' && data.call === '1.2.1');
  expect(paid).toEqual(['ada', 'ada']);
  // Leave that is gone covers the next one neither.
  await expect.poll(() => looking.length).toBe(1);
  looking.shift()?.();
  await stage.asking(session, '1.3.1');
  await audit(stage, session, await stage.state(session));
  stage.expectNoWarnings();
});

test('nobody drives when it is taken back: the next driver asks, too', async () => {
  const { stage, session, looking, paid } = await atTheSecond();
  stage.crash();
  looking.splice(0);
  const door = await stage.open({ drive: false });
  await door.revoke(session);
  stage.clock.advance(LEASE_MS + 1);
  await stage.open();
  await expect.poll(() => looking.length).toBe(1);
  looking.shift()?.();
  await stage.asking(session, '1.2.1');
  expect([paid, await startsOf(stage, session)]).toEqual([['ada'], ['1.1.1']]);
});
