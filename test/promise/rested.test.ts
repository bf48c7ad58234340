/** A driver goes on from what the last one here has left, with all that others have appended since. */
import { describe, expect, test } from 'vitest';
import { neutralEncoder } from '../../src/model/neutral.ts';
import type { ScriptReply } from '../../src/model/script.ts';
import { LiveSession } from '../../src/worker/live-session.ts';
import { RestedSessions } from '../../src/worker/rested-sessions.ts';
import { audit } from '../kit/audit.ts';
import { Stage } from '../kit/stage.ts';

/** One call, then a word. */
const says = (turn: number, step: number): ScriptReply =>
  step === 1 ? { calls: [{ tool: 'none', args: { turn } }] } : { text: `Done with ${turn}.` };

/** Sessions of so many turns each, as a driver that is done with them would hand them over. */
const rested = async (...turns: readonly number[]): Promise<readonly LiveSession[]> => {
  const stage = new Stage({ says });
  const runtime = await stage.open({ drive: false });
  const lives: LiveSession[] = [];
  for (const count of turns) {
    const { session } = await runtime.send({ agent: 'clerk', message: 'Do it.' });
    await runtime.rest(session);
    for (let turn = 2; turn <= count; turn++) {
      await runtime.send({ session, message: 'Do it.' });
      await runtime.rest(session);
    }
    const live = new LiveSession(session, () => neutralEncoder);
    await live.refresh(stage.store);
    lives.push(live);
  }
  return lives;
};

const taken = (from: RestedSessions, lives: readonly LiveSession[]): readonly boolean[] =>
  lives.map((live) => from.take(live.session) === live);

const sizeOf = (live: LiveSession | undefined): number => live?.builder?.size ?? 0;

describe('turns of one session that processes take by turns', () => {
  test('are told all that was said in the others, and what is built is what the log says', async () => {
    const stage = new Stage({ says });
    const runtimes = [await stage.open({ drive: false }), await stage.open({ drive: false })] as const;
    const session = (await runtimes[0].send({ agent: 'clerk', message: 'Message 1.' })).session;
    await runtimes[0].rest(session);
    for (let turn = 2; turn <= 6; turn++) {
      const runtime = runtimes[Math.floor(turn / 2) % 2];
      if (!runtime) throw new Error('unreachable');
      await runtime.send({ session, message: `Message ${turn}.` });
      await runtime.rest(session);
    }
    await audit(stage, session, await runtimes[0].state(session));
    const last = stage.heard.at(-1)?.body ?? '';
    expect(last.match(/Message \d|Done with \d/g)).toEqual(
      [1, 2, 3, 4, 5].flatMap((turn) => [`Message ${turn}`, `Done with ${turn}`]).concat('Message 6'),
    );
  });

  test('a decision that came from elsewhere is in what the next driver goes on from', async () => {
    const stage = new Stage({ says, policy: { rules: [{ id: 'all', do: 'ask' }] } });
    const here = await stage.open({ drive: false });
    const { session } = await here.send({ agent: 'clerk', message: 'Do it.' });
    await here.rest(session);
    const elsewhere = await stage.open({ drive: false });
    const [call] = await stage.asking(session, '1.1.1');
    if (call?.digest === undefined) throw new Error('unreachable');
    const decision = { do: 'reject', reason: 'Not today.' } as const;
    await elsewhere.decide({ session, call: call.id, digest: call.digest, decision });
    expect(await here.rest(session)).toMatchObject({ status: 'done' });
    await audit(stage, session, await here.state(session));
    expect(stage.heard.at(-1)?.body).toContain('Not today.');
  });
});

describe('sessions as their drivers left them', () => {
  test('are handed to one driver alone', async () => {
    const lives = await rested(1);
    const sessions = new RestedSessions();
    for (const live of lives) sessions.put(live);
    expect(taken(sessions, lives)).toEqual([true]);
    expect(taken(sessions, lives)).toEqual([false]);
  });

  test.each([
    ['sessions', () => ({ sessionsMax: 2 })],
    ['bytes', (live: LiveSession | undefined) => ({ bytesMax: 2 * sizeOf(live) })],
  ])('are as many %s as are allowed: whoever has rested longest goes', async (_, limits) => {
    const lives = await rested(1, 1, 1);
    const [first, second] = lives;
    const sessions = new RestedSessions(limits(first));
    for (const live of lives.slice(0, 2)) sessions.put(live);
    if (first) sessions.put(first);
    for (const live of lives.slice(2)) sessions.put(live);
    expect(taken(sessions, lives)).toEqual([true, false, true]);
    // What was taken has made room.
    for (const live of [first, second]) if (live) sessions.put(live);
    expect(taken(sessions, lives)).toEqual([true, true, false]);
  });

  test('count as large as they are, also before a request was made of them', async () => {
    const stage = new Stage({ says });
    const door = await stage.open({ drive: false });
    const text = 'x'.repeat(10_000);
    const { session } = await door.send({ agent: 'clerk', message: text });
    await door.send({ session, message: text });
    const live = new LiveSession(session, () => neutralEncoder);
    await live.refresh(stage.store);
    expect(sizeOf(live)).toBe(2 * text.length);
  });

  test('one that is larger than all that is allowed pushes no other out', async () => {
    const lives = await rested(1, 3);
    const sessions = new RestedSessions({ bytesMax: sizeOf(lives[0]) });
    for (const live of lives) sessions.put(live);
    expect(taken(sessions, lives)).toEqual([true, false]);
  });
});
