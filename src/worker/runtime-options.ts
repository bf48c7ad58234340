/** What a runtime is made of. */
import type { Clock, Random } from '../clock.ts';
import type { Prices } from '../cost/prices.ts';
import type { LogStore, Owner } from '../log/store.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Logger } from '../tool/tool.ts';
import type { Agent } from './agent.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Faults } from './fault-point.ts';
import type { Channel } from './notifier.ts';

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
  /** Sessions that are driven here at once, default SESSIONS_AT_ONCE. */
  readonly sessionsMax?: number;
};
