/** Restate of three nodes: the same contract, again with one of them killed, and sessions that are driven meanwhile. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { neutralEncoder } from '../../src/model/neutral.ts';
import { verify } from '../../src/replay/verify.ts';
import { PROGRAM } from '../../src/worker/program.ts';
import { openRuntime, type Runtime } from '../../src/worker/runtime.ts';
import { soon } from '../crash/children/stage.ts';
import { CHORES, chores } from '../kit/chores.ts';
import { openPostgres } from '../kit/open-postgres.ts';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { restatePlace } from '../kit/restate-place.ts';
import { noRestate, RestateCluster } from '../kit/restate-server.ts';
import { describeDispatcher } from './dispatcher.ts';

const SESSIONS = 60;

const reason = noRestate() ?? noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
let cluster: RestateCluster;
let server: PostgresServer;

beforeAll(async () => {
  if (reason !== undefined) return;
  cluster = await RestateCluster.start(3);
  server = await PostgresServer.start();
}, 120_000);
afterAll(async () => {
  await cluster?.stop();
  await server?.stop();
});

describe.skipIf(reason !== undefined)(`three nodes${skipped}`, { timeout: 60_000 }, () => {
  describeDispatcher('RestateDispatcher, three nodes', { place: () => restatePlace(cluster), shared: true });

  test(
    'a node is killed while sessions are driven: all end, and no effect has happened twice',
    { timeout: 200_000 },
    async () => {
      const place = await restatePlace(cluster);
      const url = await server.store();
      const acts: string[] = [];
      const agent = chores({
        policy: 'run',
        act: async (line) => void acts.push(line),
        model: async () => new Promise((resolve) => setTimeout(resolve, 20)),
      });
      const open = async (drive: boolean): Promise<Runtime> => {
        const runtime = await openRuntime({
          store: await openPostgres(url),
          agents: [agent],
          dispatcher: await place.open(),
          isGone: () => false,
          drive,
        });
        onTestFinished(() => runtime.close({ drainMs: 0 }));
        return runtime;
      };
      const door = await open(false);
      await open(true);
      await open(true);
      const sessions: string[] = [];
      for (let i = 0; i < SESSIONS; i++) {
        if (i === SESSIONS / 2) await cluster.node(2).kill();
        sessions.push(
          (await door.send({ agent: 'chores', message: `Do the chores, ${i}.`, key: `k${i}` })).session,
        );
      }
      const began = performance.now();
      const left = async (): Promise<number> => {
        const { done = 0 } = await door.store.counts();
        return SESSIONS - done;
      };
      await soon('all sessions are done', async () => (await left()) === 0);
      console.log(
        `after the kill: ${SESSIONS} sessions done, the last ${Math.round(performance.now() - began)} ms after it was sent`,
      );
      expect(acts).toHaveLength(SESSIONS * CHORES.length);
      expect(new Set(acts).size).toBe(acts.length);
      for (const session of sessions) {
        const replay = { encoderOf: () => neutralEncoder, program: PROGRAM };
        expect((await verify(door.store, session, { replay })).findings).toEqual([]);
      }
    },
  );

  describe('with one of them gone', () => {
    describeDispatcher('RestateDispatcher, two of three nodes', {
      place: () => restatePlace(cluster),
      shared: true,
    });
  });
});
