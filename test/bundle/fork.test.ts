/** A fork is handed over whole: the past that it shares with its parent travels with it and proves itself alone. */
import { expect, it } from 'vitest';
import { importBundle } from '../../src/bundle/import.ts';
import { parseRules } from '../../src/bundle/redaction-rules.ts';
import { redact } from '../../src/bundle/redact.ts';
import { verify } from '../../src/replay/verify.ts';
import { openSqlite, tempFile } from '../kit/folder.ts';
import { Stage } from '../kit/stage.ts';
import { bytesOf, IMPORTER, readBack } from './sample.ts';

const forked = async (): Promise<{
  readonly stage: Stage;
  readonly session: string;
  readonly fork: string;
}> => {
  const stage = new Stage({ store: openSqlite(tempFile()) });
  const runtime = await stage.open();
  const session = await stage.send('The first.');
  await runtime.rest(session);
  const { session: fork } = await runtime.fork({ session });
  await runtime.send({ session: fork, message: 'Another way.' });
  await runtime.rest(fork);
  const { session: deeper } = await runtime.fork({ session: fork });
  await runtime.send({ session: deeper, message: 'And another.' });
  await runtime.rest(deeper);
  return { stage, session, fork: deeper };
};

it('goes into a store that has never seen its parent, verifies there, and has the same bytes again', async () => {
  const { stage, session, fork } = await forked();
  const bytes = await bytesOf(stage.store, fork);
  const { bundle, verified } = await readBack(bytes);
  expect(verified.findings).toEqual([]);
  const other = openSqlite(tempFile());
  expect(await importBundle(other, { bundle, verified }, IMPORTER)).toMatchObject({ outcome: 'new' });
  expect((await verify(other, fork)).findings).toEqual([]);
  expect(await other.head(session)).toBeUndefined();
  expect((await bytesOf(other, fork)).equals(bytes)).toBe(true);
  expect(await other.read(fork)).toEqual(await stage.store.read(fork));
});

it.each(['all', 'type:session.created', 'type:session.forked'])(
  'proves its chain with %s removed, too',
  async (rules) => {
    const { stage, fork } = await forked();
    const { store } = stage;
    const redaction = await redact(await store.read(fork), parseRules(rules), (digest) => store.blob(digest));
    const { verified } = await readBack(await bytesOf(store, fork, redaction));
    expect(verified.findings).toEqual([]);
    expect(verified.removed.events).toBeGreaterThan(0);
  },
);
