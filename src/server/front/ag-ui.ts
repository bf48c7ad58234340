/** A run as AG-UI 1.0 events (docs.ag-ui.com/concepts/events). Types are our own words for what its schemas say. */
import type { JsonObject } from '../../event/json.ts';
import type { CallState } from '../../session/state.ts';
import type { Beat, DoubtfulCall, LastBeat, Question } from './beat.ts';
import { event, type Telling } from './stream.ts';

export const AG_UI_VERSION = '1.0';

type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export type AgUiRun = {
  readonly threadId: string;
  readonly runId: string;
  /** What of the input is not used, by name. */
  readonly unused: readonly string[];
};

export const agUiTelling = (run: AgUiRun): Telling => ({
  tell: (beat) => agUiEvents(run, beat).map(event).join(''),
});

/** Pure: a beat is told the same whatever came before it. */
export const agUiEvents = (run: AgUiRun, beat: Beat): readonly AgUiEvent[] => {
  switch (beat.kind) {
    case 'begin':
      return begun(run, beat);
    case 'step':
      return [{ type: 'STEP_STARTED', stepName: `step ${beat.step}` }];
    case 'step-end':
      return [{ type: 'STEP_FINISHED', stepName: `step ${beat.step}` }];
    case 'open':
    case 'words':
    case 'close':
      return spoken(beat);
    case 'retake':
      return [custom('onrecord.retaken', { messageIds: beat.parts.map(({ id }) => id) })];
    case 'call':
      return called(beat.call, beat.text);
    case 'question':
      return [custom('onrecord.approval-requested', questionData(beat.question))];
    case 'decision':
      return [
        custom('onrecord.approval-decided', {
          id: beat.id,
          call: beat.call.id,
          approved: beat.approved,
          args: beat.call.args,
          ...(beat.reason !== undefined && { reason: beat.reason }),
        }),
      ];
    case 'doubt':
      return [custom('onrecord.in-doubt', doubtData(beat.doubt))];
    case 'result':
      return [
        {
          type: 'TOOL_CALL_RESULT',
          messageId: `${beat.call.id}-result`,
          toolCallId: beat.call.id,
          content: beat.text,
          role: 'tool',
        },
      ];
    case 'rest':
    case 'end':
      return [last(run, beat)];
    case 'alive':
      return [];
    case 'cut':
      return [
        {
          type: 'RUN_ERROR',
          code: 'server-stops',
          message: 'The server stops. The run goes on; send it again with the same runId to see it.',
        },
      ];
    default:
      return beat satisfies never;
  }
};

const custom = (name: string, value: unknown): AgUiEvent => ({ type: 'CUSTOM', name, value });

const begun = (
  { threadId, runId, unused }: AgUiRun,
  { session, turn }: Extract<Beat, { kind: 'begin' }>,
): readonly AgUiEvent[] => [
  { type: 'RUN_STARTED', threadId, runId, protocolVersion: AG_UI_VERSION },
  custom('onrecord.turn', { session, turn }),
  ...(unused.length > 0 ? [custom('onrecord.unused-input', { names: unused })] : []),
];

const spoken = (beat: Extract<Beat, { kind: 'open' | 'words' | 'close' }>): readonly AgUiEvent[] => {
  const messageId = beat.part.id;
  const isText = beat.part.kind === 'text';
  switch (beat.kind) {
    case 'open':
      if (isText) return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
      return [
        { type: 'REASONING_START', messageId },
        { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
      ];
    case 'words':
      return [
        {
          type: isText ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT',
          messageId,
          delta: beat.text,
        },
      ];
    case 'close':
      if (isText) return [{ type: 'TEXT_MESSAGE_END', messageId }];
      return [
        { type: 'REASONING_MESSAGE_END', messageId },
        { type: 'REASONING_END', messageId },
      ];
    default:
      return beat satisfies never;
  }
};

const called = ({ id, tool, args }: CallState, text: string | undefined): readonly AgUiEvent[] => [
  {
    type: 'TOOL_CALL_START',
    toolCallId: id,
    toolCallName: tool,
    ...(text !== undefined && { parentMessageId: text }),
  },
  { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: args },
  { type: 'TOOL_CALL_END', toolCallId: id },
];

const last = ({ threadId, runId }: AgUiRun, beat: LastBeat): AgUiEvent => {
  const finished = { type: 'RUN_FINISHED', threadId, runId };
  if (beat.kind === 'rest') {
    const { questions, doubts } = beat.needs;
    const interrupts = [...questions.map(questionInterrupt), ...doubts.map(doubtInterrupt)];
    return { ...finished, outcome: { type: 'interrupt', interrupts } };
  }
  const { outcome, reason, message } = beat;
  if (outcome === 'done') return { ...finished, outcome: { type: 'success' } };
  if (outcome === 'cancelled' || outcome === 'withdrawn')
    return { ...finished, outcome: { type: 'cancelled' } };
  return { type: 'RUN_ERROR', code: reason ?? outcome, message: message ?? `The turn ended as ${outcome}.` };
};

/** What an answer to a question has to look like, for front ends that make a form of it. */
const DECISION_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    editedArgs: { type: 'object', description: 'Other arguments to run it with instead.' },
    reason: { type: 'string', description: 'Why not; told to the model.' },
  },
  required: ['approved'],
  additionalProperties: false,
};

const SETTLEMENT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    answer: { type: 'string', enum: ['happened', 'not-happened', 'give-up'] },
    result: { type: 'string', description: 'What came of it, where it happened; told to the model.' },
  },
  required: ['answer'],
  additionalProperties: false,
};

const questionData = ({ id, call, digest }: Question) => ({
  id,
  call: call.id,
  digest,
  tool: call.tool,
  args: call.args,
  rule: call.rule,
  ...(call.seen.length > 0 && { seen: call.seen }),
});

const doubtData = ({ id, call }: DoubtfulCall) => ({
  id,
  call: call.id,
  tool: call.tool,
  args: call.args,
  attempt: call.attempt,
  reason: call.doubt?.reason ?? '',
});

const questionInterrupt = (question: Question) => {
  const { id, call } = question;
  const title = call.prepared?.title ?? '';
  const expiresAt = call.terms?.expiresAt;
  return {
    id,
    reason: 'tool_call',
    message: title === '' ? `Run ${call.tool}?` : title,
    toolCallId: call.id,
    responseSchema: DECISION_SCHEMA,
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { onrecord: questionData(question) },
  };
};

const doubtInterrupt = (doubt: DoubtfulCall) => ({
  id: doubt.id,
  reason: 'onrecord:in-doubt',
  message: `${doubt.call.tool} was started and nobody knows whether it happened.`,
  toolCallId: doubt.call.id,
  responseSchema: SETTLEMENT_SCHEMA,
  metadata: { onrecord: doubtData(doubt) },
});
