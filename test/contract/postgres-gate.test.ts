/** Two processes on one database: one drives as fast as it can, the other one shuts and opens the gate. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { open } from '../../src/event/envelope.ts';
import type { LogStore } from '../../src/log/store.ts';
import { openRuntime } from '../../src/worker/runtime.ts';
import { blobOf, sealed } from '../kit/chain.ts';
import { startChild } from '../kit/child.ts';
import { calm } from '../kit/clock.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';

const SESSIONS = 4;
const STEPS = 40;
const FREEZES = 15;
const BEGINS: ReadonlySet<string> = new Set(['call.started', 'request.built', 'request.sent']);

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
let server: PostgresServer;

beforeAll(async () => {
  if (reason === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

const begun = async (store: LogStore): Promise<number> => {
  let count = 0;
  for (const { session } of await store.sessions())
    count += (await store.read(session)).map(open).filter(({ type }) => BEGINS.has(type)).length;
  return count;
};

describe.skipIf(reason !== undefined)(`PostgresLog: the gate${skipped}`, () => {
  test(
    'once a freeze has returned nothing begins until it is lifted, in any process',
    { timeout: 120_000 },
    async () => {
      const url = await server.store();
      const store = await openPostgres(url);
      const operator = await openRuntime({ store, agents: [], drive: false });
      const driver = startChild('child-busy.ts', [url, String(SESSIONS), String(STEPS)]);
      await driver.line((line) => line === 'running');
      let grown = 0;
      for (let i = 0; i < FREEZES; i++) {
        await operator.setMode('frozen');
        const before = await begun(store);
        await calm(20 + 10 * (i % 5));
        grown += (await begun(store)) - before;
        await operator.setMode('normal');
        await calm(50);
      }
      await driver.line((line) => line === 'done');
      await driver.done();
      expect(grown).toBe(0);
      expect(await begun(store)).toBe(SESSIONS * (2 * STEPS + 1));
    },
  );

  test('of a move of the gate in one process and starts in others no start is written behind the move', async () => {
    const url = await server.store();
    const [mover, ...starters] = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)));
    if (!mover) throw new Error('four stores were opened');
    // Long enough on their way from the check to the commit for a move to come between.
    const blobs = [blobOf(randomBytes(400_000))];
    let written = 0;
    for (let round = 0; round < 40; round++) {
      // A gate that was never moved has no log yet: that it is made is a move, too.
      const given = { session: `gate ${round}`, head: 0 };
      const names = starters.map((_, lane) => `s ${round} ${lane}`);
      const starts = starters.map(async (store, lane) => {
        const session = names[lane] ?? '';
        const append = { session, expected: 0, events: sealed(session, ['start']), blobs, given };
        return store.append(append).then(
          () => true,
          () => false,
        );
      });
      await calm(round);
      await mover.append({ session: given.session, expected: 0, events: sealed(given.session, ['shut']) });
      const before = await Promise.all(names.map(async (name) => (await mover.head(name)) !== undefined));
      expect(await Promise.all(starts)).toEqual(before);
      written += before.filter(Boolean).length;
    }
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(40 * starters.length);
  });
});
