/**
 * Drives one session until it rests and prints it as it goes; where another process drives it, watches until
 * it rests there. Ctrl C stops in between: the session is whole and can be resumed.
 */
import { systemClock } from '../clock.ts';
import type { LogEvent } from '../event/events.ts';
import { open } from '../event/envelope.ts';
import { pages } from '../log/pages.ts';
import type { LogStore } from '../log/store.ts';
import { next } from '../session/next.ts';
import { Reading } from '../view/reading.ts';
import { LEASE_MS } from '../worker/claims.ts';
import type { Runtime } from '../worker/runtime.ts';
import type { Cli } from './cli.ts';
import { LiveOutput } from './live-output.ts';
import { line } from './terminal/shown.ts';

/** The session so far, for output that goes on from here. Throws `session-not-found`. */
export const readSession = async (store: LogStore, session: string, to?: number): Promise<Reading> => {
  const reading = new Reading(session);
  for await (const page of pages(store, session, { to }))
    for (const stored of page) reading.push(open(stored));
  return reading;
};

const FOREVER_MS: number = 2 ** 31 - 1;

export type Driven = {
  readonly reading: Reading;
  readonly interrupted: boolean;
};

/** `reading` holds what is not printed any more; afterwards it holds everything. */
export const driveSession = async (cli: Cli, reading: Reading): Promise<Driven> => {
  const runtime = await cli.runtime();
  const { session } = reading.state;
  const output = new LiveOutput(cli.screen, reading, cli.actor.name);
  const printer = new Printer(runtime, session, output);
  const unwatch = runtime.watch(session, (delta) => output.delta(delta));
  // Where another process drives, this one only follows the log, and the timers of that keep no process alive.
  const alive = systemClock.after(FOREVER_MS, () => undefined);
  try {
    const seq = await restOrInterrupt(cli, runtime, session);
    if (seq === undefined) return { reading, interrupted: true };
    await printer.reached(seq);
    return { reading, interrupted: false };
  } finally {
    alive.cancel();
    unwatch();
    await printer.stop();
    output.end();
  }
};

/** Follows the log beside the driver. */
class Printer {
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #printed: number;
  #goal = Promise.withResolvers<void>();
  #goalSeq = Infinity;

  constructor(runtime: Runtime, session: string, output: LiveOutput) {
    this.#printed = output.reading.state.seq;
    const events = runtime.follow(session, { from: this.#printed + 1, signal: this.#stop.signal });
    this.#done = this.#print(events, output);
    // Asked for in reached() or stop(); until then a fault waits.
    this.#done.catch(() => undefined);
  }

  async reached(seq: number): Promise<void> {
    this.#goalSeq = seq;
    if (this.#printed < seq) await Promise.race([this.#goal.promise, this.#done]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #print(events: AsyncIterable<LogEvent>, output: LiveOutput): Promise<void> {
    for await (const event of events) {
      output.event(event);
      this.#printed = event.seq;
      if (event.seq >= this.#goalSeq) this.#goal.resolve();
    }
  }
}

/** The seq at which the session rests; undefined after Ctrl C. */
const restOrInterrupt = async (cli: Cli, runtime: Runtime, session: string): Promise<number | undefined> => {
  const { signal } = cli.interrupt;
  const interrupted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  let told = false;
  for (;;) {
    const rest = await Promise.race([runtime.rest(session), interrupted]);
    if (!rest) return undefined;
    const state = await runtime.state(session);
    if (next(state).length === 0) return state.seq;
    // Held by the gate of the store: no driver begins, and none is to be waited for.
    if ((await runtime.gate()).mode === 'frozen') return state.seq;
    if (!told) cli.screen.note(line`Another process drives ${session}. This one watches.`);
    told = true;
    await Promise.race([change(runtime.store), interrupted]);
    if (signal.aborted) return undefined;
  }
};

/** Something was committed somewhere, or a lease may have run out. */
const change = (store: LogStore): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      unsubscribe();
      resolve();
    };
    const timer = systemClock.after(LEASE_MS, done);
    const unsubscribe = store.changes(done);
  });
