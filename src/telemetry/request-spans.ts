/** A model request and its attempts: `chat`, with one span within for each time that it was sent. */
import type { StopReason, Usage } from '../event/content.ts';
import type { EventData } from '../event/events.ts';
import type { Wire } from '../event/content.ts';
import type { SessionState } from '../session/state.ts';
import { TURN, type Step } from './open-spans.ts';
import type { Attributes } from './span.ts';
import { INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS } from './turn-spans.ts';

/** A request that its process was lost with; replay calls it the same. */
const LOST = 'process-lost';

export const requestSpans = (step: Step): void => {
  const { event, before, open } = step;
  switch (event.type) {
    case 'request.built':
      return built(step, event.data);
    case 'request.sent':
      return sent(step, event.data);
    case 'request.failed':
      return failed(step, event.data);
    case 'request.retry':
      // Of an attempt that failed the end is known already; of one that was lost it is known now.
      return endAttempt(step, { ...event.data, attempt: event.data.attempt - 1 }, { error: LOST });
    case 'response.received':
      return received(step, event.data);
    case 'turn.ended': {
      // Whatever of it brought no response ends with the turn.
      const { turn } = event.data;
      const error = before.active?.request?.problem?.kind ?? event.data.reason ?? event.data.outcome;
      for (const place of open.places(turn, 'request ').toReversed()) {
        const seconds = open.end(turn, place, { endMs: event.at, error });
        if (!place.includes('#')) measureRequest(step, before, seconds, error);
      }
      return;
    }
    default:
      return;
  }
};

type Place = { readonly turn: number; readonly step: number };

const placeOf = ({ step }: Place): string => `request ${step}`;
const attemptOf = ({ step, attempt }: Place & { readonly attempt: number }): string =>
  `request ${step}#${attempt}`;

const built = (step: Step, data: EventData['request.built']): void => {
  const { event, after, open } = step;
  const { turn, summary, bytes } = data;
  const { name, provider, params } = after.agent.model;
  const most = params['max_tokens'] ?? params['max_output_tokens'];
  open.note(turn, TURN, { [REQUESTS]: open.count(turn, TURN, REQUESTS) + 1 });
  open.begin({
    turn,
    place: placeOf(data),
    within: TURN,
    name: `chat ${name}`,
    kind: 'client',
    startMs: event.at,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': name,
      'gen_ai.conversation.id': after.session,
      'onrecord.turn': turn,
      'onrecord.step': data.step,
      'onrecord.request.seq': event.seq,
      'onrecord.request.bytes': bytes,
      ...(typeof most === 'number' && { 'gen_ai.request.max_tokens': most }),
      ...(after.summary && { 'gen_ai.conversation.compacted': true }),
      ...(summary && { 'onrecord.request.for': 'summary' }),
    },
  });
  sent(step, { turn, step: data.step, attempt: 1 });
};

const sent = ({ event, open }: Step, data: EventData['request.sent']): void =>
  open.begin({
    turn: data.turn,
    place: attemptOf(data),
    within: placeOf(data),
    name: 'attempt',
    kind: 'client',
    startMs: event.at,
    attributes: {
      'onrecord.attempt': data.attempt,
      ...(data.attempt > 1 && { 'http.request.resend_count': data.attempt - 1 }),
    },
  });

type AttemptEnd = {
  readonly error?: string;
  readonly ms?: number;
  readonly wire?: Wire | undefined;
  readonly attributes?: Attributes;
};

const endAttempt = (
  { event, after, open }: Step,
  data: Place & { readonly attempt: number },
  { error, ms, wire, attributes }: AttemptEnd,
): void => {
  const seconds = open.end(data.turn, attemptOf(data), {
    endMs: event.at,
    error,
    ...(ms !== undefined && { ms }),
    attributes: { ...wireAttributes(wire), ...attributes },
  });
  open.measure('onrecord.attempt.duration', seconds, {
    'onrecord.attempt.of': 'request',
    'gen_ai.request.model': after.agent.model.name,
    ...(error !== undefined && { 'error.type': error }),
  });
};

const failed = (step: Step, data: EventData['request.failed']): void => {
  const { problem, ms, wire, maybeBilled, usage, cost } = data;
  endAttempt(step, data, {
    error: problem.kind,
    ms,
    wire,
    attributes: { 'onrecord.maybe_billed': maybeBilled },
  });
  spend(step, data.turn, { usage, cost });
};

const received = (step: Step, data: EventData['response.received']): void => {
  const { event, after, open } = step;
  const { turn, ms, wire, stop, responseId, usage, cost, firstTokenMs, remarks } = data;
  endAttempt(step, data, { ms, wire });
  const seconds = open.end(turn, placeOf(data), {
    endMs: event.at,
    attributes: {
      ...wireAddress(wire),
      'gen_ai.response.finish_reasons': [FINISH[stop]],
      ...(responseId !== undefined && { 'gen_ai.response.id': responseId }),
      ...(firstTokenMs !== undefined && {
        'gen_ai.request.stream': true,
        'gen_ai.response.time_to_first_chunk': firstTokenMs / 1000,
      }),
      ...(usage && usageAttributes(usage)),
      ...(cost !== undefined && { 'onrecord.cost': cost }),
      ...(remarks?.cache && { 'onrecord.cache.said': remarks.cache.said }),
    },
  });
  measureRequest(step, after, seconds);
  if (firstTokenMs !== undefined)
    open.measure('gen_ai.client.operation.time_to_first_chunk', firstTokenMs / 1000, modelOf(after));
  spend(step, turn, { usage, cost });
};

const measureRequest = (
  { open }: Step,
  state: SessionState,
  seconds: number | undefined,
  error?: string,
): void =>
  open.measure('gen_ai.client.operation.duration', seconds, {
    ...modelOf(state),
    ...(error !== undefined && { 'error.type': error }),
  });

const modelOf = ({ agent }: SessionState): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': agent.model.provider,
  'gen_ai.request.model': agent.model.name,
});

type Spent = { readonly usage: Usage | undefined; readonly cost: number | undefined };

const spend = ({ after, open }: Step, turn: number, { usage, cost }: Spent): void => {
  if (usage) {
    const { [INPUT_TOKENS]: input, [OUTPUT_TOKENS]: output } = usageAttributes(usage);
    const tokens = { input, output };
    for (const [type, count] of Object.entries(tokens))
      open.measure('gen_ai.client.token.usage', count, { ...modelOf(after), 'gen_ai.token.type': type });
    open.note(turn, TURN, {
      [INPUT_TOKENS]: open.count(turn, TURN, INPUT_TOKENS) + input,
      [OUTPUT_TOKENS]: open.count(turn, TURN, OUTPUT_TOKENS) + output,
    });
  }
  if (cost !== undefined && cost > 0)
    open.measure('onrecord.cost', cost, { ...modelOf(after), 'gen_ai.agent.name': after.agent.name });
};

/** The convention's input tokens are all of them, whether a cache had them or not. */
const usageAttributes = ({ input, output, cacheRead, cacheWrite }: Usage) => ({
  [INPUT_TOKENS]: input + cacheRead + cacheWrite,
  [OUTPUT_TOKENS]: output,
  'gen_ai.usage.cache_read.input_tokens': cacheRead,
  'gen_ai.usage.cache_write.input_tokens': cacheWrite,
});

/** The convention's words where it has one. */
const FINISH: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  calls: 'tool_call',
  length: 'length',
  refusal: 'content_filter',
  paused: 'paused',
  'context-overflow': 'context-overflow',
  unknown: 'unknown',
};

const wireAttributes = (wire: Wire | undefined): Attributes => ({
  ...wireAddress(wire),
  ...(wire?.status !== undefined && { 'http.response.status_code': wire.status }),
});

/** The server alone: what else stands in an address may be somebody's. */
const wireAddress = (wire: Wire | undefined): Attributes => {
  if (!wire || !URL.canParse(wire.url)) return {};
  const { hostname, port, protocol } = new URL(wire.url);
  const standard = protocol === 'https:' ? 443 : 80;
  return { 'server.address': hostname, 'server.port': port === '' ? standard : Number(port) };
};
