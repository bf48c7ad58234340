/** The contract over PostgreSQL: a real server, a schema for each store. */
import { afterAll, beforeAll, describe } from 'vitest';
import { noPostgres, PostgresServer } from '../kit/postgres-server.ts';
import { describeLog } from './log.ts';

const reason = noPostgres();
const skipped = reason === undefined ? '' : ` (skipped: ${reason})`;
let server: PostgresServer;

beforeAll(async () => {
  if (reason === undefined) server = await PostgresServer.start();
});
afterAll(() => server?.stop());

describe.skipIf(reason !== undefined)(`on a real server${skipped}`, () => {
  describeLog('PostgresLog', async () => server.open());
});
