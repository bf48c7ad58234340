/**
 * Links that sign a browser in, once. A ticket stands for a token without being it: it is good for one use and a short
 * time, so it may stand in a terminal and in an address, where a token never does. Kept by this process alone.
 */
import type { Clock, Random } from '../clock.ts';
import { sha256, type Digest } from '../event/canonical.ts';

export const TICKET_MS: number = 60 * 60 * 1000;
const TICKET_BYTES = 32;
/** The oldest is the first to go. */
const TICKETS_MAX = 100;

type Ticket = { readonly token: string; readonly until: number };

export class Tickets {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #tickets = new Map<Digest, Ticket>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** A new ticket for a token. What is returned is kept nowhere. */
  issue(token: string): string {
    const ticket = Buffer.from(this.#random.bytes(TICKET_BYTES)).toString('base64url');
    this.#tickets.set(sha256(ticket), { token, until: this.#clock.monotonic() + TICKET_MS });
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size > TICKETS_MAX && oldest !== undefined) this.#tickets.delete(oldest);
    return ticket;
  }

  /** The token it stands for; the ticket is used up. Undefined where it was used, has run out or never was. */
  take(ticket: string): string | undefined {
    const digest = sha256(ticket);
    const found = this.#tickets.get(digest);
    this.#tickets.delete(digest);
    return found && found.until > this.#clock.monotonic() ? found.token : undefined;
  }
}
