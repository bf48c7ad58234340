/**
 * Airline databases in one SQLite file, one row a record. Every conversation has its own database: the rows of the
 * base, and over them its own rows. Several processes may use the file at the same time.
 */
import { DatabaseSync } from 'node:sqlite';
import { attempt, Changes, digestOfTables, type AirlineDatabase, type Base, type Write } from './database.ts';
import { TABLES, type Draft, type Flight, type Records, type Table, type Tables } from './records.ts';
import { canonicalJson } from './text.ts';

const BUSY_MS = 30_000;
/** Canonical texts kept at hand. */
const TEXTS_MAX = 20_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS record (
    conversation TEXT NOT NULL,  -- '' for the base
    name TEXT NOT NULL,          -- of the table
    key TEXT NOT NULL,
    body TEXT NOT NULL,          -- JSON, keys in the airline's order
    PRIMARY KEY (conversation, name, key)
  );
  -- Without a uniqueness rule on purpose: a write that is carried out twice shows as two rows.
  CREATE TABLE IF NOT EXISTS executed (
    n INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    tool TEXT NOT NULL,
    ok INTEGER NOT NULL,
    answer TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS executed_by_key ON executed (conversation, idempotency_key);
`;

const READ =
  'SELECT body FROM record WHERE conversation IN (?, ?) AND name = ? AND key = ? ORDER BY conversation DESC';
const ALL =
  "SELECT key, body FROM record WHERE conversation IN ('', ?) AND name = ? ORDER BY conversation, rowid";
const PUT =
  'INSERT INTO record VALUES (?, ?, ?, ?) ON CONFLICT (conversation, name, key) DO UPDATE SET body = excluded.body';
const FIRST_ANSWER = 'SELECT answer FROM executed WHERE conversation = ? AND idempotency_key = ?';
const EXECUTED =
  'INSERT INTO executed (conversation, idempotency_key, tool, ok, answer) VALUES (?, ?, ?, ?, ?)';
const WRITES =
  'SELECT idempotency_key AS key, tool, ok, answer FROM executed WHERE conversation = ? ORDER BY n';

export class AirlineFile {
  readonly #db: DatabaseSync;
  readonly #afterCommit: () => void;
  #flights: readonly Flight[] | undefined;
  /** Canonical texts by body: most records of all conversations are those of the base. */
  readonly #texts = new Map<string, string>();

  /**
   * Opens a file, and fills a new one from `base`. `afterCommit` is called when a write is durable and nobody knows
   * of it yet: a place for tests to end the process.
   */
  constructor(path: string, base: () => Base, afterCommit: () => void = () => undefined) {
    this.#afterCommit = afterCommit;
    this.#db = new DatabaseSync(path, { timeout: BUSY_MS });
    // Without a write-ahead log: two that make the same new file at once wait for each other.
    this.#db.exec('PRAGMA synchronous = FULL');
    this.#transaction(() => {
      this.#db.exec(SCHEMA);
      if (this.#db.prepare('SELECT 1 FROM record LIMIT 1').get() === undefined) this.#fill(base());
    });
  }

  close(): void {
    this.#db.close();
  }

  /** The database of one conversation. */
  database(conversation: string): AirlineDatabase {
    const records: Records = {
      get: (table, key) => this.#record(conversation, table, key),
      flights: () => (this.#flights ??= this.#timetable()),
    };
    return {
      records,
      write: (name, work) => this.#write({ ...name, conversation }, records, work),
      writes: () => this.#writes(conversation),
      digest: () => digestOfTables((table) => this.#canonical(conversation, table)),
    };
  }

  #write(
    name: { readonly conversation: string; readonly key: string; readonly tool: string },
    records: Records,
    work: (draft: Draft) => string,
  ): string {
    const { conversation, key, tool } = name;
    const answer = this.#transaction(() => {
      const first = this.#db.prepare(FIRST_ANSWER).get(conversation, key) as { answer: string } | undefined;
      if (first) return first.answer;
      const draft = new Changes(records);
      const done = attempt(draft, work);
      if (done.ok)
        for (const change of draft.changed.values())
          this.#db.prepare(PUT).run(conversation, change.table, change.key, JSON.stringify(change.record));
      this.#db.prepare(EXECUTED).run(conversation, key, tool, Number(done.ok), done.answer);
      return done.answer;
    });
    this.#afterCommit();
    return answer;
  }

  #record<T extends Table>(conversation: string, table: T, key: string): Tables[T] | undefined {
    const row = this.#db.prepare(READ).get('', conversation, table, key) as { body: string } | undefined;
    return row && (JSON.parse(row.body) as Tables[T]);
  }

  /** The bodies of a table's records, by key; a conversation's own rows come last. */
  #bodies(conversation: string, table: Table): ReadonlyMap<string, string> {
    const rows = this.#db.prepare(ALL).all(conversation, table) as { key: string; body: string }[];
    return new Map(rows.map(({ key, body }) => [key, body]));
  }

  #canonical(conversation: string, table: Table): ReadonlyMap<string, string> {
    const texts = new Map<string, string>();
    for (const [key, body] of this.#bodies(conversation, table)) {
      const text = this.#texts.get(body) ?? canonicalJson(JSON.parse(body));
      if (this.#texts.size < TEXTS_MAX) this.#texts.set(body, text);
      texts.set(key, text);
    }
    return texts;
  }

  #timetable(): readonly Flight[] {
    return [...this.#bodies('', 'flights').values()].map((body) => JSON.parse(body) as Flight);
  }

  #writes(conversation: string): readonly Write[] {
    const rows = this.#db.prepare(WRITES).all(conversation) as {
      key: string;
      tool: string;
      ok: number;
      answer: string;
    }[];
    return rows.map(({ key, tool, ok, answer }) => ({ key, tool, ok: ok === 1, answer }));
  }

  #fill(base: Base): void {
    const put = this.#db.prepare(PUT);
    for (const table of TABLES)
      for (const [key, record] of base.tables[table]) put.run('', table, key, JSON.stringify(record));
  }

  /** Takes the write lock first, so that what is read inside is what is written on. */
  #transaction<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const value = work();
      this.#db.exec('COMMIT');
      return value;
    } catch (error) {
      this.#db.exec('ROLLBACK');
      throw error;
    }
  }
}
