/**
 * The airline's database. A write is one transaction that changes the records, or nothing, and keeps its answer
 * under its idempotency key: the same key again gets the first answer, and nothing is done.
 */
import { hash } from 'node:crypto';
import {
  Refusal,
  TABLES,
  type Draft,
  type Flight,
  type Records,
  type Table,
  type Tables,
} from './records.ts';
import { canonicalJson } from './text.ts';

export type Write = {
  readonly key: string;
  readonly tool: string;
  /** False where the airline refused: nothing was changed. */
  readonly ok: boolean;
  readonly answer: string;
};

export type AirlineDatabase = {
  readonly records: Records;
  /** Answers with the text of `work`, or with "Error: ..." where it throws a Refusal. */
  write(name: { readonly key: string; readonly tool: string }, work: (draft: Draft) => string): string;
  /** What was carried out, in order. One entry for every execution, a repeat of a key is none. */
  writes(): readonly Write[];
  /** SHA-256 of the whole database as canonical JSON. */
  digest(): string;
};

type Stored = { [T in Table]: ReadonlyMap<string, Tables[T]> };

/** The database before every conversation. Frozen: any number of databases lie on top of it. */
export class Base {
  readonly tables: Stored;
  readonly flights: readonly Flight[];
  readonly #canonical = new Map<string, string>();

  /** `json` is an object of three tables, each an object by key. */
  constructor(json: string) {
    const { flights, reservations, users } = JSON.parse(json) as Record<Table, Record<string, never>>;
    this.tables = { flights: mapOf(flights), reservations: mapOf(reservations), users: mapOf(users) };
    this.flights = [...this.tables.flights.values()];
  }

  get<T extends Table>(table: T, key: string): Tables[T] | undefined {
    return (this.tables[table] as ReadonlyMap<string, Tables[T]>).get(key);
  }

  canonical(table: Table, key: string): string {
    const name = `${table} ${key}`;
    const text = this.#canonical.get(name) ?? canonicalJson(this.get(table, key));
    this.#canonical.set(name, text);
    return text;
  }
}

const mapOf = <T>(object: Record<string, T> | undefined): ReadonlyMap<string, T> =>
  new Map(Object.entries(object ?? {}));

/** `members` are the canonical texts of a table's records, by key. */
export const digestOfTables = (members: (table: Table) => ReadonlyMap<string, string>): string => {
  const tables = TABLES.map((table) => {
    const sorted = [...members(table)].sort(([a], [b]) => (a < b ? -1 : 1));
    return `${JSON.stringify(table)}:{${sorted.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
  });
  return hash('sha256', `{${tables.join(',')}}`);
};

/** Runs a write against a draft that nobody else sees. */
export const attempt = (
  draft: Draft,
  work: (draft: Draft) => string,
): { readonly ok: boolean; readonly answer: string } => {
  try {
    return { ok: true, answer: work(draft) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, answer: `Error: ${error.message}` };
  }
};

type Change = { readonly table: Table; readonly key: string; readonly record: unknown };

/** What a write has put so far, over the records below it. */
export class Changes implements Draft {
  readonly #below: Records;
  readonly changed: Map<string, Change> = new Map();

  constructor(below: Records) {
    this.#below = below;
  }

  get<T extends Table>(table: T, key: string): Tables[T] | undefined {
    const changed = this.changed.get(`${table} ${key}`);
    return changed ? (changed.record as Tables[T]) : this.#below.get(table, key);
  }

  put<T extends Table>(table: T, key: string, record: Tables[T]): void {
    this.changed.set(`${table} ${key}`, { table, key, record });
  }

  flights(): readonly Flight[] {
    return this.#below.flights();
  }
}

/** A database in memory, on top of the base. */
export const memoryDatabase = (base: Base): AirlineDatabase => {
  const kept = new Changes({ get: (table, key) => base.get(table, key), flights: () => base.flights });
  const writes: Write[] = [];
  return {
    records: kept,
    write({ key, tool }, work) {
      const first = writes.find((write) => write.key === key);
      if (first) return first.answer;
      const draft = new Changes(kept);
      const { ok, answer } = attempt(draft, work);
      if (ok) for (const [name, change] of draft.changed) kept.changed.set(name, change);
      writes.push({ key, tool, ok, answer });
      return answer;
    },
    writes: () => [...writes],
    digest: () => digestOfTables((table) => withChanges(base, table, kept)),
  };
};

const withChanges = (base: Base, table: Table, { changed }: Changes): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  for (const key of base.tables[table].keys()) texts.set(key, base.canonical(table, key));
  for (const change of changed.values())
    if (change.table === table) texts.set(change.key, canonicalJson(change.record));
  return texts;
};
