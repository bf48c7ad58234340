/** What a room is given, and how a run ends. Both travel as one line of JSON; nothing else crosses the boundary. */
import type { Engine, Usage } from './level.ts';
import type { RoomLimits } from './limits.ts';

/** A call of a tool with what came of it, in the order in which the program made its calls. */
export type ToolAnswer = {
  readonly tool: string;
  /** Canonical JSON text. */
  readonly args: string;
  /** Handed to the program as it is: JSON text, or the words of the error that the call is to throw. */
  readonly result?: string;
  readonly error?: string;
};

export type ToolRequest = { readonly tool: string; /** Canonical JSON text. */ readonly args: string };

export type RoomJob = {
  /** The body of an async function of `input`, `files`, `tools` and `console`. */
  readonly code: string;
  /** JSON text. */
  readonly input: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Milliseconds since 1970 UTC; from the record, never from the machine. */
  readonly clockMs: number;
  /** Any text; the same one gives the same Math.random(). */
  readonly seed: string;
  /** Names of the tools that the program may call. */
  readonly tools: readonly string[];
  readonly answers: readonly ToolAnswer[];
  readonly engine: Engine;
  readonly limits: RoomLimits;
};

/** Why a run has no result. */
export const WHY = [
  /** The program threw. */
  'threw',
  'syntax',
  'ticks',
  'wall-time',
  'memory',
  /** The result is larger than `resultBytes`, or more came out than all limits together allow. */
  'output',
  /** Too many calls of tools, or arguments that are too large. */
  'calls',
  /** It waits for something that never comes. */
  'deadlock',
  /** A call is another one than the recorded one at its place. */
  'diverged',
  /** What came out is no answer. */
  'protocol',
  /** The process ended without an answer. */
  'died',
  /** The caller wanted it no longer. */
  'stopped',
] as const;
export type Why = (typeof WHY)[number];

export type Console = {
  readonly text: string;
  /** Lines that were over the limit, dropped whole. */
  readonly droppedLines: number;
  readonly droppedBytes: number;
};

type Ended = { readonly console: Console; readonly usage: Usage };

export type RoomEnd =
  | (Ended & {
      readonly kind: 'done';
      /** JSON text; absent where the program returned nothing. */
      readonly value?: string;
      readonly files: ReadonlyMap<string, Uint8Array>;
    })
  /** The program goes on once these calls have answers: run again with them. */
  | (Ended & { readonly kind: 'suspended'; readonly calls: readonly ToolRequest[] })
  | (Ended & {
      readonly kind: 'failed';
      readonly why: Why;
      readonly message: string;
      /** Line of the program, from 1. */
      readonly line?: number;
    });

/** Names of files, both ways: no separator, no leading dot, nothing that a terminal or a shell reads. */
export const FILE_NAME: RegExp = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;

export const jobFrame = (job: RoomJob): string =>
  `${JSON.stringify({
    ...job,
    files: Object.fromEntries(
      [...job.files].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
    ),
  })}\n`;
