/** Every statement of the PostgreSQL store, once, for tables in one schema. */
import type { SessionQuery } from './store.ts';

export type Statement = { readonly name: string; readonly text: string };

export type Statements = Readonly<Record<StatementName, Statement>>;

const TAKES = `epoch = epoch + 1, owner_id = $3, owner = $4, lease_until = $5,
        tries = CASE WHEN tried_head = head THEN tries + 1 ELSE 1 END, tried_head = head`;

/** Named, so that a connection prepares each of them once. */
export const statements = (schema: string): Statements => {
  const texts: Readonly<Record<StatementName, string>> = {
    append: `SELECT place, outcome, ends FROM ${schema}.append($1, $2)`,
    head: `SELECT head, hash FROM ${schema}.session WHERE bucket = $1 AND name = $2`,
    line: `SELECT fork_seq, line_names, line_from, line_to FROM ${schema}.session WHERE bucket = $1 AND name = $2`,
    events: `SELECT seq, size, hash, body FROM ${schema}.event
      WHERE bucket = $1 AND session = $2 AND seq >= $3 AND seq <= $4 ORDER BY seq`,
    blob: `SELECT size, body FROM ${schema}.blob WHERE bucket = $1 AND digest = $2`,
    counts: `SELECT status, count(*) AS sessions FROM ${schema}.session WHERE status IS NOT NULL GROUP BY status`,
    claim: `UPDATE ${schema}.session SET ${TAKES}
      WHERE bucket = $1 AND name = $2 AND (owner_id IS NULL OR owner_id = $3 OR lease_until <= $6)
      RETURNING epoch, tries, NULL::text AS reached`,
    claimWithin: `SELECT epoch, tries, reached FROM ${schema}.claim_within($1, $2, $3, $4, $5, $6, $7, $8)`,
    takeOver: `UPDATE ${schema}.session SET ${TAKES}
      WHERE bucket = $1 AND name = $2 AND epoch = $6 RETURNING epoch, tries, NULL::text AS reached`,
    shared: `SELECT coalesce(agent, '') AS agent, coalesce(tenant, '') AS tenant FROM ${schema}.session
      WHERE bucket = $1 AND name = $2`,
    lease: `SELECT epoch, owner, lease_until FROM ${schema}.session WHERE bucket = $1 AND name = $2`,
    // Rows in the order of the appends, so that neither waits for the other.
    renew: `WITH asked AS (
        SELECT s.bucket, s.name, a.until
        FROM unnest($1::smallint[], $2::text[], $3::bigint[], $4::bigint[]) AS a (bucket, name, epoch, until)
        JOIN ${schema}.session AS s ON s.bucket = a.bucket AND s.name = a.name AND s.epoch = a.epoch
        WHERE s.owner_id IS NOT NULL ORDER BY s.bucket, s.name FOR NO KEY UPDATE OF s)
      UPDATE ${schema}.session AS s SET lease_until = asked.until FROM asked
      WHERE s.bucket = asked.bucket AND s.name = asked.name RETURNING s.name`,
    release: `UPDATE ${schema}.session SET owner_id = NULL, owner = NULL, lease_until = NULL, tried_head = NULL
      WHERE bucket = $1 AND name = $2 AND epoch = $3 RETURNING head`,
    holdOwner: `SELECT pg_advisory_lock_shared(hashtextextended('${schema} owner ' || $1, 0))`,
    // Nobody holds what can be had alone; it is given back with the statement.
    absent: `SELECT owner_id FROM (
        SELECT DISTINCT owner_id FROM ${schema}.session WHERE owner_id IS NOT NULL AND owner_id <> ALL ($1::text[])
      ) AS owners
      WHERE pg_try_advisory_xact_lock(hashtextextended('${schema} owner ' || owner_id, 0))`,
    freeOwner: `UPDATE ${schema}.session SET owner_id = NULL, owner = NULL, lease_until = NULL WHERE owner_id = $1`,
    notify: `SELECT pg_notify('${schema}_changes', $1)`,
    // Grows with every commit on the server, our own and those of others.
    moment: 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS moment',
  };
  const named = Object.entries(texts).map(([name, text]) => [
    name,
    { name: `onrecord_${schema}_${name}`, text },
  ]);
  return Object.fromEntries(named) as Statements;
};

type StatementName =
  | 'append'
  | 'head'
  | 'line'
  | 'events'
  | 'blob'
  | 'counts'
  | 'claim'
  | 'claimWithin'
  | 'shared'
  | 'takeOver'
  | 'lease'
  | 'renew'
  | 'release'
  | 'holdOwner'
  | 'absent'
  | 'freeOwner'
  | 'notify'
  | 'moment';

export type Listing = { readonly text: string; readonly values: readonly unknown[] };

/** A list holds only the conditions that are asked for: each has an index that most sessions are not in. */
export const listing = (schema: string, query: SessionQuery, limit: number): Listing => {
  const { agent, tenant, status, canGoOn, dueBy, untold, forkOf, names, after, oldestFirst = false } = query;
  const values: unknown[] = [];
  const conditions = ['summary IS NOT NULL'];
  const where = (condition: string, value: unknown): void => {
    values.push(value);
    conditions.push(condition.replaceAll('?', `$${values.length}`));
  };
  if (agent !== undefined) where('agent = ?', agent);
  if (tenant !== undefined) where('tenant = ?', tenant);
  if (status) where('status = ANY (?::text[])', status);
  if (names)
    where(
      `name = ANY (?::text[]) AND bucket IN (SELECT ${schema}.bucket_of(n) FROM unnest(?::text[]) AS n)`,
      names,
    );
  if (canGoOn !== undefined) conditions.push(canGoOn ? 'can_go_on' : 'NOT can_go_on');
  if (dueBy !== undefined) where('wake_at IS NOT NULL AND wake_at <= ?', dueBy);
  if (untold !== undefined) conditions.push(untold ? 'untold > 0' : 'untold = 0');
  if (forkOf !== undefined) where('parent = ?', forkOf);
  if (after) {
    values.push(after.updatedAt, after.session);
    const [at, name] = [`$${values.length - 1}`, `$${values.length}`];
    const [past, behind] = oldestFirst ? ['>', '<'] : ['<', '>'];
    conditions.push(
      `(updated_at ${past} ${at} OR (updated_at = ${at} AND name COLLATE "C" ${behind} ${name}))`,
    );
  }
  values.push(limit);
  const text = `SELECT name, head, summary, parent, fork_seq, owner, lease_until FROM ${schema}.session
    WHERE ${conditions.join(' AND ')} ORDER BY ${oldestFirst ? 'updated_at, name COLLATE "C" DESC' : 'updated_at DESC, name COLLATE "C"'} LIMIT $${values.length}`;
  return { text, values };
};
