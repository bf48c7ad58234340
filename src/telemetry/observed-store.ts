/** A store whose appends are seen once they are durable, each by the process that made it and by no other. */
import type { Digest } from '../event/canonical.ts';
import type { StoredEvent } from '../event/envelope.ts';
import type {
  Append,
  ChangeListener,
  Claim,
  ClaimRequest,
  Head,
  LogStore,
  SessionQuery,
  SessionRow,
  StatusCounts,
} from '../log/store.ts';

export class ObservedStore implements LogStore {
  readonly #store: LogStore;
  readonly #appended: (append: Append) => void;

  constructor(store: LogStore, appended: (append: Append) => void) {
    this.#store = store;
    this.#appended = appended;
  }

  get name(): string {
    return this.#store.name;
  }

  async append(append: Append): Promise<void> {
    await this.#store.append(append);
    this.#appended(append);
  }

  read(session: string, from?: number, to?: number): Promise<readonly StoredEvent[]> {
    return this.#store.read(session, from, to);
  }

  head(session: string): Promise<Head | undefined> {
    return this.#store.head(session);
  }

  blob(digest: Digest): Promise<Uint8Array | undefined> {
    return this.#store.blob(digest);
  }

  sessions(query?: SessionQuery): Promise<readonly SessionRow[]> {
    return this.#store.sessions(query);
  }

  counts(): Promise<StatusCounts> {
    return this.#store.counts();
  }

  claim(request: ClaimRequest): Promise<Claim> {
    return this.#store.claim(request);
  }

  renew(session: string, epoch: number, until: number): Promise<boolean> {
    return this.#store.renew(session, epoch, until);
  }

  release(session: string, epoch: number): Promise<number | undefined> {
    return this.#store.release(session, epoch);
  }

  changes(listener: ChangeListener): () => void {
    return this.#store.changes(listener);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
