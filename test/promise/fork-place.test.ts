/** Promise: a fork leaves nothing open behind unless that is asked for. */
import { describe, expect, test } from 'vitest';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';

describe('a place inside a turn', () => {
  test('is refused with the nearest ones between turns, and nothing is written', async () => {
    const stage = new Stage({
      says: (turn, step) =>
        turn === 2 && step === 1 ? { calls: [{ tool: 'once', args: { n: 1 } }] } : { text: 'Done.' },
      store: openSqlite(tempFile()),
      policy: { rules: [] },
    });
    const runtime = await stage.open();
    const session = await stage.send('The first.');
    await runtime.rest(session);
    const border = (await stage.events(session)).length;
    await runtime.send({ session, message: 'The second.' });
    await stage.asking(session, '2.1.1');
    const before = await stage.store.read(session);
    for (const at of [undefined, border + 1, before.length])
      await expect(runtime.fork({ session, ...(at !== undefined && { at }) })).rejects.toMatchObject({
        code: 'fork-inside-turn',
        details: { session, turn: 2, before: border },
      });
    // The first place of a session is before its first message.
    await expect(runtime.fork({ session, at: 3 })).rejects.toMatchObject({
      details: { before: 1, after: border },
    });
    expect(await stage.store.read(session)).toEqual(before);
    expect(await runtime.sessions({ forkOf: session })).toEqual([]);
    await expect(runtime.fork({ session, at: border })).resolves.toMatchObject({ parent: { seq: border } });
    await expect(runtime.fork({ session, closeOpen: true })).resolves.toMatchObject({ replayed: false });
  });
});
