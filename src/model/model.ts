/**
 * THE VOICE: the one contract of all models. A model never throws: success, refusal, truncation and every kind
 * of failure are values, and each says what happens next.
 */
import type { Encoder } from '../context/encoding.ts';
import type { AgentDefinition, ModelDefinition } from '../event/definition.ts';
import type { EventData } from '../event/events.ts';

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

/** The bytes of a reply as they came, credentials taken out. They go to the store, and `raw` of the fact refers to them. */
export type ReplyBytes = { readonly bytes: Uint8Array; readonly media: string };

type Recorded = 'turn' | 'step' | 'attempt' | 'ms' | 'raw';

export type ModelReply =
  | ({ readonly kind: 'response'; readonly bytes?: ReplyBytes } & Omit<
      EventData['response.received'],
      Recorded
    >)
  | ({ readonly kind: 'failed'; readonly bytes?: ReplyBytes } & Omit<EventData['request.failed'], Recorded>);

export type Model = {
  readonly definition: ModelDefinition;
  readonly encoder: Encoder;
  /** Why this model cannot serve an agent so defined; undefined where it can. Asked once, by defineAgent. */
  readonly refuses?: (agent: AgentDefinition) => string | undefined;
  /** Never rejects. */
  send(request: ModelRequest): Promise<ModelReply>;
};
