/**
 * A store as one process sees it, that can be cut off: from then on nothing this process asks is ever answered,
 * and nothing it says arrives. What a SIGKILL does to a runtime, without ending the test with it.
 */
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
} from '../../src/log/store.ts';
import type { Digest } from '../../src/event/canonical.ts';
import type { StoredEvent } from '../../src/event/envelope.ts';

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

export class CutStore implements LogStore {
  readonly name = 'cut';
  readonly #store: LogStore;
  #cut = false;
  #unsubscribe: (() => void)[] = [];
  /** Appends until the cut; -1 for no cut. The last one is written and never acknowledged. */
  #left = -1;

  constructor(store: LogStore) {
    this.#store = store;
  }

  get isCut(): boolean {
    return this.#cut;
  }

  cut(): void {
    this.#cut = true;
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
  }

  /** Cuts within the `count`-th append from now: it is durable, and the process does not get to know it. */
  cutAfter(count: number): void {
    this.#left = count;
  }

  async append(append: Append): Promise<void> {
    if (this.#cut) return never();
    if (this.#left < 0) return this.#store.append(append);
    this.#left--;
    if (this.#left > 0) return this.#store.append(append);
    this.cut();
    // A refused append was not written either way.
    await this.#store.append(append).catch(() => undefined);
    return never();
  }

  read(session: string, from?: number, to?: number): Promise<readonly StoredEvent[]> {
    return this.#cut ? never() : this.#store.read(session, from, to);
  }

  head(session: string): Promise<Head | undefined> {
    return this.#cut ? never() : this.#store.head(session);
  }

  blob(digest: Digest): Promise<Uint8Array | undefined> {
    return this.#cut ? never() : this.#store.blob(digest);
  }

  sessions(query?: SessionQuery): Promise<readonly SessionRow[]> {
    return this.#cut ? never() : this.#store.sessions(query);
  }

  counts(): Promise<StatusCounts> {
    return this.#cut ? never() : this.#store.counts();
  }

  claim(request: ClaimRequest): Promise<Claim> {
    return this.#cut ? never() : this.#store.claim(request);
  }

  renew(session: string, epoch: number, until: number): Promise<boolean> {
    return this.#cut ? never() : this.#store.renew(session, epoch, until);
  }

  release(session: string, epoch: number): Promise<number | undefined> {
    return this.#cut ? never() : this.#store.release(session, epoch);
  }

  changes(listener: ChangeListener): () => void {
    const unsubscribe = this.#store.changes(listener);
    this.#unsubscribe.push(unsubscribe);
    return unsubscribe;
  }

  /** The store outlives its processes. */
  async close(): Promise<void> {
    this.cut();
  }
}
