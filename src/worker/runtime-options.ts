/** What a runtime is made of, and how calls are named to it. */
import type { Clock, Random } from '../clock.ts';
import type { CallId } from '../event/call-id.ts';
import type { Actor } from '../event/content.ts';
import type { Mode, SeenLabel } from '../event/definition.ts';
import type { EventData } from '../event/events.ts';
import type { Prices } from '../cost/prices.ts';
import type { LogStore, Owner } from '../log/store.ts';
import type { WhenRunning } from '../session/decide.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Logger } from '../tool/tool.ts';
import type { Agent } from './agent.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Faults } from './fault-point.ts';
import type { Channel } from './notifier.ts';
import type { WorkLimits } from './work-limits.ts';

export type RuntimeOptions = {
  readonly store: LogStore;
  readonly agents: readonly Agent[];
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Logger;
  /** Whether another owner's lease may be taken before it has run out; a seam for simulations. */
  readonly isGone?: (owner: Owner) => boolean;
  /** Prices that go before those of the catalogue. */
  readonly prices?: Prices;
  /** Makes things fail at named places; for tests, the crash matrix and the simulator. */
  readonly faults?: Faults;
  /** Traces and metrics of what is appended here; closed with the runtime. */
  readonly telemetry?: Telemetry;
  /** How people are told that something waits for them. */
  readonly notify?: readonly Channel[];
  /** Drives rehearsals and nothing else is asked of it; any other runtime leaves them alone. Default false. */
  readonly rehearsal?: boolean;
  /** Drives whatever can go on, also what other processes left or changed. Default true. */
  readonly drive?: boolean;
  /** Who says which session is to be looked at next. Default: a queue in this process. Stopped with the runtime. */
  readonly dispatcher?: Dispatcher;
  /** How much is worked on at once. Throws `work-limits-invalid` where they are no limits. */
  readonly limits?: WorkLimits;
};

export type CallRef = {
  readonly session: string;
  readonly call: CallId;
  readonly by?: Actor;
  /** The sender's name for this answer: sent again with the same content, it is the same answer. */
  readonly key?: string;
};

export type SendOptions = {
  /** The agent of a new session. */
  readonly agent?: string;
  /** An existing session instead; with `agent` one that is begun under this id where it does not exist. */
  readonly session?: string;
  readonly message: string;
  /** Names the turn: sending the same key again is the same turn. 1 to 255 visible ASCII characters. */
  readonly key?: string;
  readonly by?: Actor;
  /** What the message is, where it is not the sender's own word: `untrusted` for a mail that came in. */
  readonly labels?: readonly SeenLabel[];
  /** Whose new session it is, where several parties share a store. 1 to 64 of a-z, A-Z, 0-9, "_", "-" and ".". */
  readonly tenant?: string;
  /** What a new session may start; default `normal`. */
  readonly mode?: Mode;
  /** What to do where a turn runs already; default `queue`. */
  readonly when?: WhenRunning;
  /** Of a new session: that it is a rehearsal, and of what. */
  readonly rehearsal?: RehearsalOf;
};

export type RehearsalOf = NonNullable<EventData['session.created']['rehearsal']>;
