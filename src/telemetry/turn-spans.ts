/** The span of a turn, from its message to its end: `invoke_agent`, the root of its trace. */
import type { EventData, LogEvent } from '../event/events.ts';
import { TURN, type Step } from './open-spans.ts';
import type { Attributes } from './span.ts';

/** What a turn counts on its way; they stand on its span in the end. */
export const REQUESTS = 'onrecord.turn.requests';
export const CALLS = 'onrecord.turn.calls';
export const INPUT_TOKENS = 'gen_ai.usage.input_tokens';
export const OUTPUT_TOKENS = 'gen_ai.usage.output_tokens';

export const turnSpans = {
  begin: (step: Step): void => {
    const { event } = step;
    if (event.type === 'turn.accepted') accepted(step, event.data);
    const mark = markOf(step.event);
    const turn = mark && (mark.turn ?? step.after.active?.turn);
    if (mark && turn !== undefined)
      step.open.mark(turn, TURN, { name: mark.name, atMs: event.at, attributes: mark.attributes });
  },
  end: ({ event, before, open }: Step): void => {
    if (event.type === 'turn.withdrawn')
      open.end(event.data.turn, TURN, {
        endMs: event.at,
        attributes: { 'onrecord.turn.outcome': 'withdrawn' },
      });
    if (event.type !== 'turn.ended') return;
    const { turn, outcome, reason } = event.data;
    const error = outcome === 'failed' || outcome === 'stopped' ? (reason ?? outcome) : undefined;
    const cost = before.active?.turn === turn ? before.active.cost : 0;
    const counts = [REQUESTS, CALLS].map((name) => open.count(turn, TURN, name));
    const seconds = open.end(turn, TURN, {
      endMs: event.at,
      error,
      attributes: {
        'onrecord.turn.outcome': outcome,
        'onrecord.turn.cost': cost,
        ...(reason !== undefined && { 'onrecord.turn.reason': reason }),
      },
    });
    if (seconds === undefined) return;
    const { name, model } = before.agent;
    const who = { 'gen_ai.agent.name': name, 'gen_ai.request.model': model.name };
    open.measure('gen_ai.invoke_agent.duration', seconds, {
      ...who,
      'onrecord.turn.outcome': outcome,
      ...(error !== undefined && { 'error.type': error }),
    });
    open.measure('gen_ai.invoke_agent.inference_calls', counts[0], { 'gen_ai.agent.name': name });
    open.measure('gen_ai.invoke_agent.tool_calls', counts[1], { 'gen_ai.agent.name': name });
  },
};

const accepted = ({ event, after, open }: Step, { turn, by }: EventData['turn.accepted']): void => {
  const { agent, session, tenant } = after;
  open.begin({
    turn,
    place: TURN,
    name: `invoke_agent ${agent.name}`,
    kind: 'internal',
    startMs: event.at,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': agent.model.provider,
      'gen_ai.agent.name': agent.name,
      'gen_ai.conversation.id': session,
      'gen_ai.request.model': agent.model.name,
      'onrecord.turn': turn,
      // Who asked is in the record; here is only whether it was a person.
      'onrecord.turn.by': by.kind,
      ...(tenant !== '' && { 'onrecord.tenant': tenant }),
    },
  });
};

type Mark = { readonly name: string; readonly turn?: number; readonly attributes: Attributes };

/** What happens to a turn at one moment. Without a turn it is the running one's. */
const markOf = (event: LogEvent): Mark | undefined => {
  switch (event.type) {
    case 'turn.steered':
      return { name: 'onrecord.steered', turn: event.data.turn, attributes: {} };
    case 'turn.cancel_requested':
      return {
        name: 'onrecord.cancel_requested',
        turn: event.data.turn,
        attributes: { 'onrecord.by': event.data.by.kind },
      };
    case 'driver.changed':
      return { name: 'onrecord.process_lost', attributes: { 'onrecord.epoch': event.data.epoch } };
    case 'request.refused':
      return {
        name: 'onrecord.request_refused',
        turn: event.data.turn,
        attributes: { 'onrecord.reason': event.data.code },
      };
    case 'history.summarised':
      return { name: 'onrecord.history_summarised', turn: event.data.turn, attributes: {} };
    case 'mode.changed':
      return {
        name: 'onrecord.mode_changed',
        attributes: { 'onrecord.mode': event.data.mode, 'onrecord.mode.scope': event.data.scope },
      };
    default:
      return undefined;
  }
};
