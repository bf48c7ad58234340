/** Logs of other versions: an older shape is lifted; what only a newer program knows makes a session read-only. */
import { describe, expect, test } from 'vitest';
import { canonical } from '../../src/event/canonical.ts';
import { chainHash, open, opener, type StoredEvent } from '../../src/event/envelope.ts';
import type { Json, JsonObject } from '../../src/event/json.ts';
import { UPCASTS, versionOf, type Upcasts } from '../../src/event/upcasts.ts';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { replay } from '../../src/replay/replay.ts';
import { verify } from '../../src/replay/verify.ts';
import { calm } from '../kit/clock.ts';
import { Stage } from '../kit/stage.ts';

const finished = async (): Promise<{ stage: Stage; session: string; stored: readonly StoredEvent[] }> => {
  const stage = new Stage({
    says: (turn, step) =>
      step === 1 && turn === 1 ? { calls: [{ tool: 'none', args: { do: 'fail' } }] } : { text: 'Done.' },
  });
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  return { stage, session, stored: await stage.store.read(session) };
};

/** An event of a later program at the end of a log. */
const appendNewer = async (stage: Stage, session: string, type = 'turn.dreamt', v = 1): Promise<number> => {
  const head = await stage.store.head(session);
  if (!head) throw new Error('the session is there');
  const seq = head.seq + 1;
  const body = canonical({ at: stage.clock.now(), data: { turn: 1 }, seq, type, v });
  await stage.store.append({
    session,
    expected: head.seq,
    events: [{ seq, hash: chainHash(head.hash, body), body }],
  });
  return seq;
};

/** A stored body as an older program would have written it. */
const older = (body: string, v: number): string => {
  const envelope = JSON.parse(body) as { type: string; data: { message: string; code?: string } };
  if (envelope.type !== 'call.failed') return body;
  const { message, code, ...rest } = envelope.data;
  return canonical({ ...envelope, v, data: { ...rest, text: message, ...(v > 1 && { code }) } as Json });
};

describe('an event whose shape has changed', () => {
  /** As if call.failed had been written without a code, and later without a message under that name. */
  const invented: Upcasts = {
    'call.failed': [
      (data: Json): Json => ({ ...(data as JsonObject), code: 'world-said-no' }),
      (data: Json): Json => {
        const { text, ...rest } = data as JsonObject;
        return { ...rest, message: text ?? '' };
      },
    ],
  };
  test.each([1, 2])('written as version %i it is lifted to today’s, and the session replays', async (v) => {
    const { session, stored } = await finished();
    const old = stored.map((one) => ({ ...one, body: older(one.body, v) }));
    expect(old.map((one) => one.body)).not.toEqual(stored.map((one) => one.body));
    const read = opener(invented);
    const events = old.map((one) => read(one));
    expect(events).toEqual(stored.map((one) => open(one)));
    const found = replay({ session, events, encoderOf: () => neutralEncoder, program: 'x' });
    expect(found.difference).toBeUndefined();
    expect(found.events).toBe(stored.length);
  });

  test('its version is one more than the shapes it had before, and others keep theirs', () => {
    expect(versionOf(invented, 'call.failed')).toBe(3);
    expect(versionOf(invented, 'call.result')).toBe(1);
    for (const type of Object.keys(UPCASTS)) expect(UPCASTS[type as keyof Upcasts]).not.toHaveLength(0);
  });

  test('a program without the upcast refuses the newer shape', async () => {
    const { stored } = await finished();
    const newer = stored.map((one) => ({ ...one, body: older(one.body, 3) }));
    expect(() => newer.map((one) => open(one))).toThrow(
      /"call\.failed" version 3, which this program does not know/,
    );
  });
});

describe('an event that only a newer program knows', () => {
  test.each([
    ['an unknown type', 'turn.dreamt', 1],
    ['a higher version', 'turn.ended', 2],
  ])('%s: nothing is driven and nothing appended, and every refusal says why', async (_, type, v) => {
    const { stage, session } = await finished();
    const seq = await appendNewer(stage, session, type, v);
    const before = await stage.store.read(session);
    stage.crash();
    const runtime = await stage.open();
    const why = { code: 'event-too-new', details: { seq, type, v } };
    await expect(runtime.send({ session, message: 'On.' })).rejects.toMatchObject(why);
    await expect(runtime.cancel(session)).rejects.toMatchObject(why);
    await expect(runtime.rest(session)).rejects.toMatchObject(why);
    await expect(runtime.state(session)).rejects.toMatchObject(why);
    await expect(runtime.fork({ session })).rejects.toMatchObject(why);
    expect(await stage.store.read(session)).toEqual(before);
  });

  test('before it the session can be forked, and the fork goes on', async () => {
    const { stage, session, stored } = await finished();
    await appendNewer(stage, session);
    const { session: branch } = await stage.runtime.fork({ session, at: stored.length });
    await stage.runtime.send({ session: branch, message: 'On.' });
    expect(await stage.runtime.rest(branch)).toMatchObject({ status: 'done' });
    expect((await verify(stage.store, branch)).findings).toEqual([]);
  });

  test('the record of it proves itself: only what it means is not known', async () => {
    const { stage, session } = await finished();
    const seq = await appendNewer(stage, session);
    const { findings } = await verify(stage.store, session);
    expect(findings.map((one) => [one.seq, one.kind])).toEqual([[seq, 'too-new']]);
  });

  test('a sweep says it once and leaves the session alone', async () => {
    const stage = new Stage({ policy: { rules: [] }, says: () => ({ calls: [{ tool: 'once', args: {} }] }) });
    await stage.open({ drive: false });
    const session = await stage.send();
    await appendNewer(stage, session);
    stage.crash();
    await stage.open();
    for (let i = 0; i < 5; i++) {
      await calm(5);
      stage.clock.advance(10_000);
    }
    await calm(5);
    expect(stage.warnings.filter((text) => text.includes('turn.dreamt'))).toHaveLength(1);
    expect(await stage.store.read(session)).toHaveLength(3);
  });
});
