/** The same key is the same turn: at once, later, and beside other work. */
import { expect, test } from 'vitest';
import { audit } from '../kit/audit.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { Stage } from '../kit/stage.ts';

for (const [name, store] of [
  ['memory', () => new MemoryLog()],
  ['sqlite', () => openSqlite(tempFile())],
] as const) {
  test(`${name}: 20 sends of one key at one moment are one turn`, async () => {
    const stage = new Stage({ store: store() });
    const runtime = await stage.open();
    const session = await stage.send();
    await runtime.rest(session);
    const sent = await Promise.all(
      // Different senders, so that no two of these appends are the same bytes.
      Array.from({ length: 20 }, (_, i) =>
        runtime.send({ session, key: 'k', message: 'Again.', by: { kind: 'program', name: `sender ${i}` } }),
      ),
    );
    expect(sent.map((one) => one.turn)).toEqual(sent.map(() => 2));
    expect(sent.filter((one) => !one.replayed)).toHaveLength(1);
    await runtime.rest(session);
    expect(stage.heard.map(({ turn, step }) => `${turn}.${step}`)).toEqual(['1.1', '2.1']);
    await audit(stage, session, await runtime.state(session));
  });

  test(`${name}: 20 sends of different keys at one moment are 20 turns, in one order`, async () => {
    const stage = new Stage({ store: store() });
    const runtime = await stage.open();
    const session = await stage.send();
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, i) => runtime.send({ session, key: `k${i}`, message: `Message ${i}.` })),
    );
    expect(sent.map((one) => one.turn).sort((a, b) => a - b)).toEqual(sent.map((_, i) => i + 2));
    await runtime.rest(session);
    const events = await audit(stage, session, await runtime.state(session));
    expect(events.filter((event) => event.type === 'turn.ended').map((event) => event.data.turn)).toEqual(
      Array.from({ length: 21 }, (_, i) => i + 1),
    );
  });
}

test('looking at a session from many sides at once changes nothing about it', async () => {
  const stage = new Stage();
  const runtime = await stage.open();
  const session = await stage.send();
  await runtime.rest(session);
  const other = await stage.open({ drive: false });
  await Promise.all(Array.from({ length: 5 }, () => other.state(session)));
  await runtime.send({ session, message: 'One more.' });
  await runtime.rest(session);
  await Promise.all(Array.from({ length: 5 }, () => other.state(session)));
  expect(await other.send({ session, message: 'And another.' })).toMatchObject({ turn: 3 });
  await audit(stage, session, await other.state(session));
});

test('the same key with another message is refused and writes nothing', async () => {
  const stage = new Stage();
  const runtime = await stage.open();
  const { session } = await runtime.send({ agent: 'clerk', key: 'k', message: 'One.' });
  await expect(runtime.send({ session, key: 'k', message: 'Two.' })).rejects.toMatchObject({
    code: 'turn-key-reused',
    next: 'fix-input',
  });
  await runtime.rest(session);
  const head = await stage.store.head(session);
  await expect(runtime.send({ session, key: 'k', message: 'Two.' })).rejects.toMatchObject({
    code: 'turn-key-reused',
  });
  expect(await runtime.send({ session, key: 'k', message: 'One.' })).toEqual({
    session,
    turn: 1,
    replayed: true,
  });
  expect(await stage.store.head(session)).toEqual(head);
});

test('a key is visible ASCII, and a message has something in it', async () => {
  const stage = new Stage();
  const runtime = await stage.open();
  for (const key of ['', 'a b', 'ü', 'a\n', 'x'.repeat(256)])
    await expect(runtime.send({ agent: 'clerk', key, message: 'x' })).rejects.toMatchObject({
      code: 'turn-key-invalid',
    });
  await expect(runtime.send({ agent: 'clerk', message: ' \n' })).rejects.toMatchObject({
    code: 'message-empty',
  });
  expect(await stage.store.sessions()).toEqual([]);
});
