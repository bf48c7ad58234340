/** What every route is handed. */
import type { Clock } from '../clock.ts';
import type { LogStore } from '../log/store.ts';
import type { Logger } from '../tool/tool.ts';
import type { PriceSource } from '../worker/priced.ts';
import type { Runtime } from '../worker/runtime.ts';
import type { Books } from './books.ts';
import type { DoorLimits, Meter } from './limits.ts';
import type { SuiteReports } from './suite-reports.ts';
import type { Metrics } from './metrics.ts';
import type { Tickets } from './tickets.ts';
import type { Caller, Tokens } from './tokens.ts';

export type Door = {
  readonly runtime: Runtime;
  readonly store: LogStore;
  readonly tokens: Tokens;
  readonly tickets: Tickets;
  readonly books: Books;
  /** Reports of suites that the window shows. */
  readonly reports: SuiteReports;
  readonly limits: DoorLimits;
  readonly meter: Meter;
  readonly metrics: Metrics;
  /** Whether anybody may read the metrics. */
  readonly openMetrics: boolean;
  readonly prices: PriceSource;
  readonly clock: Clock;
  readonly log: Logger;
  /** Names and ports that this server is called by, and origins whose pages may use it; lower case. */
  readonly hosts: () => ReadonlySet<string>;
  readonly origins: () => ReadonlySet<string>;
  /** Those of them whose pages come from elsewhere. */
  readonly otherOrigins: ReadonlySet<string>;
  /** Aborted when the server stops: streams end then. */
  readonly closing: AbortSignal;
};

export type DoorEnv = {
  /** The address that the connection comes from; absent where there is none. */
  readonly Bindings: { readonly address?: string };
  readonly Variables: { caller: Caller; key?: string };
};
