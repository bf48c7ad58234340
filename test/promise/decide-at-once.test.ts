/** Two processes say something about the same questions at the same moment, a thousand times: one answer counts. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Digest } from '../../src/event/canonical.ts';
import { open } from '../../src/event/envelope.ts';
import type { ApprovalDecision } from '../../src/event/events.ts';
import type { LogStore } from '../../src/log/store.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { soon } from '../crash/children/stage.ts';
import { startChild, type Child } from '../kit/child.ts';
import { openSqlite, tempFolder } from '../kit/folder.ts';
import { linesIn } from '../kit/lines.ts';
import { payer } from '../kit/payer.ts';

const SAME = 1000;
const DIFFERENT = 200;
/** Questions that both processes answer at one word. Few: what one process decides at once is one commit. */
const AT_ONCE = 10;

type Said = readonly [string, Digest, ApprovalDecision];
const YES: ApprovalDecision = { do: 'approve' };
const NO: ApprovalDecision = { do: 'reject', reason: 'Wrong account.' };

/** So many sessions that wait, each with one question. */
const waitingSessions = async (
  file: string,
  world: string,
  count: number,
): Promise<readonly (readonly [string, Digest])[]> => {
  const runtime = await openRuntime({ store: openSqlite(file), agents: [payer(world)] });
  const sent = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      runtime.send({ agent: 'payer', message: 'Pay.', key: `pay-${i}` }),
    ),
  );
  const found = sent.map(async ({ session }) => {
    await runtime.rest(session);
    const digest = (await runtime.state(session)).active?.calls[0]?.digest;
    if (!digest) throw new Error(`${session} does not wait`);
    return [session, digest] as const;
  });
  const questions = await Promise.all(found);
  await runtime.close();
  return questions;
};

const batches = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, i) =>
    items.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  );

/** Both are told at one moment, and heard. */
const both = async (
  children: readonly Child[],
  said: readonly (readonly Said[])[],
): Promise<readonly (readonly string[])[]> => {
  const heard = children.map((child) => child.lines.length);
  for (const [i, child] of children.entries()) child.say(JSON.stringify(said[i]));
  return Promise.all(
    children.map(async (child, i) => {
      const line = await child.line(
        (one) => one.startsWith('answers') && child.lines.indexOf(one, heard[i]) >= 0,
      );
      return (child.lines.slice(heard[i]).find((one) => one.startsWith('answers')) ?? line)
        .split(' ')
        .slice(1);
    }),
  );
};

/** Of two answers about one question one was first, and the other one is told what became of it. */
const expectAnswers = (heard: readonly (readonly string[])[], i: number, other: string): void => {
  const answers = heard.map((one) => one[i]);
  expect(answers.filter((one) => one === 'first')).toHaveLength(1);
  expect(answers.filter((one) => one === other)).toHaveLength(1);
};

const linesOf = (world: string, word: string): readonly string[] =>
  linesIn(world).filter((line) => line.startsWith(`${word} `));

const decisionsIn = async (store: LogStore, session: string): Promise<number> =>
  (await store.read(session)).map(open).filter(({ type }) => type === 'approval.decided').length;

test(
  `same-decision-twice-one-execution: ${SAME} times the same and ${DIFFERENT} times two different ones, from two processes at once`,
  { timeout: 240_000 },
  async () => {
    const folder = tempFolder();
    const [file, world] = [join(folder, 'log.db'), join(folder, 'world')];
    const questions = await waitingSessions(file, world, SAME + DIFFERENT);
    const asked = linesOf(world, 'model').length;
    // The same person, in two windows; and for the rest a second person who sees it differently.
    const ada = ['ada', 'ada'].map((name) => startChild('child-decider.ts', [file, world, name]));
    const ben = startChild('child-decider.ts', [file, world, 'ben']);
    await Promise.all([...ada, ben].map((child) => child.line((line) => line === 'ready')));

    const same = questions.slice(0, SAME).map(([session, digest]): Said => [session, digest, YES]);
    const wins = [0, 0];
    for (const [n, batch] of batches(same).entries()) {
      // Told in turns, so that neither of them is always the one who hears of it first.
      const order = n % 2 === 0 ? [0, 1] : [1, 0];
      const heard = await both(
        order.flatMap((i) => ada[i] ?? []),
        [batch, batch],
      );
      for (const [i] of batch.entries()) expectAnswers(heard, i, 'again');
      for (const [at, i] of order.entries())
        wins[i] = (wins[i] ?? 0) + (heard[at] ?? []).filter((one) => one === 'first').length;
    }
    // Else one of them was never there in time, and nothing was shown.
    expect(Math.min(...wins)).toBeGreaterThan(SAME / 20);

    const different = questions.slice(SAME);
    const winners = new Map<string, string>();
    for (const batch of batches(different)) {
      const said = [YES, NO].map((what) => batch.map(([session, digest]): Said => [session, digest, what]));
      const heard = await both([ada[0] ?? ben, ben], said);
      for (const [i, [session]] of batch.entries()) {
        expectAnswers(heard, i, 'already-decided');
        winners.set(session, heard[0]?.[i] === 'first' ? 'yes' : 'no');
      }
    }

    const store = openSqlite(file);
    const count = SAME + DIFFERENT;
    await soon('all sessions end', async () => {
      const rows = await store.sessions({ status: ['done'], limit: count });
      return rows.length === count;
    });
    const paid = linesOf(world, 'paid').map((line) => line.slice('paid '.length));
    const wanted = questions.flatMap(([session]) => (winners.get(session) === 'no' ? [] : [session]));
    expect(paid).toHaveLength(wanted.length);
    expect(new Set(paid)).toEqual(new Set(wanted));
    // One request more for each session: what came of the call.
    expect(linesOf(world, 'model').length - asked).toBe(count);
    for (const [session] of questions) expect(await decisionsIn(store, session)).toBe(1);
    const yeses = [...winners.values()].filter((won) => won === 'yes').length;
    console.info(`first with the same: ${wins.join(' and ')}; with different ones: ${yeses} times yes`);
  },
);
