/** A run as chunks of the AI SDK's UI message stream (ai-sdk.dev/docs/ai-sdk-ui/stream-protocol), version 1. */
import { decodeArguments } from '../../effect/arguments.ts';
import type { Json } from '../../event/json.ts';
import type { CallState } from '../../session/state.ts';
import type { Beat, DoubtfulCall, LastBeat } from './beat.ts';
import { event, type Telling } from './stream.ts';

type Chunk = { readonly type: string } & Readonly<Record<string, unknown>>;

export const AI_SDK_HEADERS: Readonly<Record<string, string>> = { 'x-vercel-ai-ui-message-stream': 'v1' };

export const aiSdkTelling = (): Telling => ({
  tell: (beat) => {
    const text = aiSdkChunks(beat).map(event).join('');
    return beat.kind === 'rest' || beat.kind === 'end' ? `${text}data: [DONE]\n\n` : text;
  },
});

/** The message that a turn's answer is, the same in every stream of it; what follows a message that joined is one more. */
const answerId = ({ session, turn, seq, steered }: Extract<Beat, { kind: 'begin' }>): string =>
  steered ? `${session}-${turn}-${seq}` : `${session}-${turn}`;

/** Pure: a beat is told the same whatever came before it. */
export const aiSdkChunks = (beat: Beat): readonly Chunk[] => {
  switch (beat.kind) {
    case 'begin': {
      const { session, turn } = beat;
      return [{ type: 'start', messageId: answerId(beat), messageMetadata: { onrecord: { session, turn } } }];
    }
    case 'step':
      return [{ type: 'start-step' }];
    case 'step-end':
      return [{ type: 'finish-step' }];
    case 'open':
      return [{ type: `${beat.part.kind}-start`, id: beat.part.id }];
    case 'words':
      return [{ type: `${beat.part.kind}-delta`, id: beat.part.id, delta: beat.text }];
    case 'close':
      return [{ type: `${beat.part.kind}-end`, id: beat.part.id }];
    case 'retake':
      return [{ type: 'reset-step' }];
    case 'call':
      return [input(beat.call)];
    case 'question': {
      const { id, call } = beat.question;
      const title = call.prepared?.title ?? '';
      return [
        {
          type: 'tool-approval-request',
          approvalId: id,
          toolCallId: call.id,
          ...(title !== '' && { reason: title }),
        },
      ];
    }
    case 'decision':
      return decided(beat);
    case 'doubt':
      return [{ type: 'data-onrecord-doubt', id: beat.doubt.id, data: doubtData(beat.doubt) }];
    case 'result':
      return [result(beat)];
    case 'rest':
    case 'end':
      return last(beat);
    case 'alive':
      return [];
    case 'cut':
      return [{ type: 'error', errorText: 'The server stops. The turn goes on; reconnect to see it.' }];
    default:
      return beat satisfies never;
  }
};

const input = ({ id, tool, args }: CallState): Chunk => {
  const decoded = decodeArguments(args);
  const value = decoded.ok ? (JSON.parse(decoded.canonical) as Json) : args;
  return { type: 'tool-input-available', toolCallId: id, toolName: tool, input: value };
};

const decided = ({ id, call, approved, reason }: Extract<Beat, { kind: 'decision' }>): readonly Chunk[] => {
  // Another person's answer, or arguments that were changed: the part shows what was decided.
  const answer = {
    type: 'tool-approval-response',
    approvalId: id,
    approved,
    ...(reason !== undefined && { reason }),
  };
  return call.edited ? [input(call), answer] : [answer];
};

const result = ({ call, text, isError }: Extract<Beat, { kind: 'result' }>): Chunk => {
  const toolCallId = call.id;
  if (call.closing?.kind === 'denied') return { type: 'tool-output-denied', toolCallId };
  if (isError) return { type: 'tool-output-error', toolCallId, errorText: text };
  return { type: 'tool-output-available', toolCallId, output: text };
};

const doubtData = ({ call }: DoubtfulCall) => ({
  call: call.id,
  tool: call.tool,
  attempt: call.attempt,
  reason: call.doubt?.reason ?? '',
});

const last = (beat: LastBeat): readonly Chunk[] => {
  if (beat.kind === 'rest') return [{ type: 'finish', finishReason: 'tool-calls' }];
  const { outcome, reason, message } = beat;
  switch (outcome) {
    case 'done':
      return [{ type: 'finish', finishReason: beat.stop === 'length' ? 'length' : 'stop' }];
    case 'refused':
      return [{ type: 'finish', finishReason: 'content-filter' }];
    case 'cancelled':
    case 'withdrawn':
      return [{ type: 'abort', ...(reason !== undefined && { reason }) }];
    case 'failed':
    case 'stopped':
      return [
        { type: 'error', errorText: message ?? `The turn ended as ${outcome}.` },
        { type: 'finish', finishReason: 'error' },
      ];
    default:
      return outcome satisfies never;
  }
};
