/** Every statement of the SQLite store, once. */
import type { SessionQuery } from './store.ts';

export const FIND_SESSION = 'SELECT id, epoch FROM session WHERE name = ?';
export const FIND_HEAD =
  'SELECT id, epoch, coalesce((SELECT max(seq) FROM event WHERE event.session = session.id), fork_seq) AS head FROM session WHERE name = ?';
export const INSERT_SESSION = 'INSERT INTO session (name, parent, fork_seq) VALUES (?, ?, ?)';
/** A session's own part of its log, from which on, and where it comes from. */
export const FIND_PART = 'SELECT parent, fork_seq FROM session WHERE id = ?';
export const HEAD = 'SELECT seq, hash FROM event WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1';
export const HASH_AT = 'SELECT hash FROM event WHERE session = ? AND seq = ?';
export const INSERT_EVENT =
  'INSERT INTO event (session, seq, hash, body, at, type) VALUES (?, ?, unhex(?), ?, ?, ?)';
export const READ_EVENTS =
  'SELECT seq, hash, body, at, type FROM event WHERE session = ? AND seq >= ? AND seq <= ? ORDER BY seq';
export const INSERT_BLOB =
  'INSERT INTO blob (digest, size, body) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING';
export const READ_BLOB = 'SELECT size, body FROM blob WHERE digest = ?';
export const SET_SUMMARY =
  'UPDATE session SET agent = ?, tenant = ?, status = ?, can_go_on = ?, wake_at = ?, untold = ?, updated_at = ?, summary = ? WHERE id = ?';
export const FIND_LEASE = `
  SELECT id, epoch, owner, lease_until, agent, tenant, tries, tried_head,
    coalesce((SELECT max(seq) FROM event WHERE event.session = session.id), fork_seq) AS head
  FROM session WHERE name = ?`;
export const SET_LEASE =
  'UPDATE session SET epoch = ?, owner = ?, lease_until = ?, tries = ?, tried_head = ? WHERE id = ?';
/** Leases that run beside a session's own. Few sessions are driven at a time, and none of the others is looked at twice. */
export const COUNT_LEASES = {
  agent:
    'SELECT count(*) AS count FROM session WHERE agent = ? AND owner IS NOT NULL AND lease_until > ? AND id <> ?',
  tenant:
    'SELECT count(*) AS count FROM session WHERE tenant = ? AND owner IS NOT NULL AND lease_until > ? AND id <> ?',
} as const;
export const RENEW_LEASE =
  'UPDATE session SET lease_until = ? WHERE name = ? AND epoch = ? AND owner IS NOT NULL';
export const RELEASE_LEASE =
  'UPDATE session SET owner = NULL, lease_until = NULL, tried_head = NULL WHERE name = ? AND epoch = ?';

export type SessionListing = {
  readonly text: string;
  readonly parameters: Readonly<Record<string, string | number>>;
};

/**
 * The sweep asks every few seconds, over however many sessions wait: it must not look at those that do not matter. So a
 * list holds only the conditions that are asked for, and is narrowed first by the index that most sessions are not in.
 */
export const listSessions = (query: SessionQuery, limit: number): SessionListing => {
  const { agent, tenant, status, canGoOn, dueBy, untold, forkOf, names, after, oldestFirst = false } = query;
  const parameters: Record<string, string | number> = { limit };
  const conditions = ['summary IS NOT NULL'];
  const where = (condition: string, name?: string, value?: string | number): void => {
    conditions.push(condition);
    if (name !== undefined && value !== undefined) parameters[name] = value;
  };
  if (agent !== undefined) where('agent = :agent', 'agent', agent);
  if (tenant !== undefined) where('tenant = :tenant', 'tenant', tenant);
  if (status) where('status IN (SELECT value FROM json_each(:status))', 'status', JSON.stringify(status));
  if (names) where('name IN (SELECT value FROM json_each(:names))', 'names', JSON.stringify(names));
  if (canGoOn !== undefined) where(canGoOn ? 'can_go_on' : 'NOT can_go_on');
  if (dueBy !== undefined) where('wake_at IS NOT NULL AND wake_at <= :dueBy', 'dueBy', dueBy);
  if (untold !== undefined) where(untold ? 'untold > 0' : 'untold = 0');
  if (forkOf !== undefined)
    where(
      'session.parent = (SELECT origin.id FROM session AS origin WHERE origin.name = :forkOf)',
      'forkOf',
      forkOf,
    );
  if (after) {
    // The first condition is what the index can use; the second leaves out what of that moment was listed already.
    const [reached, past, behind] = oldestFirst ? ['>=', '>', '<'] : ['<=', '<', '>'];
    where(`updated_at ${reached} :at`, 'at', after.updatedAt);
    where(`(updated_at ${past} :at OR name ${behind} :name)`, 'name', after.session);
  }
  const text = `
    SELECT name, summary, coalesce((SELECT max(seq) FROM event WHERE event.session = session.id), fork_seq) AS head,
      (SELECT origin.name FROM session AS origin WHERE origin.id = session.parent) AS parent, fork_seq,
      owner, lease_until
    FROM session ${index(query)} WHERE ${conditions.join(' AND ')} ORDER BY ${oldestFirst ? 'updated_at, name DESC' : 'updated_at DESC, name'} LIMIT :limit`;
  return { text, parameters };
};

export const STATUS_COUNTS =
  'SELECT status, count(*) AS sessions FROM session WHERE status IS NOT NULL GROUP BY status';

const index = ({ dueBy, canGoOn, untold }: SessionQuery): string => {
  if (dueBy !== undefined) return 'INDEXED BY session_by_wake';
  if (canGoOn === true) return 'INDEXED BY session_that_can_go_on';
  return untold === true ? 'INDEXED BY session_untold' : '';
};

export const ALL_SESSIONS = `
  SELECT name, agent, status, can_go_on, updated_at, summary,
    (SELECT max(seq) FROM event WHERE event.session = session.id) AS head
  FROM session
  ORDER BY name`;
export const ALL_LEASES = 'SELECT name, epoch, owner, lease_until FROM session';
export const ALL_BLOBS = 'SELECT rowid, digest, size, body FROM blob';
export const EVENTS_OUT_OF_PLACE = `
  SELECT rowid, session, seq FROM event
  WHERE typeof(seq) <> 'integer' OR seq < 1 OR session NOT IN (SELECT id FROM session)
    OR typeof(hash) <> 'blob' OR length(hash) <> 32 OR typeof(body) NOT IN ('text', 'blob')
    OR typeof(at) NOT IN ('null', 'integer') OR typeof(type) NOT IN ('null', 'text', 'integer') OR (at IS NULL) <> (type IS NULL)`;
export const SESSIONS_WITHOUT_EVENTS = `
  SELECT name FROM session WHERE NOT EXISTS (SELECT 1 FROM event WHERE event.session = session.id)`;
