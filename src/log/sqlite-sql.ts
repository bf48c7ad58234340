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
export const INSERT_EVENT = 'INSERT INTO event (session, seq, hash, body) VALUES (?, ?, ?, ?)';
export const READ_EVENTS =
  'SELECT seq, hash, body FROM event WHERE session = ? AND seq >= ? AND seq <= ? ORDER BY seq';
export const INSERT_BLOB =
  'INSERT INTO blob (digest, size, body) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING';
export const READ_BLOB = 'SELECT size, body FROM blob WHERE digest = ?';
export const SET_SUMMARY =
  'UPDATE session SET agent = ?, tenant = ?, status = ?, can_go_on = ?, wake_at = ?, untold = ?, updated_at = ?, summary = ? WHERE id = ?';
export const FIND_LEASE = 'SELECT id, epoch, owner, lease_until FROM session WHERE name = ?';
export const SET_LEASE = 'UPDATE session SET epoch = ?, owner = ?, lease_until = ? WHERE id = ?';
export const RENEW_LEASE =
  'UPDATE session SET lease_until = ? WHERE name = ? AND epoch = ? AND owner IS NOT NULL';
export const RELEASE_LEASE =
  'UPDATE session SET owner = NULL, lease_until = NULL WHERE name = ? AND epoch = ?';

export type SessionListing = {
  readonly text: string;
  readonly parameters: Readonly<Record<string, string | number>>;
};

/** Only the conditions that are asked for, so that each finds its index. */
export const listSessions = (query: SessionQuery, limit: number): SessionListing => {
  const { agent, tenant, status, canGoOn, dueBy, untold, forkOf, before } = query;
  const parameters: Record<string, string | number> = { limit };
  const conditions = ['summary IS NOT NULL'];
  const where = (condition: string, name?: string, value?: string | number): void => {
    conditions.push(condition);
    if (name !== undefined && value !== undefined) parameters[name] = value;
  };
  if (agent !== undefined) where('agent = :agent', 'agent', agent);
  if (tenant !== undefined) where('tenant = :tenant', 'tenant', tenant);
  if (status) where('status IN (SELECT value FROM json_each(:status))', 'status', JSON.stringify(status));
  if (canGoOn !== undefined) where(canGoOn ? 'can_go_on' : 'NOT can_go_on');
  if (dueBy !== undefined) where('wake_at IS NOT NULL AND wake_at <= :dueBy', 'dueBy', dueBy);
  if (untold !== undefined) where(untold ? 'untold > 0' : 'untold = 0');
  if (forkOf !== undefined)
    where(
      'session.parent = (SELECT origin.id FROM session AS origin WHERE origin.name = :forkOf)',
      'forkOf',
      forkOf,
    );
  if (before !== undefined) where('updated_at < :before', 'before', before);
  const text = `
    SELECT name, summary, coalesce((SELECT max(seq) FROM event WHERE event.session = session.id), fork_seq) AS head,
      (SELECT origin.name FROM session AS origin WHERE origin.id = session.parent) AS parent, fork_seq
    FROM session WHERE ${conditions.join(' AND ')} ORDER BY updated_at DESC, name LIMIT :limit`;
  return { text, parameters };
};
