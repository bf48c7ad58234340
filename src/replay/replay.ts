/**
 * THE PROOF: the recorded facts through today's decider. No network, no tool, no clock: facts are taken as they
 * stand, and every decision must come out byte for byte as it was recorded.
 */
import { isSame } from '../event/canonical.ts';
import { isDecision, type LogEvent, type NewDecision, type NewEvent } from '../event/events.ts';
import type { Json } from '../event/json.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { Encoder } from '../context/encoding.ts';
import { RequestBuilder } from '../context/request-builder.ts';
import { conclude } from '../session/conclude.ts';
import { evolve, initial } from '../session/evolve.ts';
import { next } from '../session/next.ts';
import type { SessionState } from '../session/state.ts';
import { causeOf, type CauseArea } from './cause.ts';
import { firstDifference, type Difference } from './difference.ts';

export type ReplayDifference = {
  readonly seq: number;
  readonly type: string;
  /** JSON Pointer into the event's data; empty where the whole decision differs. */
  readonly path: string;
  readonly recorded: Json | undefined;
  readonly now: Json | undefined;
  /** What of the agent or the program it most likely comes from, and that in words. */
  readonly area: CauseArea;
  readonly cause: string;
};

export type Replayed = {
  readonly session: string;
  readonly events: number;
  readonly decisions: number;
  /** Requests made again byte for byte, and those whose adapter this build does not have. */
  readonly requests: number;
  readonly requestsUnknown: number;
  readonly difference: ReplayDifference | undefined;
  /** The state at the end, or where it stopped. */
  readonly state: SessionState;
};

export type ReplayOptions = {
  readonly session: string;
  readonly events: Iterable<LogEvent>;
  /** How a recorded agent's model wants its requests; undefined where this build does not know it. */
  readonly encoderOf: (agent: AgentDefinition) => Encoder | undefined;
  /** Stops after this event. */
  readonly until?: number;
  /** Says what this build is called, for the likely cause. */
  readonly program: string;
};

/** Replays events that are at hand. Long logs go page by page through a Replay. */
export const replay = (options: ReplayOptions): Replayed => {
  const run = new Replay(options);
  for (const event of options.events) if (!run.push(event)) break;
  return run.end();
};

export class Replay {
  readonly #options: Omit<ReplayOptions, 'events'>;
  readonly #builder: RequestBuilder;
  #state: SessionState;
  #recordedBy = '';
  #events = 0;
  #decisions = 0;
  #requests = 0;
  #requestsUnknown = 0;
  #difference: ReplayDifference | undefined;
  /** It was told to stop before the end of the log. */
  #cut = false;

  constructor(options: Omit<ReplayOptions, 'events'>) {
    this.#options = options;
    this.#builder = new RequestBuilder(options.encoderOf);
    this.#state = initial(options.session);
  }

  /** Takes the next event. False where nothing more is wanted: it differs, or it stands behind `until`. */
  push(event: LogEvent): boolean {
    if (event.seq > (this.#options.until ?? Infinity)) this.#cut = true;
    else this.#difference ??= this.#compare(event);
    if (this.#cut || this.#difference) return false;
    this.#apply(event);
    return true;
  }

  /** What has come of it; the log ends here, unless `until` ended it. */
  end(): Replayed {
    const reached = this.#cut || this.#state.seq >= (this.#options.until ?? Infinity);
    const missing = reached || this.#difference ? undefined : conclude(this.#state);
    return this.#result(missing ? this.#differ(this.#state.seq + 1, undefined, missing) : this.#difference);
  }

  #compare(event: LogEvent): ReplayDifference | undefined {
    const expected = conclude(this.#state);
    if (expected) return this.#same(event, expected) ? undefined : this.#differ(event.seq, event, expected);
    if (!isDecision(event)) return undefined;
    const intended = this.#intended(event);
    if (intended === 'unknown') return undefined;
    if (!intended) return this.#differ(event.seq, event, undefined);
    return this.#same(event, intended) ? undefined : this.#differ(event.seq, event, intended);
  }

  /** The intent that the decider would record here, where it is the kind that stands in the log. */
  #intended(event: LogEvent): NewDecision | 'unknown' | undefined {
    const work = next(this.#state);
    switch (event.type) {
      case 'request.built': {
        const build = work.find((one) => one.kind === 'build');
        if (!build) return undefined;
        if (!this.#options.encoderOf(this.#state.agent)) {
          this.#requestsUnknown++;
          return 'unknown';
        }
        this.#requests++;
        const { data } = this.#builder.build(this.#state, build.turn, build.step);
        return { type: 'request.built', data };
      }
      case 'request.sent': {
        const resend = work.find((one) => one.kind === 'resend');
        if (!resend) return undefined;
        const { turn, step, attempt } = resend;
        return { type: 'request.sent', data: { turn, step, attempt } };
      }
      case 'call.started': {
        const start = work.find((one) => one.kind === 'start' && one.call.id === event.data.call);
        if (start?.kind !== 'start') return undefined;
        return { type: 'call.started', data: { call: start.call.id, attempt: start.attempt } };
      }
      default:
        return undefined;
    }
  }

  #same(event: LogEvent, decision: NewDecision): boolean {
    return event.type === decision.type && isSame(event.data, decision.data);
  }

  #apply(event: LogEvent): void {
    const before = this.#state;
    this.#state = evolve(before, event);
    this.#builder.push(event, before, this.#state);
    this.#events++;
    if (isDecision(event)) this.#decisions++;
    if (event.type === 'session.created' || event.type === 'agent.updated')
      this.#recordedBy = event.data.program;
  }

  #differ(seq: number, event: LogEvent | undefined, decision: NewDecision | undefined): ReplayDifference {
    const programs = { recordedBy: this.#recordedBy, program: this.#options.program };
    const same = event !== undefined && event.type === decision?.type;
    const found: Difference = same
      ? firstDifference(event.data, decision.data)
      : { path: '', recorded: whole(event), now: whole(decision) };
    const { area, text } = causeOf({ recorded: event, now: decision, path: found.path }, programs);
    return { seq, type: event?.type ?? 'end of the log', ...found, area, cause: text };
  }

  #result(difference: ReplayDifference | undefined): Replayed {
    return {
      session: this.#options.session,
      events: this.#events,
      decisions: this.#decisions,
      requests: this.#requests,
      requestsUnknown: this.#requestsUnknown,
      difference,
      state: this.#state,
    };
  }
}

const whole = (event: NewEvent | undefined): Json | undefined =>
  event && { type: event.type, data: event.data as Json };
