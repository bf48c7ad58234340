/** Every statement of the SQLite store, once. */

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
  'UPDATE session SET agent = ?, status = ?, can_go_on = ?, updated_at = ?, summary = ? WHERE id = ?';
export const FIND_LEASE = 'SELECT id, epoch, owner, lease_until FROM session WHERE name = ?';
export const SET_LEASE = 'UPDATE session SET epoch = ?, owner = ?, lease_until = ? WHERE id = ?';
export const RENEW_LEASE =
  'UPDATE session SET lease_until = ? WHERE name = ? AND epoch = ? AND owner IS NOT NULL';
export const RELEASE_LEASE =
  'UPDATE session SET owner = NULL, lease_until = NULL WHERE name = ? AND epoch = ?';
export const LIST_SESSIONS = `
  SELECT name, summary, coalesce((SELECT max(seq) FROM event WHERE event.session = session.id), fork_seq) AS head,
    (SELECT origin.name FROM session AS origin WHERE origin.id = session.parent) AS parent, fork_seq
  FROM session
  WHERE summary IS NOT NULL
    AND (:agent IS NULL OR agent = :agent)
    AND (:status IS NULL OR status IN (SELECT value FROM json_each(:status)))
    AND (:can_go_on IS NULL OR can_go_on = :can_go_on)
    AND (:fork_of IS NULL OR session.parent = (SELECT origin.id FROM session AS origin WHERE origin.name = :fork_of))
    AND (:before IS NULL OR updated_at < :before)
  ORDER BY updated_at DESC, name
  LIMIT :limit`;
