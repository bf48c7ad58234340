/** What every route is handed. */
import type { Clock } from '../clock.ts';
import type { LogStore } from '../log/store.ts';
import type { Logger } from '../tool/tool.ts';
import type { Runtime } from '../worker/runtime.ts';
import type { DoorLimits, Meter } from './limits.ts';
import type { Caller, Tokens } from './tokens.ts';

export type Door = {
  readonly runtime: Runtime;
  readonly store: LogStore;
  readonly tokens: Tokens;
  readonly limits: DoorLimits;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly log: Logger;
  /** Names and ports that this server is called by, and origins whose pages may use it; lower case. */
  readonly hosts: () => ReadonlySet<string>;
  readonly origins: () => ReadonlySet<string>;
  /** Aborted when the server stops: streams end then. */
  readonly closing: AbortSignal;
};

export type DoorEnv = {
  readonly Variables: { caller: Caller; key?: string };
};
