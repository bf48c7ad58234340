/** Changes a store behind the back of the program that wrote it, byte by byte or with a chain made anew. */
import { DatabaseSync } from 'node:sqlite';
import { canonical } from '../../src/event/canonical.ts';
import { chainHash, genesis } from '../../src/event/envelope.ts';
import type { Json } from '../../src/event/json.ts';
import { eventCells, storedEvent, type EventRow } from '../../src/log/sqlite-row.ts';

type Row = EventRow & { readonly rowid: number };

const inStore = <T>(path: string, use: (db: DatabaseSync) => T): T => {
  const db = new DatabaseSync(path);
  try {
    return use(db);
  } finally {
    db.close();
  }
};

const rowsOf = (db: DatabaseSync, session: string): readonly Row[] =>
  db
    .prepare(
      'SELECT event.rowid, seq, hash, body, at, type FROM event JOIN session ON session.id = event.session WHERE name = ? ORDER BY seq',
    )
    .all(session) as unknown as readonly Row[];

/** Flips one bit in the stored body of an event, wherever it lies within it. */
export const flipBodyBit = (path: string, session: string, seq: number, where: number): void =>
  inStore(path, (db) => {
    const row = rowsOf(db, session).find((one) => one.seq === seq);
    if (!row) throw new Error(`no event ${seq}`);
    const bytes = Buffer.from(row.body as string);
    const at = Math.floor(where * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const body = typeof row.body === 'string' ? bytes.toString('latin1') : bytes;
    db.prepare('UPDATE event SET body = ? WHERE rowid = ?').run(body, row.rowid);
  });

export const flipHashBit = (path: string, session: string, seq: number): void =>
  inStore(path, (db) => {
    const row = rowsOf(db, session).find((one) => one.seq === seq);
    if (!row) throw new Error(`no event ${seq}`);
    const hash = Buffer.from(row.hash);
    hash[7] = (hash[7] ?? 0) ^ 0x10;
    db.prepare('UPDATE event SET hash = ? WHERE rowid = ?').run(hash, row.rowid);
  });

/** Flips one bit in a stored blob; answers how many blobs there are. */
export const flipBlobBit = (path: string, index: number): void =>
  inStore(path, (db) => {
    const blobs = db.prepare('SELECT rowid, body FROM blob ORDER BY rowid').all() as {
      rowid: number;
      body: Uint8Array;
    }[];
    const blob = blobs[index];
    if (!blob) throw new Error(`no blob ${index}`);
    const bytes = Buffer.from(blob.body);
    const at = Math.floor(bytes.length / 2);
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    db.prepare('UPDATE blob SET body = ? WHERE rowid = ?').run(bytes, blob.rowid);
  });

export const deleteEvents = (path: string, session: string, from: number): void =>
  inStore(path, (db) => {
    db.prepare('DELETE FROM event WHERE seq >= ? AND session = (SELECT id FROM session WHERE name = ?)').run(
      from,
      session,
    );
  });

type Body = { at: number; data: Record<string, Json>; seq: number; type: string; v: number };

/** Writes one event anew and every hash after it: a forgery that the chain alone cannot show. */
export const forge = (path: string, session: string, change: (body: Body) => Body | undefined): void =>
  inStore(path, (db) => {
    let hash = genesis(session);
    const update = db.prepare('UPDATE event SET hash = ?, body = ?, at = ?, type = ? WHERE rowid = ?');
    for (const row of rowsOf(db, session)) {
      const { body: text } = storedEvent(row);
      const changed = change(JSON.parse(text) as Body);
      const body = changed ? canonical(changed) : text;
      hash = chainHash(hash, body);
      update.run(Buffer.from(hash, 'hex'), ...eventCells({ seq: row.seq, hash, body }), row.rowid);
    }
  });
