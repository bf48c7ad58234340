/**
 * Gives a run the same boundaries in the same order each time, whatever the disk and the network are like: what
 * runs at the same time takes its turns. Nothing is left out by that. All calls of a step are begun before the
 * first result is recorded, so a kill still meets some that have run, some that have not, and some on record.
 *
 * 1. One preview, attempt or reconciliation is under way at a time, in the order in which they were begun.
 * 2. What has ended waits until nothing is under way, and until the news before it is in the log.
 */
export class Turnstile {
  readonly #waiting: { readonly name: string; readonly go: () => void }[] = [];
  readonly #ended: (() => void)[] = [];
  #inside: string | undefined;
  /** News was let go and is not in the log yet. */
  #out = false;
  #appending = false;
  #planned = false;

  /** Waits until the work of this name may go on. */
  enter(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ name, go: resolve });
    this.#plan();
    return promise;
  }

  /** The work of this name is not under way any more, and waits for nothing. */
  leave(name: string): void {
    if (this.#inside !== name) return;
    this.#inside = undefined;
    this.#plan();
  }

  /** The work of this name has ended; waits until its news may be delivered. */
  end(name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended.push(resolve);
    this.leave(name);
    this.#plan();
    return promise;
  }

  append(moment: 'before' | 'after'): void {
    this.#appending = moment === 'before';
    if (this.#appending) return;
    this.#out = false;
    this.#plan();
  }

  /** After a turn of the event loop, so that all that begins together stands in line. */
  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#step();
    });
  }

  #step(): void {
    if (this.#inside !== undefined) return;
    const first = this.#waiting.shift();
    if (first) {
      this.#inside = first.name;
      return first.go();
    }
    if (this.#out) return;
    const deliver = this.#ended.shift();
    if (!deliver) return;
    this.#out = true;
    deliver();
    // Old news is not appended: then nobody waits for it.
    setImmediate(() => {
      if (this.#appending) return;
      this.#out = false;
      this.#plan();
    });
  }
}
