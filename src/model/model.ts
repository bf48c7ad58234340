/**
 * THE VOICE: the one contract of all models. A model never throws: success, refusal, truncation and every kind
 * of failure are values, and each says what happens next.
 */
import type { Encoder } from '../context/encoding.ts';
import type { AgentDefinition, ModelDefinition } from '../event/definition.ts';
import type { EventData, RequestProblem } from '../event/events.ts';
import type { Usage } from '../event/content.ts';

export type Delta =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call-arguments'; readonly index: number; readonly text: string };

export type ModelRequest = {
  /** The exact bytes to send, as text. Made when asked for. */
  readonly body: () => string;
  readonly agent: AgentDefinition;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** The number of this model call in its session, from 1: one more than the replies and failures on record. */
  readonly modelCall: number;
  /** Aborted on cancel, shutdown and when the request's time has run out. */
  readonly signal: AbortSignal;
  /** Text as it comes, for people who watch. Not part of the record. */
  readonly onDelta: (delta: Delta) => void;
  /** Milliseconds; the only source of durations and waits. */
  readonly monotonic: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type ModelReply =
  | ({ readonly kind: 'response' } & Omit<EventData['response.received'], 'turn' | 'step' | 'attempt' | 'ms'>)
  | {
      readonly kind: 'failed';
      readonly problem: RequestProblem;
      readonly maybeBilled: boolean;
      readonly partial?: string;
      readonly usage?: Usage;
      /** US dollars, where the model knows what the failed attempt cost. */
      readonly cost?: number;
    };

export type Model = {
  readonly definition: ModelDefinition;
  readonly encoder: Encoder;
  send(request: ModelRequest): Promise<ModelReply>;
};
