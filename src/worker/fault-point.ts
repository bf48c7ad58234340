/**
 * Named places in the production code where a fault plan, the crash matrix or the simulator can make something
 * fail. In production nobody listens and reaching one costs a comparison.
 */
import type { CallId } from '../event/call-id.ts';

export const FAULT_POINTS = [
  /** A batch is decided and not yet handed to the store. */
  'append.before',
  /** A batch is durable and nobody has acted on it yet. */
  'append.after',
  /** A request's intent is durable, the provider has not seen it. */
  'request.before',
  /** The provider has answered, nothing of it is recorded. */
  'request.after',
  'prepare.before',
  'prepare.after',
  /** A call's start is durable, its tool has not run. */
  'call.before',
  /** The tool has run, nothing of it is recorded. */
  'call.after',
  'reconcile.before',
  'reconcile.after',
  /** A person's or program's command has arrived and is not recorded. */
  'command.before',
  /** A command is recorded and nobody has acted on it or heard of it. */
  'command.after',
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];

export type FaultPlace = {
  readonly session: string;
  readonly call?: CallId;
  readonly attempt?: number;
  /** The types of a batch's events, the tool's name, the command's kind. */
  readonly what: string;
  /** After so many milliseconds nobody waits any longer for what happens here. */
  readonly timeoutMs?: number;
};

/**
 * Called at every fault point. It may wait, throw (the fault is then what the code at that place makes of an
 * error), end the process, or never return, which is how a simulated process dies. Answered with `again`,
 * what has happened comes a second time: at `command.after` the command, at `request.after` and `call.after`
 * the news. Elsewhere the answer means nothing.
 */
export type Faults = { reach(point: FaultPoint, place: FaultPlace): Promise<FaultAnswer> };

export type FaultAnswer = 'again' | void;

export const reach = (
  faults: Faults | undefined,
  point: FaultPoint,
  place: () => FaultPlace,
): Promise<FaultAnswer> | undefined => faults?.reach(point, place());
