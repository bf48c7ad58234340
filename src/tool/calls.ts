/** Calls that a call makes of other tools: what it asks for, and what came of those that it made before. */
import type { JsonObject } from '../event/json.ts';

/** One call that a tool asks for. */
export type CallRequest = { readonly tool: string; readonly args: JsonObject };

/** A call that this call made in an earlier attempt, with what came of it. */
export type MadeCall = {
  readonly tool: string;
  /** Canonical JSON text, as they were asked for: a person may have changed them since. */
  readonly args: string;
} & (
  | { /** JSON text. */ readonly result: string }
  /** It was not run, or brought no result: in words. */
  | { readonly error: string }
);

/**
 * Returned or thrown by a tool that cannot go on without these calls. The attempt ends with it; once all of them are
 * closed, `execute` is called again, with what came of them in `context.made`.
 */
export class NeededCalls {
  readonly calls: readonly CallRequest[];

  constructor(calls: readonly CallRequest[]) {
    this.calls = calls;
  }
}

/** The calls that a tool needs before it can go on; made side by side, as far as policy and people let them. */
export const needCalls = (...calls: readonly [CallRequest, ...CallRequest[]]): NeededCalls =>
  new NeededCalls(calls);
