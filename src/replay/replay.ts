/**
 * THE PROOF: the recorded facts through today's decider. No network, no tool, no clock: facts are taken as they
 * stand, and every decision must come out byte for byte as it was recorded.
 */
import { canonical } from '../event/canonical.ts';
import { isDecision, type LogEvent, type NewDecision } from '../event/events.ts';
import type { Json } from '../event/json.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { Encoder } from '../context/encoding.ts';
import { nextRequest } from '../context/next-request.ts';
import { RequestBuilder } from '../context/request-builder.ts';
import { conclude } from '../session/conclude.ts';
import { evolve, initial } from '../session/evolve.ts';
import { next } from '../session/next.ts';
import type { SessionState } from '../session/state.ts';
import { firstDifference } from './difference.ts';

export type ReplayDifference = {
  readonly seq: number;
  readonly type: string;
  /** JSON Pointer into the event's data; empty where the whole decision differs. */
  readonly path: string;
  readonly recorded: Json | undefined;
  readonly now: Json | undefined;
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

export const replay = (options: ReplayOptions): Replayed => new Replay(options).run();

class Replay {
  readonly #options: ReplayOptions;
  readonly #builder: RequestBuilder;
  #state: SessionState;
  #recordedBy = '';
  #events = 0;
  #decisions = 0;
  #requests = 0;
  #requestsUnknown = 0;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#builder = new RequestBuilder(options.encoderOf);
    this.#state = initial(options.session);
  }

  run(): Replayed {
    const { until = Infinity } = this.#options;
    let cut = false;
    for (const event of this.#options.events) {
      if (event.seq > until) {
        cut = true;
        break;
      }
      const difference = this.#compare(event);
      if (difference) return this.#result(difference);
      this.#apply(event);
    }
    const missing = cut ? undefined : conclude(this.#state);
    return this.#result(missing && this.#differ(this.#state.seq + 1, undefined, missing));
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
      case 'request.built':
      case 'request.refused': {
        const build = work.find((one) => one.kind === 'build');
        if (!build) return undefined;
        if (!this.#options.encoderOf(this.#state.agent)) {
          this.#requestsUnknown++;
          return 'unknown';
        }
        this.#requests++;
        const { type, data } = nextRequest(this.#builder, this.#state, build);
        return { type, data } as NewDecision;
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
    return event.type === decision.type && canonical(event.data) === canonical(decision.data);
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
    if (event && event.type === decision?.type) {
      const found = firstDifference(event.data, decision.data);
      return { seq, type: event.type, ...found, cause: this.#cause(event.type, found.path) };
    }
    return {
      seq,
      type: event?.type ?? 'end of the log',
      path: '',
      recorded: event ? { type: event.type, data: event.data as Json } : undefined,
      now: decision && { type: decision.type, data: decision.data as Json },
      cause: this.#cause(event?.type ?? '', ''),
    };
  }

  #cause(type: string, path: string): string {
    const { program } = this.#options;
    if (this.#recordedBy !== '' && this.#recordedBy !== program)
      return `another program version: recorded by ${this.#recordedBy}, this is ${program}`;
    if (path.startsWith('/frame'))
      return 'the prompt: instructions or tool definitions are rendered otherwise';
    if (type === 'request.built') return 'the prompt: the conversation is rendered otherwise';
    if (path === '/rule' || path === '/do') return 'the policy is judged otherwise';
    if (type === '') return 'the log ends before the decision that follows';
    return 'the decider, or an event that was changed after it was written (run onrecord verify)';
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
