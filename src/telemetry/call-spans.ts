/** A call: `execute_tool`, with a span within for each attempt and for each wait for a person. */
import { callPosition, makerOf, type CallId } from '../event/call-id.ts';
import type { LogEvent } from '../event/events.ts';
import { findCall, stepCalls, toolOf, type CallState, type Closing } from '../session/state.ts';
import { TURN, type Step } from './open-spans.ts';
import type { Attributes } from './span.ts';
import { CALLS } from './turn-spans.ts';

export const callSpans = (step: Step): void => {
  for (const id of touched(step)) {
    const change = { id, was: findCall(step.before, id), is: findCall(step.after, id) };
    if (!change.was && change.is) begin(step, change.is);
    attempts(step, change);
    waits(step, change);
    end(step, change);
  }
};

type Change = {
  readonly id: CallId;
  readonly was: CallState | undefined;
  /** Absent: nothing of it is open any more. */
  readonly is: CallState | undefined;
};

/** With a lost process any call may have lost its attempt. */
const touched = ({ event, before }: Step): readonly CallId[] => {
  if (event.type === 'driver.changed')
    return before.active ? stepCalls(before.active).map(({ id }) => id) : [];
  return 'call' in event.data ? [event.data.call] : [];
};

const placeOf = (id: CallId): string => `call ${id}`;

const begin = ({ event, after, open }: Step, call: CallState): void => {
  const { turn, step } = callPosition(call.id);
  const maker = makerOf(call.id);
  // A tool that nobody defined has a name that a model made up: text of a conversation.
  const tool = toolOf(after.agent, call.tool);
  open.note(turn, TURN, { [CALLS]: open.count(turn, TURN, CALLS) + 1 });
  open.begin({
    turn,
    place: placeOf(call.id),
    within: maker === undefined ? TURN : placeOf(maker),
    name: tool ? `execute_tool ${tool.name}` : 'execute_tool',
    kind: 'internal',
    startMs: event.at,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': after.session,
      // A provider names the calls that its model makes.
      ...(maker === undefined && { 'gen_ai.tool.call.id': call.label }),
      'gen_ai.tool.type': 'function',
      'onrecord.turn': turn,
      'onrecord.step': step,
      'onrecord.call': call.id,
      ...(tool && { 'gen_ai.tool.name': tool.name, 'onrecord.tool.effect': tool.effect }),
    },
  });
};

const attempts = ({ event, after, open }: Step, { id, was, is }: Change): void => {
  const { turn } = callPosition(id);
  if (was?.phase === 'started' && (is?.phase !== 'started' || is.attempt !== was.attempt)) {
    const { error, ms } = attemptEnd(event);
    const seconds = open.end(turn, `${placeOf(id)}#${was.attempt}`, {
      endMs: event.at,
      error,
      ...(ms !== undefined && { ms }),
    });
    open.measure('onrecord.attempt.duration', seconds, {
      'onrecord.attempt.of': 'call',
      ...toolName(after, was),
      ...(error !== undefined && { 'error.type': error }),
    });
  }
  if (is?.phase === 'started' && event.type === 'call.started')
    open.begin({
      turn,
      place: `${placeOf(id)}#${is.attempt}`,
      within: placeOf(id),
      name: 'attempt',
      kind: 'internal',
      startMs: event.at,
      attributes: { 'onrecord.attempt': is.attempt, 'onrecord.call': id },
    });
};

const attemptEnd = (event: LogEvent): { readonly error?: string; readonly ms?: number } => {
  if (event.type === 'driver.changed') return { error: event.data.reason };
  if (event.type === 'call.suspended') return { ms: event.data.ms };
  if (event.type !== 'call.result') return {};
  const { outcome, ms } = event.data;
  return outcome.kind === 'ok' ? { ms } : { ms, error: outcome.code };
};

/** Phases in which a call waits for a person, and what for. */
const WAITS = { asking: 'approval', 'in-doubt': 'settlement' } as const;

const waitOf = (call: CallState | undefined): string | undefined =>
  call && Object.hasOwn(WAITS, call.phase) ? WAITS[call.phase as keyof typeof WAITS] : undefined;

const waits = (step: Step, { id, was, is }: Change): void => {
  const { event, after, open } = step;
  const [before, now] = [waitOf(was), waitOf(is)];
  const { turn } = callPosition(id);
  if (was && before !== undefined && now !== before) {
    const wait = { 'onrecord.wait.for': before, 'onrecord.wait.end': waitEnd(event) };
    const seconds = open.end(turn, waitPlace(id, before, was), { endMs: event.at, attributes: wait });
    open.measure('onrecord.wait.duration', seconds, { ...wait, ...toolName(after, was) });
  }
  if (is && now !== undefined && now !== before)
    open.begin({
      turn,
      place: waitPlace(id, now, is),
      within: placeOf(id),
      name: `wait for ${now}`,
      kind: 'internal',
      startMs: event.at,
      attributes: { 'onrecord.call': id, 'onrecord.rule': is.rule },
    });
};

/** A call may be asked about, and be in doubt, more than once. */
const waitPlace = (id: CallId, wait: string, { round, attempt }: CallState): string =>
  `${placeOf(id)} ${wait} ${wait === 'approval' ? round : attempt}`;

/** How the wait ended: what was decided, never by whom or with which words. */
const waitEnd = (event: LogEvent): string => {
  switch (event.type) {
    case 'approval.decided':
      return event.data.decision.do;
    case 'call.settled':
      return event.data.settlement.answer;
    default:
      return event.type.slice(event.type.indexOf('.') + 1);
  }
};

const end = (step: Step, { id, was, is }: Change): void => {
  if (is && is.phase !== 'closed') return;
  const { event, after, open } = step;
  const call = is ?? was;
  if (!call) return;
  const { turn } = callPosition(id);
  const { closing } = call;
  const error = closing && errorOf(closing);
  const seconds = open.end(turn, placeOf(id), {
    endMs: event.at,
    error,
    attributes: {
      'onrecord.call.closing': closing?.kind ?? waitEnd(event),
      'onrecord.call.attempts': call.attempt,
      ...(call.rule !== '' && { 'onrecord.rule': call.rule }),
      ...(call.edited && { 'onrecord.call.edited': true }),
    },
  });
  open.measure('gen_ai.execute_tool.duration', seconds, {
    'gen_ai.agent.name': after.agent.name,
    'gen_ai.tool.type': 'function',
    ...toolName(after, call),
    ...(error !== undefined && { 'error.type': error }),
  });
};

/** What a person or a policy said is no error. */
const errorOf = (closing: Closing): string | undefined => {
  switch (closing.kind) {
    case 'failed':
      return closing.code;
    case 'rejected':
      return closing.reason;
    case 'given-up':
      return closing.kind;
    default:
      return undefined;
  }
};

const toolName = ({ agent }: Step['after'], { tool }: CallState): Attributes => {
  const known = toolOf(agent, tool);
  return known ? { 'gen_ai.tool.name': known.name } : {};
};
