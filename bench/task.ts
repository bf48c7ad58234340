/** What a measuring process is asked to do, and what it answers. */
import type { StepsTold } from './probe.ts';

/** Steps that run before anything is measured, in a session of their own: files exist by then. */
export const WARM_STEPS = 30;
/** After so many the engine has compiled most of it, and the files have their length. */
export const SETTLED_STEPS = 2000;

/** `folder` is fresh and empty for whoever writes; `store` is a store that a `fill` has left. */
export type Task =
  /** Sessions of so many steps, one after the other: short ones are repeated until there is something to measure. */
  | {
      readonly kind: 'steps';
      readonly folder: string;
      readonly steps: number;
      readonly sessions: number;
      /** Steps of a session before those that are measured. */
      readonly warm: number;
    }
  /** Many sessions at once in one process. */
  | { readonly kind: 'many'; readonly folder: string; readonly sessions: number; readonly steps: number }
  /** Leaves a store with one session of so many steps; `killed`: the process dies at the model call after them. */
  | { readonly kind: 'fill'; readonly folder: string; readonly steps: number; readonly killed: boolean }
  /** Reads every row of a session and parses it: what any program has to do that wants to know all of it. */
  | { readonly kind: 'rows'; readonly store: string; readonly session: string }
  /** The state of a session. */
  | { readonly kind: 'state'; readonly store: string; readonly session: string }
  /** Drives a session on up to its next model call, the one after `steps`. */
  | { readonly kind: 'resume'; readonly store: string; readonly session: string; readonly steps: number }
  | { readonly kind: 'replay'; readonly store: string; readonly session: string }
  | { readonly kind: 'verify'; readonly store: string; readonly session: string };

/** Times in milliseconds. Sums over all measured sessions, from their message to their rest. */
export type StepsAnswer = StepsTold & { readonly ms: number; readonly cpuMs: number; readonly bytes: number };

export type ManyAnswer = { readonly ms: number; readonly cpuMs: number; readonly commits: number };

export type FillAnswer = { readonly store: string; readonly session: string };

/** `ms` is the work alone, without the start of the process. */
export type ReadAnswer = { readonly ms: number; readonly cpuMs: number; readonly events: number };

/** What each kind of task is answered with. */
export type Answers = {
  readonly steps: StepsAnswer;
  readonly many: ManyAnswer;
  readonly fill: FillAnswer;
  readonly rows: ReadAnswer;
  readonly state: ReadAnswer;
  readonly resume: ReadAnswer;
  readonly replay: ReadAnswer;
  readonly verify: ReadAnswer;
};
