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
  'UPDATE session SET agent = ?, status = ?, can_go_on = ?, updated_at = ?, summary = ? WHERE id = ?';
export const FIND_LEASE = 'SELECT id, epoch, owner, lease_until FROM session WHERE name = ?';
export const SET_LEASE = 'UPDATE session SET epoch = ?, owner = ?, lease_until = ? WHERE id = ?';
export const RENEW_LEASE =
  'UPDATE session SET lease_until = ? WHERE name = ? AND epoch = ? AND owner IS NOT NULL';
export const RELEASE_LEASE =
  'UPDATE session SET owner = NULL, lease_until = NULL WHERE name = ? AND epoch = ?';
export const LIST_SESSIONS = `
  SELECT name, summary, (SELECT max(seq) FROM event WHERE event.session = session.id) AS head
  FROM session
  WHERE summary IS NOT NULL
    AND (:agent IS NULL OR agent = :agent)
    AND (:status IS NULL OR status IN (SELECT value FROM json_each(:status)))
    AND (:can_go_on IS NULL OR can_go_on = :can_go_on)
    AND (:before IS NULL OR updated_at < :before)
  ORDER BY updated_at DESC, name
  LIMIT :limit`;
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
    OR typeof(hash) <> 'blob' OR length(hash) <> 32 OR typeof(body) NOT IN ('text', 'blob')`;
export const SESSIONS_WITHOUT_EVENTS = `
  SELECT name FROM session WHERE NOT EXISTS (SELECT 1 FROM event WHERE event.session = session.id)`;
