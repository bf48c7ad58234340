/**
 * What bounds a program. A level is named after its mechanism; nothing here says "secure". The sentences are what
 * an approver reads and what the record keeps, so that a change of words is a change of the tool's definition.
 */
import type { Digest } from '../event/canonical.ts';
import type { RoomLimits } from './limits.ts';

export const LEVELS = ['gvisor', 'wasm'] as const;
export type Level = (typeof LEVELS)[number];

/** What runs the program. `node` is given only inside gVisor, and only where it was asked for. */
export type Engine = 'quickjs' | 'node';

export const BOUNDARY: Readonly<Record<Level, string>> = {
  gvisor:
    'A process of its own behind gVisor: a user-space kernel answers its system calls. ' +
    'It has no network, no files of the host and no environment.',
  wasm:
    'A JavaScript interpreter compiled to WebAssembly, in a process of its own that is given no files, network or ' +
    'environment. It shares the kernel of the host; a fault in V8 would be a way out.',
};

/** What a level is made of on this machine. */
export type RoomFacts = {
  readonly level: Level;
  readonly engine: Engine;
  /** Version of what runs the program: of quickjs-wasi with its engine, or of Node. */
  readonly engineVersion: string;
  /** Digest over everything that runs inside beside Node itself: the runner and the WebAssembly module. */
  readonly guestDigest: Digest;
  /** The first line of `runsc --version`; only at level gvisor. */
  readonly runsc?: string;
  /** gVisor without root: the guest's user 0 is the caller's own, without capabilities. */
  readonly rootless?: boolean;
  /** What stops the process as a whole, beside the engine's own limit. */
  readonly memoryLimitBy: 'engine' | 'engine and address space' | 'address space';
};

/** What bounded one run. It stands in the result, whatever the result is. */
export type RoomRecord = RoomFacts & {
  readonly programDigest: Digest;
  readonly inputDigest: Digest;
  /** Milliseconds since 1970 UTC; stands still while the program runs. */
  readonly clockMs: number;
  readonly seed: string;
  readonly limits: RoomLimits;
  readonly usage: Usage;
};

export type Usage = {
  /** Ticks of the engine; the same for the same program, input, clock, seed and answers. */
  readonly ticks: number;
  /** Bytes that the engine held at the end. */
  readonly memoryBytes: number;
  /** Wall time from the job's handing over to its answer, in milliseconds. */
  readonly ms: number;
};
