/** A script: what a scripted model answers, one item per model call of a session, in order. */
import type { JsonObject } from '../event/json.ts';
import type { RequestProblemKind } from '../event/events.ts';
import type { StopReason, Usage } from '../event/content.ts';

export type ScriptCall = {
  readonly tool: string;
  /** An object, sent as JSON. Default {}. */
  readonly args?: JsonObject;
  /** The literal text instead, as a provider might send it. */
  readonly argsRaw?: string;
  /** The provider's id for the call; scripts may repeat one on purpose. */
  readonly id?: string;
};

export type ScriptReply = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptCall[];
  /** Default `calls` where there are calls, else `end`. */
  readonly stop?: StopReason;
  readonly stopDetail?: string;
  readonly usage?: Usage;
  /** US dollars. Absent: unknown. */
  readonly cost?: number;
  /** A failure instead of an answer. */
  readonly error?: {
    readonly kind: RequestProblemKind;
    readonly message?: string;
    readonly status?: number;
    readonly retryAfterMs?: number;
    readonly maybeBilled?: boolean;
  };
  /** Milliseconds before the first word. */
  readonly delayMs?: number;
  /** The text in so many pieces, with a pause between them, for people who watch. */
  readonly stream?: { readonly pieces: number; readonly everyMs: number };
  /** The request must contain this text, else the script and the session have come apart. */
  readonly expects?: string;
};

export type ScriptStep = ScriptReply & {
  /** The same step so many times. */
  readonly repeat?: number;
  /** The first of these whose `when` stands in the request; one without `when` fits always. */
  readonly choose?: readonly (ScriptReply & { readonly when?: string })[];
};

export type Script = { readonly name: string; readonly steps: readonly ScriptStep[] };
