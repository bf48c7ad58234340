/**
 * What a PostgreSQL store says about itself beyond its sessions: whether a row stands where no session reaches it,
 * whether each session ends where its row says, and whether each blob has its digest. Reads, and changes nothing.
 */
import { systemClock } from '../clock.ts';
import { sha256 } from '../event/canonical.ts';
import { unpacked } from './postgres-batch.ts';
import { Connection, type Ask } from './postgres-connection.ts';
import { postgresPlace } from './postgres-place.ts';
import { checkFormat, MIGRATE_MS } from './postgres-schema.ts';
import type { Examination, ListedSession, StoreFlaw } from './sqlite-examination.ts';

/** Flaws of one kind that are named. */
const FLAWS_NAMED_MAX = 20;
/** Blobs read at once. */
const PAGE_BLOBS = 50;

type Looking = { readonly ask: Ask; readonly schema: string };

/** Throws what keeps the store from being opened; damage is a flaw. `blobs` false leaves their bytes unread. */
export const examinePostgres = async (
  store: string,
  { blobs = true }: { readonly blobs?: boolean } = {},
): Promise<Examination> => {
  const place = postgresPlace(store);
  const connection = new Connection({ place, clock: systemClock, purpose: 'verify', answerMs: MIGRATE_MS });
  const { ask } = connection;
  const looking = { ask, schema: place.schema };
  try {
    await checkFormat(ask, place);
    await ask(`SET statement_timeout = ${MIGRATE_MS}`);
    // One moment for all of it, while others go on writing.
    await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const flaws = [...(await rowFlaws(looking)), ...(blobs ? await blobFlaws(looking) : [])];
    const sessions = await listedSessions(looking);
    return { flaws, sessions };
  } finally {
    await connection.close();
  }
};

const rowFlaws = async ({ ask, schema }: Looking): Promise<readonly StoreFlaw[]> => {
  const texts: readonly (readonly [text: string, said: (row: Record<string, unknown>) => string])[] = [
    [
      `SELECT DISTINCT e.session AS name FROM ${schema}.event AS e
        LEFT JOIN ${schema}.session AS s ON s.bucket = e.bucket AND s.name = e.session
        WHERE s.name IS NULL OR length(e.hash) <> 32`,
      ({ name }) => `Events of ${String(name)} belong to no session, or are no events.`,
    ],
    [
      `SELECT s.name FROM ${schema}.session AS s
        LEFT JOIN ${schema}.event AS e ON e.bucket = s.bucket AND e.session = s.name AND e.seq = s.head
        WHERE e.hash IS DISTINCT FROM s.hash OR EXISTS (
          SELECT 1 FROM ${schema}.event AS more
          WHERE more.bucket = s.bucket AND more.session = s.name AND more.seq > s.head)`,
      ({ name }) => `Session ${String(name)} does not end where its row says.`,
    ],
    [
      `SELECT name FROM ${schema}.session WHERE bucket <> ${schema}.bucket_of(name)`,
      ({ name }) => `Session ${String(name)} stands in another bucket than its name says.`,
    ],
  ];
  const flaws: StoreFlaw[] = [];
  for (const [text, said] of texts) {
    const { rows } = await ask<Record<string, unknown>>(`${text} LIMIT ${FLAWS_NAMED_MAX}`);
    for (const row of rows) flaws.push({ kind: 'row', message: said(row) });
  }
  return flaws;
};

type BlobRow = { readonly digest: Buffer; readonly size: number; readonly body: Buffer };

const blobFlaws = async ({ ask, schema }: Looking): Promise<readonly StoreFlaw[]> => {
  const flaws: StoreFlaw[] = [];
  const text = `SELECT digest, size, body FROM ${schema}.blob WHERE digest > $1 ORDER BY digest LIMIT ${PAGE_BLOBS}`;
  for (let after: Buffer = Buffer.alloc(0); ;) {
    const { rows } = await ask<BlobRow>({ name: 'blobs', text }, [after]);
    for (const row of rows) {
      const problem = blobProblem(row);
      if (problem !== undefined) flaws.push({ kind: 'blob', message: problem });
    }
    const last = rows.at(-1);
    if (!last) return flaws;
    after = last.digest;
  }
};

const blobProblem = ({ digest, size, body }: BlobRow): string | undefined => {
  const name = digest.toString('hex');
  try {
    const bytes = unpacked(body, size);
    if (sha256(bytes) === name) return undefined;
    return `Blob ${name} has other bytes than its digest says.`;
  } catch (error) {
    return `Blob ${name} cannot be unpacked: ${error instanceof Error ? error.message : String(error)}.`;
  }
};

type Row = {
  readonly name: string;
  readonly head: string;
  readonly summary: Buffer | null;
  readonly agent: string | null;
  readonly status: string | null;
  readonly can_go_on: boolean | null;
  readonly updated_at: string | null;
};

const listedSessions = async ({ ask, schema }: Looking): Promise<readonly ListedSession[]> => {
  const { rows } = await ask<Row>(
    `SELECT name, head, summary, agent, status, can_go_on, updated_at FROM ${schema}.session ORDER BY name`,
  );
  return rows.map((row) => ({
    session: row.name,
    head: Number(row.head),
    summary: row.summary && row.summary.toString('utf8'),
    agent: row.agent,
    status: row.status,
    canGoOn: row.can_go_on === null ? null : Number(row.can_go_on),
    updatedAt: row.updated_at === null ? null : Number(row.updated_at),
  }));
};
