/** Every statement of the SQLite store, once. */

export const FIND_SESSION = 'SELECT id, epoch FROM session WHERE name = ?';
export const FIND_HEAD =
  'SELECT id, epoch, (SELECT max(seq) FROM event WHERE event.session = session.id) AS head FROM session WHERE name = ?';
export const INSERT_SESSION = 'INSERT INTO session (name) VALUES (?)';
export const HEAD = 'SELECT seq, hash FROM event WHERE session = ? ORDER BY seq DESC LIMIT 1';
export const HASH_AT = 'SELECT hash FROM event WHERE session = ? AND seq = ?';
export const INSERT_EVENT = 'INSERT INTO event (session, seq, hash, body) VALUES (?, ?, ?, ?)';
export const READ_EVENTS =
  'SELECT seq, hash, body FROM event WHERE session = ? AND seq >= ? AND seq <= ? ORDER BY seq';
export const INSERT_BLOB =
  'INSERT INTO blob (digest, size, body) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING';
export const READ_BLOB = 'SELECT size, body FROM blob WHERE digest = ?';
export const SET_SUMMARY =
  'UPDATE session SET agent = ?, status = ?, can_go_on = ?, wake_at = ?, untold = ?, updated_at = ?, summary = ? WHERE id = ?';
export const FIND_LEASE = 'SELECT id, epoch, owner, lease_until FROM session WHERE name = ?';
export const SET_LEASE = 'UPDATE session SET epoch = ?, owner = ?, lease_until = ? WHERE id = ?';
export const RENEW_LEASE =
  'UPDATE session SET lease_until = ? WHERE name = ? AND epoch = ? AND owner IS NOT NULL';
export const RELEASE_LEASE =
  'UPDATE session SET owner = NULL, lease_until = NULL WHERE name = ? AND epoch = ?';

/** What a list is narrowed by first: each of these has an index of its own, and most sessions are in none of them. */
export type Narrow = 'due' | 'can-go-on' | 'untold' | 'nothing';

const NARROWED: Readonly<Record<Narrow, readonly [index: string, condition: string]>> = {
  due: ['INDEXED BY session_by_wake', 'wake_at <= :due_by'],
  'can-go-on': ['INDEXED BY session_that_can_go_on', 'can_go_on'],
  untold: ['INDEXED BY session_untold', 'untold > 0'],
  nothing: ['', 'TRUE'],
};

export const listSessions = (narrow: Narrow): string => {
  const [index, condition] = NARROWED[narrow];
  return `
  SELECT name, summary, (SELECT max(seq) FROM event WHERE event.session = session.id) AS head
  FROM session ${index}
  WHERE ${condition} AND summary IS NOT NULL
    AND (:agent IS NULL OR agent = :agent)
    AND (:status IS NULL OR status IN (SELECT value FROM json_each(:status)))
    AND (:can_go_on IS NULL OR can_go_on = :can_go_on)
    AND (:due_by IS NULL OR wake_at <= :due_by)
    AND (:untold IS NULL OR (untold > 0) = :untold)
    AND (:before IS NULL OR updated_at < :before)
  ORDER BY updated_at DESC, name
  LIMIT :limit`;
};
