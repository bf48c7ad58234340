/** One waiter, many raisers: raised before the wait it ends the wait at once. */
export class Signal {
  #raised = false;
  #waiter: (() => void) | undefined;

  raise(): void {
    this.#raised = true;
    this.#waiter?.();
  }

  async raised(): Promise<void> {
    if (!this.#raised) await new Promise<void>((resolve) => (this.#waiter = resolve));
    this.#waiter = undefined;
    this.#raised = false;
  }
}
