/** A primary and its standby, as an operator handles them. */
import { spawnSync } from 'node:child_process';
import { Client } from 'pg';
import { soon } from '../crash/children/stage.ts';
import type { PostgresServer } from './postgres-server.ts';

/** Asks one statement after the other; the first value that the last one answers, as text. */
export const askServer = async (server: PostgresServer, ...texts: readonly string[]): Promise<string> => {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    let last = '';
    for (const text of texts) {
      const { rows } = await client.query<Record<string, unknown>>(text);
      last = String(Object.values(rows[0] ?? {})[0]);
    }
    return last;
  } finally {
    await client.end();
  }
};

/**
 * The process of the standby that receives the log, once there is one; a standby that is slow is one whose receiver
 * stands still.
 */
export const receiverOf = async (standby: PostgresServer): Promise<number> => {
  let pid = 0;
  await soon('the standby follows', () => {
    const { stdout } = spawnSync('pgrep', ['-P', String(standby.pid), '-f', 'walreceiver'], {
      encoding: 'utf8',
    });
    pid = Number(stdout.trim());
    return pid > 0;
  });
  return pid;
};

/** From now on the primary acknowledges what the standby has. */
export const makeSynchronous = async (primary: PostgresServer): Promise<void> => {
  await askServer(
    primary,
    `ALTER SYSTEM SET synchronous_standby_names = 'standby'`,
    'SELECT pg_reload_conf()',
  );
  const state = 'SELECT sync_state FROM pg_stat_replication';
  await soon('it is synchronous', async () => (await askServer(primary, state)) === 'sync');
};

/** A receiver that was killed takes its server down for a moment; it comes back by itself, as a standby. */
export const promote = async (standby: PostgresServer): Promise<void> =>
  soon('the standby is promoted', async () =>
    // A second promotion is refused: what counts is what it is.
    askServer(standby, 'SELECT pg_promote(true, 5)')
      .catch(() => undefined)
      .then(() => askServer(standby, 'SELECT NOT pg_is_in_recovery()'))
      .then(
        (isPrimary) => isPrimary === 'true',
        () => false,
      ),
  );
