/**
 * Where logs end, as a store has read it or written it itself. It holds for as long as nobody else writes: within a
 * transaction SQLite says whether another connection has committed since (https://sqlite.org/pragma.html#pragma_data_version).
 */
import type { FoundHead } from './sqlite-row.ts';

export type KnownHead = { readonly id: number; readonly epoch: number; readonly head: number };

/** Logs that are kept in mind; with more all are forgotten and read again as they are needed. */
const HEADS_MAX = 4096;

export class SqliteHeads {
  readonly #known = new Map<string, KnownHead | undefined>();
  readonly #read: (session: string) => FoundHead | undefined;
  #version: number | undefined;

  constructor(read: (session: string) => FoundHead | undefined) {
    this.#read = read;
  }

  /** In each transaction that writes, before anything is asked: the version of the data as it stands there. */
  begin(version: number): void {
    if (version !== this.#version) this.#known.clear();
    this.#version = version;
  }

  /** Undefined where there is no such log. */
  find(session: string): KnownHead | undefined {
    const known = this.#known.get(session);
    if (known !== undefined || this.#known.has(session)) return known;
    const found = this.#read(session);
    const head = found && { id: found.id, epoch: found.epoch, head: found.head ?? 0 };
    this.#keep(session, head);
    return head;
  }

  wrote(session: string, head: KnownHead): void {
    this.#keep(session, head);
  }

  /** Something else of a log was written: it is read again. */
  forget(session: string): void {
    this.#known.delete(session);
  }

  /** What was written came to nothing. */
  rolledBack(): void {
    this.#known.clear();
  }

  #keep(session: string, head: KnownHead | undefined): void {
    if (this.#known.size >= HEADS_MAX) this.#known.clear();
    this.#known.set(session, head);
  }
}
