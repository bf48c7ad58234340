/** The SQLite schema, one numbered step after the other. A step that was released is never changed. */

/** Written into the file's header: an Onrecord log, and not somebody's other database. */
export const APPLICATION_ID = 0x4f4e5243; // "ONRC"

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE session (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    agent       TEXT,
    tenant      TEXT,
    status      TEXT,
    can_go_on   INTEGER,
    wake_at     INTEGER,
    untold      INTEGER NOT NULL DEFAULT 0,
    updated_at  INTEGER,
    summary     TEXT,
    epoch       INTEGER NOT NULL DEFAULT 0,
    owner       TEXT,
    lease_until INTEGER
  );
  CREATE INDEX session_by_time ON session (updated_at DESC);
  CREATE INDEX session_by_tenant ON session (tenant, updated_at DESC) WHERE tenant <> '';
  CREATE INDEX session_by_status ON session (status, updated_at DESC);
  CREATE INDEX session_that_can_go_on ON session (updated_at) WHERE can_go_on;
  CREATE INDEX session_by_wake ON session (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX session_untold ON session (updated_at) WHERE untold > 0;

  -- body: canonical JSON as text, or its zstd form as a blob. Rows over 1 KB would spill to overflow pages
  -- in a WITHOUT ROWID table, so the rowid stays.
  CREATE TABLE event (
    session INTEGER NOT NULL REFERENCES session (id),
    seq     INTEGER NOT NULL,
    hash    BLOB NOT NULL,
    body    BLOB NOT NULL,
    UNIQUE (session, seq)
  );

  CREATE TABLE blob (
    digest BLOB NOT NULL UNIQUE,
    size   INTEGER NOT NULL,
    body   BLOB NOT NULL
  );
  `,
  `
  -- A fork has the parent's events up to fork_seq and its own behind it; only its own are stored under it.
  ALTER TABLE session ADD COLUMN parent INTEGER REFERENCES session (id);
  ALTER TABLE session ADD COLUMN fork_seq INTEGER;
  CREATE INDEX session_by_parent ON session (parent) WHERE parent IS NOT NULL;
  `,
  `
  -- Claims at tried_head that were not given back: drivers that were lost before they had appended anything.
  ALTER TABLE session ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE session ADD COLUMN tried_head INTEGER;
  `,
  `
  -- Where both are there, body is the event's data alone and the rest of its canonical form follows from the row.
  -- Where they are not (rows of earlier formats, forms that are others) body is all of it. type is the type's name, or
  -- for the five that nearly all events are of a number: 0 request.built, 1 response.received, 2 call.proposed,
  -- 3 call.started, 4 call.result.
  ALTER TABLE event ADD COLUMN at INTEGER;
  ALTER TABLE event ADD COLUMN type INTEGER;
  `,
];

/** The format this program writes and the newest it reads. */
export const STORE_FORMAT: number = MIGRATIONS.length;
