/** The contract over PostgreSQL: a real server, a schema for each store. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { describeLog } from './log.ts';

const reason = noPostgres();
let server: PostgresServer;

if (reason !== undefined)
  describe('PostgresLog', () => {
    test.skip(`the contract: ${reason}`, () => undefined);
  });
else {
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.stop());
  describeLog('PostgresLog', async () => server.open());
}
