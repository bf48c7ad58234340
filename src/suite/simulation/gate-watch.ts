/**
 * What the store said at the very moment of each append, in the one order in which everything was written: the mode
 * of its gate, and how many questions the list of sessions showed.
 */
import type { Mode } from '../../event/definition.ts';
import { open } from '../../event/envelope.ts';
import type { MemoryLog } from '../../log/memory.ts';
import { CONTROL_LOG } from '../../worker/gate.ts';

export class GateWatch {
  /** The gate as each event of the session was written, by seq. */
  readonly at: Map<number, Mode> = new Map();
  /** Questions that the list showed once the event with this seq was the last one. */
  readonly shown: Map<number, number> = new Map();
  readonly history: Mode[] = ['normal'];
  #seen = 0;
  #gateSeen = 0;

  constructor(log: MemoryLog, session: () => string) {
    log.changes((change) => {
      if (change?.session === CONTROL_LOG) this.#gate(log);
      else if (change?.session === session()) this.#session(log, change);
    });
  }

  get mode(): Mode {
    return this.history.at(-1) ?? 'normal';
  }

  #gate(log: MemoryLog): void {
    const stored = log.peek(CONTROL_LOG);
    for (const event of stored.slice(this.#gateSeen).map(open))
      if (event.type === 'mode.changed') this.history.push(event.data.mode);
    this.#gateSeen = stored.length;
  }

  #session(log: MemoryLog, { session, head }: { readonly session: string; readonly head: number }): void {
    for (let seq = this.#seen + 1; seq <= head; seq++) this.at.set(seq, this.mode);
    this.#seen = head;
    const waiting = log.summary(session)?.waiting;
    if (waiting !== undefined) this.shown.set(head, waiting);
  }
}
