/** A place where somebody is kept until the experiment lets them on, and where it sees that they have come. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

const WAIT_MS_MAX = 120_000;

export class Gate {
  #arrived = 0;
  #open = false;
  #waiting: (() => void)[] = [];
  #watching: { readonly count: number; readonly tell: () => void }[] = [];

  /** Keeps a request until the gate is open, or until nobody waits for its answer any more. */
  async keep(response: ServerResponse): Promise<'go on' | 'gone'> {
    const gone = once(response, 'close').then(() => 'gone' as const);
    return Promise.race([this.#pass().then(() => 'go on' as const), gone]);
  }

  /** Comes back when the gate is open. */
  async #pass(): Promise<void> {
    this.#arrived += 1;
    for (const { count, tell } of this.#watching) if (this.#arrived >= count) tell();
    if (this.#open) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }

  /** Resolves when so many have come in all. */
  async arrived(count = 1): Promise<void> {
    if (this.#arrived >= count) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#watching.push({ count, tell: resolve });
    const timer = setTimeout(
      () => reject(new Error(`${this.#arrived} of ${count} came to the gate in ${WAIT_MS_MAX} ms.`)),
      WAIT_MS_MAX,
    );
    await promise.finally(() => clearTimeout(timer));
  }

  /** Lets those who wait on, and whoever comes later. */
  open(): void {
    this.#open = true;
    for (const go of this.#waiting.splice(0)) go();
  }
}
