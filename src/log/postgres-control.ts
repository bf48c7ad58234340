/**
 * The connection by which the processes on one database know of each other. It tells and hears what was committed, and
 * it holds a lock for each owner of this process: where nobody holds an owner's lock any more, that owner is gone,
 * whatever machine it was on, and its leases are free.
 *
 * All of it is a hint. A notification may be lost, and is made up for by a look; a lock may be lost while its owner
 * lives, and then that owner's next append is fenced.
 */
import type { Clock, Timer } from '../clock.ts';
import { Connection } from './postgres-connection.ts';
import type { PostgresPlace } from './postgres-place.ts';
import type { PostgresPrimary } from './postgres-primary.ts';
import type { Statements } from './postgres-sql.ts';
import type { ChangeListener } from './store.ts';

/** How often owners are looked at, and a lost connection is made again. */
export const LOOK_MS = 250;
/** How long an owner's lock has to be free before it counts as gone: time enough to come back after a cut. */
export const GONE_AFTER_MS = 500;
/** How often lost notifications are made up for, where anything was committed at all. */
export const REPAIR_MS = 5000;
/** A notification takes less than 8000 bytes (postgresql.org/docs/current/sql-notify.html). */
const PAYLOAD_BYTES_MAX = 7900;
/** The looks of this connection are small: no answer for so long means that there is no connection. */
const CONTROL_ANSWER_MS = 5000;

export type ControlOptions = {
  readonly place: PostgresPlace;
  readonly statements: Statements;
  readonly clock: Clock;
  readonly primary: PostgresPrimary;
  /** Tells our own notifications from those of others. */
  readonly self: string;
  readonly tell: ChangeListener;
  /** Called when the locks of this process's owners are lost. */
  readonly onLost: () => void;
};

type Note = readonly [session: string, head: number, agent?: string];

export class PostgresControl {
  readonly #options: ControlOptions;
  readonly #connection: Connection;
  readonly #owners = new Set<string>();
  /** Owners whose lock was free when it was looked at, and since when that is known. */
  readonly #absent = new Map<string, number>();
  #held = new Set<string>();
  #notes: Note[] = [];
  #sending = false;
  #listening = false;
  #timer: Timer | undefined;
  /** How far the server had come at the last repair. */
  #moment: string | undefined;
  #repairedAt = 0;
  /** The connection was away, and nothing was heard meanwhile. */
  #deaf = false;
  #closed = false;

  constructor(options: ControlOptions) {
    this.#options = options;
    const { place, clock, primary, statements } = options;
    this.#connection = new Connection({
      place,
      clock,
      primary,
      purpose: 'control',
      durable: false,
      answerMs: CONTROL_ANSWER_MS,
      prepare: async (ask) => {
        await ask(`LISTEN ${place.schema}_changes`);
        this.#held = new Set();
        // After a cut everybody's locks may be free: nobody is gone for what was seen before.
        this.#absent.clear();
        for (const owner of this.#owners) {
          await ask(statements.holdOwner, [owner]);
          this.#held.add(owner);
        }
      },
      onNotice: (payload) => this.#hear(payload),
      onLost: () => this.#lost(),
    });
  }

  /** From now on notifications are heard. */
  async start(): Promise<void> {
    await this.#connection.connect();
    await this.#noteMoment();
  }

  /** Begins to look: somebody here wants to know. */
  listen(): void {
    if (this.#listening || this.#closed) return;
    this.#listening = true;
    this.#plan(LOOK_MS);
  }

  /** Says that this owner is here, for as long as this process is. */
  async hold(owner: string): Promise<void> {
    this.#owners.add(owner);
    await this.#connection.connect();
    if (this.#held.has(owner)) return;
    await this.#connection.ask(this.#options.statements.holdOwner, [owner]);
    this.#held.add(owner);
  }

  /** Tells other processes, some time soon. */
  note(note: Note): void {
    this.#notes.push(note);
    if (!this.#sending) void this.#send();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#connection.close();
  }

  async #send(): Promise<void> {
    this.#sending = true;
    const { statements, self } = this.#options;
    try {
      while (this.#notes.length > 0) {
        const notes = this.#notes.splice(0);
        for (const payload of payloads(self, notes)) await this.#connection.ask(statements.notify, [payload]);
      }
    } catch {
      // What nobody was told of is found by everybody's next look.
      this.#notes = [];
    } finally {
      this.#sending = false;
    }
  }

  #hear(payload: string): void {
    const [from, notes] = JSON.parse(payload) as readonly [string, readonly Note[]];
    if (from === this.#options.self) return;
    for (const [session, head, agent] of notes)
      this.#options.tell({ session, head, ...(agent !== undefined && { agent }) });
  }

  #lost(): void {
    this.#deaf = true;
    this.#options.onLost();
    if (this.#listening) this.#plan(0);
  }

  #plan(ms: number): void {
    this.#timer?.cancel();
    if (!this.#closed) this.#timer = this.#options.clock.after(ms, () => void this.#look(), true);
  }

  async #look(): Promise<void> {
    try {
      if (await this.#freeGone()) this.#options.tell(undefined);
      await this.#repair();
    } catch {
      // Whoever works with the store is told what is wrong; a look that cannot be taken is taken again.
      this.#deaf = true;
    }
    this.#plan(LOOK_MS);
  }

  /** Takes the leases of owners that are gone; true where there were any. */
  async #freeGone(): Promise<boolean> {
    const { statements, clock } = this.#options;
    const { rows } = await this.#connection.ask<{ owner_id: string }>(statements.absent, [[...this.#owners]]);
    const now = clock.monotonic();
    const seen = new Set(rows.map(({ owner_id: owner }) => owner));
    for (const owner of this.#absent.keys()) if (!seen.has(owner)) this.#absent.delete(owner);
    let freed = 0;
    for (const owner of seen) {
      const since = this.#absent.get(owner) ?? now;
      this.#absent.set(owner, since);
      if (now - since < GONE_AFTER_MS) continue;
      freed += (await this.#connection.ask(statements.freeOwner, [owner])).rowCount ?? 0;
      this.#absent.delete(owner);
    }
    return freed > 0;
  }

  /** Where something was committed since the last time, a notification of it may have been lost. */
  async #repair(): Promise<void> {
    const { clock, tell } = this.#options;
    if (!this.#deaf && clock.monotonic() - this.#repairedAt < REPAIR_MS) return;
    const before = this.#moment;
    await this.#noteMoment();
    const missed = this.#deaf || before !== this.#moment;
    this.#deaf = false;
    if (missed) tell(undefined);
  }

  async #noteMoment(): Promise<void> {
    const { statements, clock } = this.#options;
    const { rows } = await this.#connection.ask<{ moment: string }>(statements.moment);
    this.#moment = rows[0]?.moment;
    this.#repairedAt = clock.monotonic();
  }
}

/** As many notes a notification as fit. */
const payloads = (self: string, notes: readonly Note[]): readonly string[] => {
  const texts: string[] = [];
  let part: Note[] = [];
  for (const note of notes) {
    const longer = JSON.stringify([self, [...part, note]]);
    if (Buffer.byteLength(longer) > PAYLOAD_BYTES_MAX && part.length > 0) {
      texts.push(JSON.stringify([self, part]));
      part = [];
    }
    part.push(note);
  }
  // A name that is longer than a notification is found by the next look.
  const last = JSON.stringify([self, part]);
  if (Buffer.byteLength(last) <= PAYLOAD_BYTES_MAX) texts.push(last);
  return texts;
};
