/**
 * The PostgreSQL schema, one numbered step after the other. A step that was released is never changed.
 *
 * `bucket` leads every key: a hash of the session's name (of the digest, for blobs) modulo 256. On one server it only
 * orders the index; it is what the tables are to be distributed by where they are spread over several.
 * Bodies, blobs and summaries are bytes. Nothing that proves itself by a hash is ever a jsonb.
 */

export const BUCKETS = 256;

const TABLES = `
  CREATE FUNCTION {schema}.bucket_of(name text) RETURNS smallint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT get_byte(sha256(convert_to(name, 'UTF8')), 0)::smallint $$;

  CREATE TABLE {schema}.session (
    bucket      smallint NOT NULL,
    name        text COLLATE "C" NOT NULL,
    head        bigint NOT NULL,
    hash        bytea NOT NULL,
    epoch       bigint NOT NULL DEFAULT 0,
    owner_id    text COLLATE "C",
    owner       text,
    lease_until bigint,
    parent      text COLLATE "C",
    fork_seq    bigint,
    deep        smallint NOT NULL DEFAULT 1,
    -- The parts of other sessions' logs that this one begins with, oldest first.
    line_names  text[] NOT NULL DEFAULT '{}',
    line_from   bigint[] NOT NULL DEFAULT '{}',
    line_to     bigint[] NOT NULL DEFAULT '{}',
    agent       text,
    tenant      text,
    status      text,
    can_go_on   boolean,
    wake_at     bigint,
    untold      integer NOT NULL DEFAULT 0,
    updated_at  bigint,
    summary     bytea,
    PRIMARY KEY (bucket, name)
  ) WITH (fillfactor = 80);
  CREATE INDEX session_by_time ON {schema}.session (updated_at DESC, name) WHERE summary IS NOT NULL;
  CREATE INDEX session_by_tenant ON {schema}.session (tenant, updated_at DESC) WHERE tenant <> '';
  CREATE INDEX session_by_status ON {schema}.session (status, updated_at DESC);
  CREATE INDEX session_that_can_go_on ON {schema}.session (updated_at) WHERE can_go_on;
  CREATE INDEX session_by_wake ON {schema}.session (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX session_untold ON {schema}.session (updated_at) WHERE untold > 0;
  CREATE INDEX session_by_parent ON {schema}.session (parent) WHERE parent IS NOT NULL;
  CREATE INDEX session_by_owner ON {schema}.session (owner_id) WHERE owner_id IS NOT NULL;

  -- size: bytes of the plain body; a body that is shorter than that is its zstd form.
  CREATE TABLE {schema}.event (
    bucket  smallint NOT NULL,
    session text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    size    integer NOT NULL,
    hash    bytea NOT NULL,
    body    bytea NOT NULL,
    PRIMARY KEY (bucket, session, seq)
  );

  CREATE TABLE {schema}.blob (
    bucket smallint NOT NULL,
    digest bytea NOT NULL,
    size   integer NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (bucket, digest)
  );
  ALTER TABLE {schema}.blob ALTER COLUMN body SET STORAGE EXTERNAL;
`;

/**
 * All appends of one call in one transaction; a refused one leaves the others alone. Every session that is written is
 * locked first, and shared every one whose head is given, in one order for everybody, so that no two calls wait for
 * each other. A lock on the name, not on the row: a log that is not there yet must stay away, too.
 */
const APPEND = `
  CREATE FUNCTION {schema}.append(appends jsonb, payload bytea)
    RETURNS TABLE (place integer, outcome text, ends bigint)
    LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    one record;
    own {schema}.session%ROWTYPE;
    origin {schema}.session%ROWTYPE;
    is_there boolean;
    at_bucket smallint;
    other bigint;
    kept integer[] := '{}';
  BEGIN
    FOR one IN
      SELECT hashtextextended('{schema} ' || name, 0) AS key, bool_or(writes) AS writes
      FROM (
        SELECT a ->> 'session' AS name, true AS writes FROM jsonb_array_elements(appends) AS a
        UNION ALL
        SELECT a ->> 'given', false FROM jsonb_array_elements(appends) AS a WHERE a ? 'given'
      ) AS named
      GROUP BY 1 ORDER BY 1
    LOOP
      IF one.writes THEN PERFORM pg_advisory_xact_lock(one.key);
      ELSE PERFORM pg_advisory_xact_lock_shared(one.key);
      END IF;
    END LOOP;
    PERFORM 1 FROM {schema}.session AS s
      WHERE (s.bucket, s.name) IN (
        SELECT {schema}.bucket_of(a ->> 'session'), a ->> 'session' FROM jsonb_array_elements(appends) AS a)
      ORDER BY s.bucket, s.name FOR NO KEY UPDATE;

    FOR one IN
      SELECT (n - 1)::integer AS place, a ->> 'session' AS name, (a ->> 'expected')::bigint AS expected,
        (a ->> 'epoch')::bigint AS epoch, a ->> 'given' AS given, (a ->> 'givenHead')::bigint AS given_head,
        a ->> 'parent' AS parent, (a ->> 'forkSeq')::bigint AS fork_seq, (a ->> 'again')::boolean AS again,
        a -> 'events' AS events, a -> 'summary' AS summary
      FROM jsonb_array_elements(appends) WITH ORDINALITY AS x (a, n) ORDER BY n
    LOOP
      place := one.place;
      ends := NULL;
      at_bucket := {schema}.bucket_of(one.name);
      SELECT * INTO own FROM {schema}.session AS s WHERE s.bucket = at_bucket AND s.name = one.name;
      is_there := FOUND;

      IF one.epoch IS NOT NULL AND (NOT is_there OR own.epoch <> one.epoch) THEN
        outcome := 'fenced'; ends := coalesce(own.epoch, 0); RETURN NEXT; CONTINUE;
      END IF;
      IF (one.parent IS NOT NULL AND is_there)
        OR (one.parent IS NULL AND coalesce(own.head, 0) <> one.expected) THEN
        IF one.again AND is_there AND jsonb_array_length(one.events) > 0 AND NOT EXISTS (
          SELECT 1 FROM jsonb_array_elements(one.events) WITH ORDINALITY AS x (e, n)
          LEFT JOIN {schema}.event AS w ON w.bucket = at_bucket AND w.session = one.name AND w.seq = one.expected + n
          WHERE w.hash IS DISTINCT FROM substring(payload FROM (e ->> 0)::integer FOR 32)
        ) THEN outcome := 'there';
        ELSE outcome := 'conflict'; ends := coalesce(own.head, 0);
        END IF;
        RETURN NEXT; CONTINUE;
      END IF;
      IF one.given IS NOT NULL THEN
        SELECT s.head INTO other FROM {schema}.session AS s
          WHERE s.bucket = {schema}.bucket_of(one.given) AND s.name = one.given;
        IF coalesce(other, 0) <> one.given_head THEN
          outcome := 'given'; ends := coalesce(other, 0); RETURN NEXT; CONTINUE;
        END IF;
      END IF;

      IF one.parent IS NOT NULL THEN
        SELECT * INTO origin FROM {schema}.session AS s
          WHERE s.bucket = {schema}.bucket_of(one.parent) AND s.name = one.parent;
        outcome := CASE
          WHEN NOT FOUND THEN 'no-parent'
          WHEN origin.head < one.fork_seq OR one.fork_seq < 1 THEN 'no-place'
          WHEN one.expected <> one.fork_seq THEN 'conflict'
          WHEN origin.deep >= (appends -> one.place ->> 'deepMax')::integer THEN 'too-deep'
        END;
        IF outcome IS NOT NULL THEN
          ends := CASE outcome WHEN 'conflict' THEN one.fork_seq ELSE origin.head END;
          RETURN NEXT; CONTINUE;
        END IF;
      END IF;

      IF NOT is_there THEN
        INSERT INTO {schema}.session (bucket, name, head, hash) VALUES (at_bucket, one.name, one.expected, '');
        IF one.parent IS NOT NULL THEN
          UPDATE {schema}.session AS s SET parent = one.parent, fork_seq = one.fork_seq, deep = origin.deep + 1,
            (line_names, line_from, line_to) = (
              SELECT array_agg(part ORDER BY n), array_agg(part_from ORDER BY n),
                array_agg(least(part_to, one.fork_seq) ORDER BY n)
              FROM (
                SELECT part, part_from, part_to, n
                  FROM unnest(origin.line_names, origin.line_from, origin.line_to) WITH ORDINALITY
                    AS l (part, part_from, part_to, n)
                UNION ALL SELECT origin.name, coalesce(origin.fork_seq, 0) + 1, one.fork_seq, 1000
              ) AS parts
              -- A fork of a fork may leave within the part that the two share.
              WHERE part_from <= one.fork_seq)
            WHERE s.bucket = at_bucket AND s.name = one.name;
        END IF;
      END IF;

      INSERT INTO {schema}.event (bucket, session, seq, size, hash, body)
        SELECT at_bucket, one.name, one.expected + n, (e ->> 2)::integer,
          substring(payload FROM (e ->> 0)::integer FOR 32),
          substring(payload FROM (e ->> 0)::integer + 32 FOR (e ->> 1)::integer)
        FROM jsonb_array_elements(one.events) WITH ORDINALITY AS x (e, n);
      UPDATE {schema}.session AS s SET head = one.expected + jsonb_array_length(one.events),
          hash = substring(payload FROM (one.events -> -1 ->> 0)::integer FOR 32)
        WHERE s.bucket = at_bucket AND s.name = one.name AND jsonb_array_length(one.events) > 0;
      IF one.summary IS NOT NULL THEN
        UPDATE {schema}.session AS s SET agent = one.summary ->> 'agent', tenant = one.summary ->> 'tenant',
            status = one.summary ->> 'status', can_go_on = (one.summary ->> 'canGoOn')::boolean,
            wake_at = (one.summary ->> 'wakeAt')::bigint, untold = (one.summary ->> 'untold')::integer,
            updated_at = (one.summary ->> 'updatedAt')::bigint,
            summary = substring(payload FROM (one.summary ->> 'at')::integer FOR (one.summary ->> 'bytes')::integer)
          WHERE s.bucket = at_bucket AND s.name = one.name;
      END IF;
      kept := kept || one.place;
      outcome := 'written';
      ends := one.expected + jsonb_array_length(one.events);
      RETURN NEXT;
    END LOOP;

    -- In one order for everybody, like the locks: who inserts the same digest waits for the other one.
    INSERT INTO {schema}.blob (bucket, digest, size, body)
      SELECT get_byte(digest, 0)::smallint, digest, size, substring(payload FROM at + 32 FOR bytes)
      FROM (
        SELECT substring(payload FROM (b ->> 0)::integer FOR 32) AS digest, (b ->> 0)::integer AS at,
          (b ->> 1)::integer AS bytes, (b ->> 2)::integer AS size
        FROM unnest(kept) AS k, jsonb_array_elements(appends -> k -> 'blobs') AS b
      ) AS blobs
      ORDER BY digest
      ON CONFLICT DO NOTHING;
  END $$;
`;

/** What workers need: how often a session was tried in vain, and how many of an agent's or a tenant's are driven. */
const WORKERS = `
  -- tries: claims at tried_head that were not given back.
  ALTER TABLE {schema}.session ADD COLUMN tries integer NOT NULL DEFAULT 0, ADD COLUMN tried_head bigint;
  CREATE INDEX session_driven_by_agent ON {schema}.session (agent) WHERE owner_id IS NOT NULL;
  CREATE INDEX session_driven_by_tenant ON {schema}.session (tenant) WHERE owner_id IS NOT NULL AND tenant <> '';
  CREATE INDEX session_free_by_tenant ON {schema}.session (tenant) WHERE can_go_on AND owner_id IS NULL;

  -- Of several claims at one moment each counts the ones before it: they wait for each other by name.
  CREATE FUNCTION {schema}.claim_within(at_bucket smallint, called text, by_id text, by_owner text, until bigint, at bigint,
      agent_max integer, tenant_max integer)
    RETURNS TABLE (epoch bigint, tries integer, reached text)
    LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    own_agent text;
    own_tenant text;
    others bigint;
  BEGIN
    SELECT s.agent, s.tenant INTO own_agent, own_tenant FROM {schema}.session AS s
      WHERE s.bucket = at_bucket AND s.name = called;
    IF agent_max IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended('{schema} agent ' || own_agent, 0));
      SELECT count(*) INTO others FROM {schema}.session AS s
        WHERE s.agent = own_agent AND s.owner_id IS NOT NULL AND s.lease_until > at AND s.name <> called;
      IF others >= agent_max THEN reached := 'agent'; RETURN NEXT; RETURN; END IF;
    END IF;
    IF tenant_max IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended('{schema} tenant ' || own_tenant, 0));
      SELECT count(*) INTO others FROM {schema}.session AS s
        WHERE s.tenant = own_tenant AND s.owner_id IS NOT NULL AND s.lease_until > at AND s.name <> called;
      IF others >= tenant_max THEN reached := 'tenant'; RETURN NEXT; RETURN; END IF;
    END IF;
    RETURN QUERY UPDATE {schema}.session AS s SET epoch = s.epoch + 1, owner_id = by_id, owner = by_owner,
        lease_until = until, tries = CASE WHEN s.tried_head = s.head THEN s.tries + 1 ELSE 1 END, tried_head = s.head
      WHERE s.bucket = at_bucket AND s.name = called
        AND (s.owner_id IS NULL OR s.owner_id = by_id OR s.lease_until <= at)
      RETURNING s.epoch, s.tries, NULL::text;
  END $$;
`;

const MIGRATIONS: readonly string[] = [TABLES + APPEND, WORKERS];

/** The steps behind a format, for tables in this PostgreSQL schema, whose name has been checked. */
export const migrationsFrom = (format: number, schema: string): readonly string[] =>
  MIGRATIONS.slice(format).map((step) => step.replaceAll('{schema}', schema));

/** The format this program writes and the only one it works with. */
export const POSTGRES_FORMAT: number = MIGRATIONS.length;
