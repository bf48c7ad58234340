/**
 * What is told of a session's work, as plain data in nobody's format: spans and measures. Ids are made from the
 * session, the turn and the place in it, so that whichever process tells of a part of a turn, it is one trace, and
 * telling twice is telling the same.
 */
import { sha256 } from '../event/canonical.ts';

export type Attribute = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, Attribute>>;

/** Something at one moment within a span. */
export type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributes: Attributes };

export type Span = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Absent: the span of the turn itself. */
  readonly parentId?: string;
  readonly name: string;
  /** `client` where it waits for another program. */
  readonly kind: 'internal' | 'client';
  /** Wall time, milliseconds since 1970 UTC. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** What kind of failure it ended in; absent where it did not fail. */
  readonly error?: string;
};

/** One number, under the name of its instrument. */
export type Measure = {
  readonly instrument: InstrumentName;
  readonly value: number;
  readonly attributes: Attributes;
};

export type Told = { readonly spans: readonly Span[]; readonly measures: readonly Measure[] };

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

export const traceIdOf = (session: string, turn: number): string =>
  sha256(`onrecord trace ${session} ${turn}`).slice(0, TRACE_DIGITS);

/** `place` names a part of a turn: "turn", "request 2#1", "call 3.2.1". */
export const spanIdOf = (traceId: string, place: string): string =>
  sha256(`onrecord span ${traceId} ${place}`).slice(0, SPAN_DIGITS);

export type Instrument = {
  readonly kind: 'histogram' | 'counter';
  /** UCUM, as OpenTelemetry has it. */
  readonly unit: string;
  readonly description: string;
  /** Upper bounds, inclusive. */
  readonly bounds?: readonly number[];
};

export type InstrumentName =
  | 'gen_ai.client.operation.duration'
  | 'gen_ai.client.token.usage'
  | 'gen_ai.client.operation.time_to_first_chunk'
  | 'gen_ai.invoke_agent.duration'
  | 'gen_ai.invoke_agent.inference_calls'
  | 'gen_ai.invoke_agent.tool_calls'
  | 'gen_ai.execute_tool.duration'
  | 'onrecord.attempt.duration'
  | 'onrecord.wait.duration'
  | 'onrecord.cost';

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Turns and people take longer than requests: up to a week. */
const LONG_SECONDS = [0.1, 0.4, 1.6, 6.4, 25.6, 102.4, 409.6, 1638.4, 6553.6, 26_214.4, 104_857.6, 604_800];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128];

/**
 * Names that begin with `gen_ai` are those of the semantic conventions for generative AI (status: development), with
 * the bounds that they give: https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-metrics.md.
 */
export const INSTRUMENTS: Readonly<Record<InstrumentName, Instrument>> = {
  'gen_ai.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'How long a model request took, all attempts together.',
    bounds: SECONDS,
  },
  'gen_ai.client.token.usage': {
    kind: 'histogram',
    unit: '{token}',
    description: 'Tokens of a model request, in and out.',
    bounds: TOKENS,
  },
  'gen_ai.client.operation.time_to_first_chunk': {
    kind: 'histogram',
    unit: 's',
    description: 'How long the first piece of a reply took.',
    bounds: SECONDS,
  },
  'gen_ai.invoke_agent.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'How long a turn took, from the message to its end, waits for people included.',
    bounds: LONG_SECONDS,
  },
  'gen_ai.invoke_agent.inference_calls': {
    kind: 'histogram',
    unit: '{inference_call}',
    description: 'Model requests of a turn.',
    bounds: COUNTS,
  },
  'gen_ai.invoke_agent.tool_calls': {
    kind: 'histogram',
    unit: '{tool_call}',
    description: 'Tool calls of a turn.',
    bounds: COUNTS,
  },
  'gen_ai.execute_tool.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'How long a call took, from its proposal to its closing.',
    bounds: SECONDS,
  },
  'onrecord.attempt.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'How long one attempt of a request or of a call took.',
    bounds: SECONDS,
  },
  'onrecord.wait.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'How long a call waited for a person.',
    bounds: LONG_SECONDS,
  },
  'onrecord.cost': {
    kind: 'counter',
    unit: '{USD}',
    description: 'US dollars spent on models, as far as known.',
  },
};
