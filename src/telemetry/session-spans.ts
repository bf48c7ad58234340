/**
 * The log of one session, as spans and measures. A projection like any other: `push` is handed the events in order,
 * changes nothing but its own memory, and answers with the spans that end with an event. What a turn, a request or a
 * call is, and when it is over, `evolve` says; here is only remembered when each began.
 *
 * No message, argument, result, name of a person or key of a turn stands in what comes out: the record has them.
 */
import type { LogEvent } from '../event/events.ts';
import { evolve, initial } from '../session/evolve.ts';
import type { SessionState } from '../session/state.ts';
import { callSpans } from './call-spans.ts';
import { OpenSpans } from './open-spans.ts';
import { requestSpans } from './request-spans.ts';
import type { Told } from './span.ts';
import { turnSpans } from './turn-spans.ts';

export class SessionSpans {
  #state: SessionState;
  readonly #open: OpenSpans;

  constructor(session: string) {
    this.#state = initial(session);
    this.#open = new OpenSpans(session);
  }

  /** The last event that was pushed. */
  get seq(): number {
    return this.#state.seq;
  }

  push(event: LogEvent): Told {
    const before = this.#state;
    const after = evolve(before, event);
    this.#state = after;
    const step = { before, event, after, open: this.#open };
    turnSpans.begin(step);
    requestSpans(step);
    callSpans(step);
    turnSpans.end(step);
    return this.#open.take();
  }
}
