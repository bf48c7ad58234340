/**
 * One event as a line: a mark, whom or what it is about, and a sentence. The same words on the terminal and the
 * pages. Filled marks are facts, rings are decisions, coloured ones are states.
 */
import type { Actor, Outcome, ResponseBlock } from '../event/content.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { isDecision } from '../event/events.ts';
import { toolOf } from '../session/state.ts';
import { argumentsBrief, contentBrief, contentText, firstLine } from './brief.ts';
import { countOf, formatBytes, formatCost, formatCount, formatDuration, formatShare } from './format.ts';
import { tokensIn, type Reading } from './reading.ts';

export type Mark = 'fact' | 'decision' | 'ok' | 'fail' | 'doubt' | 'run' | 'wait' | 'cancelled';

export type EventLine = {
  readonly seq: number;
  readonly mark: Mark;
  /** "you", "model", "request 6", the name of a tool; empty where the sentence says it. */
  readonly who: string;
  readonly text: string;
  /** Whose doing it is: a person, a model, "decider", "policy", "recovery". */
  readonly by: string;
  /** Milliseconds that it took. */
  readonly ms?: number;
  /** Further numbers, for where there is room. */
  readonly detail?: string;
  /** Instead of a duration: "waits for a person". */
  readonly state?: string;
  /** The whole of what was said, where the line holds its beginning only. */
  readonly body?: string;
};

export type LineOptions = {
  /** The reader's name, who is called "you". */
  readonly me?: string;
};

export const actorName = (by: Actor, { me }: LineOptions): string =>
  by.kind === 'person' && by.name === me ? 'you' : by.name;

type Told = Omit<EventLine, 'seq' | 'mark' | 'by' | 'who'> & Partial<Pick<EventLine, 'mark' | 'by' | 'who'>>;

export const eventLine = (reading: Reading, event: LogEvent, options: LineOptions = {}): EventLine => {
  const decision = isDecision(event);
  const told = tell(reading, event, options);
  return {
    seq: event.seq,
    mark: decision ? 'decision' : 'fact',
    by: decision ? 'decider' : '',
    who: '',
    ...told,
  };
};

const tell = (reading: Reading, event: LogEvent, options: LineOptions): Told => {
  switch (event.type) {
    case 'session.created':
      return { text: `session with ${event.data.agent.name}`, by: event.data.program };
    case 'agent.updated':
      return { text: `${event.data.agent.name} has a new definition`, by: event.data.program };
    case 'turn.accepted':
      return inputTold(event.data, options);
    case 'turn.cancel_requested':
      return {
        who: actorName(event.data.by, options),
        text: `${options.me === event.data.by.name ? 'cancel' : 'cancels'} turn ${event.data.turn}${because(event.data.reason)}`,
        by: event.data.by.name,
      };
    case 'driver.changed':
      return {
        mark: 'fail',
        text: lostText(reading, event.seq, event.data.epoch),
        by: 'recovery',
      };
    case 'turn.ended':
      return { mark: TURN_MARKS[event.data.outcome], text: turnText(event.data) };
    case 'request.built':
    case 'request.failed':
    case 'request.retry':
    case 'request.sent':
      return requestTold(reading, event);
    case 'response.received':
      return responseTold(reading, event.data);
    default:
      return callTold(reading, event, options);
  }
};

const lostText = (reading: Reading, seq: number, epoch: number): string => {
  const lost = reading.lost.get(seq) ?? [];
  const what = lost.length === 0 ? '' : `; no result of ${lost.join(', ')}`;
  return `process lost, new driver, lease ${epoch}${what}`;
};

const because = (reason: string | undefined): string =>
  reason === undefined ? '' : `: ${firstLine(reason)}`;

const inputTold = ({ input, by }: EventData['turn.accepted'], options: LineOptions): Told => {
  const body = contentText(input);
  return { who: actorName(by, options), text: firstLine(body), body, by: by.name };
};

type RequestEvent = Extract<
  LogEvent,
  { type: 'request.built' | 'request.failed' | 'request.retry' | 'request.sent' }
>;

const requestTold = (reading: Reading, event: RequestEvent): Told => {
  const { turn, step } = event.data;
  const number = reading.requestAt(event.seq)?.number ?? reading.requestOf(turn, step)?.number ?? 0;
  const who = `request ${number}`;
  switch (event.type) {
    case 'request.built':
      return { who, text: builtText(reading, event.seq) };
    case 'request.failed': {
      const { problem, maybeBilled, ms } = event.data;
      const billed = maybeBilled ? ', may be billed' : '';
      return { who, mark: 'fail', text: `${firstLine(problem.message)} (${problem.kind}${billed})`, ms };
    }
    case 'request.retry': {
      const { attempt, reason, notBefore, maybeBilled } = event.data;
      const wait = notBefore > event.at ? ` in ${formatDuration(notBefore - event.at)}` : '';
      const billed = maybeBilled ? ', the lost one may be billed' : '';
      return { who, text: `again${wait}, attempt ${attempt} (${reason}${billed})`, by: 'recovery' };
    }
    case 'request.sent':
      return { who, text: `sent again, attempt ${event.data.attempt}` };
    default:
      return event satisfies never;
  }
};

const builtText = (reading: Reading, seq: number): string => {
  const request = reading.requestAt(seq);
  if (!request) return '';
  const { bytes, newBytes, newFrame, parts, number, answer } = request;
  const size = answer?.usage
    ? `${countOf(parts, 'part')}, ${formatCount(tokensIn(answer.usage))} tokens`
    : `${countOf(parts, 'part')}, ${formatBytes(bytes)}`;
  if (number === 1) return `${size}, nothing to reuse yet`;
  if (newFrame) return `${size}, all new: the agent is another`;
  if (newBytes === bytes) return `${size}, all new`;
  return answer?.usage
    ? `${size}, ${formatShare((bytes - newBytes) / bytes, 1)} shared`
    : `${size}, ${formatBytes(newBytes)} of them new`;
};

const STOPS: Readonly<Record<EventData['response.received']['stop'], string | undefined>> = {
  end: undefined,
  calls: undefined,
  'stop-sequence': undefined,
  length: 'cut at the output limit',
  paused: 'paused',
  refusal: 'declined',
  'context-overflow': 'context window full',
  unknown: 'stopped for an unknown reason',
};

const responseTold = (reading: Reading, data: EventData['response.received']): Told => {
  const { content, cost, ms, firstTokenMs, stop } = data;
  const body = content
    .flatMap((block: ResponseBlock) =>
      block.type === 'text' && block.text.trim() !== '' ? [block.text] : [],
    )
    .join('\n\n');
  const calls = content.filter((block) => block.type === 'call').length;
  const asks = calls > 0 ? `asks for ${countOf(calls, 'call')}` : body === '' ? 'says nothing' : 'answers';
  const stopped = STOPS[stop];
  const first =
    firstTokenMs !== undefined && firstTokenMs > 0 ? [`first token ${formatDuration(firstTokenMs)}`] : [];
  return {
    who: 'model',
    text: stopped === undefined ? asks : `${asks}, ${stopped}`,
    detail: [...first, cost === undefined ? 'cost unknown' : formatCost(cost)].join(', '),
    by: reading.state.agent.model.name,
    ms,
    ...(body !== '' && { body }),
  };
};

type CallEvent = Exclude<
  LogEvent,
  | RequestEvent
  | {
      type:
        | 'session.created'
        | 'agent.updated'
        | 'turn.accepted'
        | 'turn.cancel_requested'
        | 'driver.changed'
        | 'turn.ended'
        | 'response.received';
    }
>;

const callTold = (reading: Reading, event: CallEvent, options: LineOptions): Told => {
  const call = reading.call(event.data.call);
  const who = call.tool;
  const about = call.about ?? argumentsBrief(call.args);
  switch (event.type) {
    case 'call.proposed':
      return {
        who,
        text: about,
        state: event.data.do === 'ask' ? 'to be asked' : 'may run',
        by: event.data.rule,
      };
    case 'call.prepared':
      return { who, text: `looked ahead: ${about}` };
    case 'approval.requested':
      return reading.openCall(call.id)?.phase === 'asking' && call.asked?.seq === event.seq
        ? { who, mark: 'wait', text: about, state: 'waits for a person', by: event.data.rule }
        : { who, text: `${about}${about === '' ? '' : ', '}asked a person`, by: event.data.rule };
    case 'approval.decided':
      return decidedTold(event.data, who, options);
    case 'call.rejected':
    case 'call.refused': {
      const reason = event.type === 'call.refused' ? event.data.code : event.data.reason;
      return { who, mark: 'fail', text: `${firstLine(event.data.message)} (${reason})`, by: 'policy' };
    }
    case 'call.cancelled':
      return {
        who,
        mark: 'cancelled',
        text: call.attempt > 0 ? 'stopped by the cancel' : 'not started, cancelled',
      };
    case 'call.settled':
      return settledTold(event.data, who, options);
    default:
      return attemptTold(reading, event, { who, about });
  }
};

type AttemptEvent = Extract<
  CallEvent,
  {
    type:
      | 'call.started'
      | 'call.result'
      | 'call.late'
      | 'call.retry'
      | 'call.reconciled'
      | 'call.failed'
      | 'call.doubted';
  }
>;

type About = { readonly who: string; readonly about: string };

const attemptTold = (reading: Reading, event: AttemptEvent, { who, about }: About): Told => {
  switch (event.type) {
    case 'call.started': {
      const running = reading.openCall(event.data.call)?.phase === 'started';
      const again = event.data.attempt > 1 ? `, attempt ${event.data.attempt}` : '';
      return { who, text: `started${again}`, ...(running && { mark: 'run', state: 'running' }) };
    }
    case 'call.result':
      return { who, ...outcomeTold(reading, event.data.outcome, { who, about }), ms: event.data.ms, by: who };
    case 'call.late': {
      const { text, mark = 'fact' } = outcomeTold(reading, event.data.outcome, { who, about });
      return { who, mark, text: `late, after it was given up: ${text}`, ms: event.data.ms, by: who };
    }
    case 'call.retry':
      return { who, text: `again, attempt ${event.data.attempt} (${event.data.reason})`, by: 'recovery' };
    case 'call.reconciled':
      return { who, ...reconciledTold(event.data.answer), by: who };
    case 'call.failed':
      return { who, mark: 'fail', text: `${firstLine(event.data.message)} (${event.data.code})` };
    case 'call.doubted':
      return {
        who,
        mark: 'doubt',
        text: `in doubt, ${DOUBTS.get(event.data.reason) ?? event.data.reason}`,
        by: 'recovery',
      };
    default:
      return event satisfies never;
  }
};

const DOUBTS: ReadonlyMap<string, string> = new Map([
  ['process-lost', 'no result recorded'],
  ['reconcile-unknown', 'the tool cannot tell'],
  ['timeout', 'no result in time'],
]);

const outcomeTold = (
  reading: Reading,
  outcome: Outcome,
  { who, about }: About,
): { readonly text: string; readonly mark?: Mark } => {
  switch (outcome.kind) {
    case 'ok': {
      const labels = toolOf(reading.state.agent, who)?.labels;
      const size = outcome.cut
        ? `${formatBytes(outcome.cut.bytes)}, shortened`
        : contentBrief(outcome.content);
      const parts = [about, size, labels?.untrusted === true ? 'untrusted' : ''];
      return { mark: 'ok', text: parts.filter((part) => part !== '').join(', ') };
    }
    case 'failed':
      return { mark: 'fail', text: `${firstLine(outcome.message)} (${outcome.code})` };
    case 'unknown':
      return {
        mark: 'fact',
        text: `ended without a result: ${firstLine(outcome.message)} (${outcome.code})`,
      };
    default:
      return outcome satisfies never;
  }
};

const reconciledTold = (
  answer: EventData['call.reconciled']['answer'],
): { readonly mark?: Mark; readonly text: string } => {
  if (answer.happened === true)
    return { mark: 'ok', text: `has checked: it happened, ${contentBrief(answer.content)}` };
  if (answer.happened === false) return { text: 'has checked: it did not happen' };
  return { text: `cannot tell: ${firstLine(answer.note)}` };
};

const decidedTold = (
  { decision, by }: EventData['approval.decided'],
  tool: string,
  options: LineOptions,
): Told => {
  const who = actorName(by, options);
  switch (decision.do) {
    case 'approve':
      return { who, text: `approved ${tool}`, by: by.name };
    case 'edit':
      return { who, text: `changed ${tool}: ${argumentsBrief(decision.args)}`, by: by.name };
    case 'reject':
      return { who, mark: 'fail', text: `rejected ${tool}${because(decision.reason)}`, by: by.name };
    case 'respond':
      return { who, text: `answered instead of ${tool}: ${contentBrief(decision.content)}`, by: by.name };
    default:
      return decision satisfies never;
  }
};

const settledTold = (
  { settlement, by, note }: EventData['call.settled'],
  tool: string,
  options: LineOptions,
): Told => {
  const who = actorName(by, options);
  const words = {
    happened: `${tool} happened`,
    'not-happened': `${tool} did not happen`,
    'give-up': `${tool} stays unknown`,
  }[settlement.answer];
  return { who, text: `settled: ${words}${because(note)}`, by: by.name };
};

export const TURN_MARKS: Readonly<Record<EventData['turn.ended']['outcome'], Mark>> = {
  done: 'ok',
  failed: 'fail',
  refused: 'fail',
  stopped: 'fail',
  cancelled: 'cancelled',
};

const turnText = ({ turn, outcome, message, empty }: EventData['turn.ended']): string => {
  const words = {
    done: empty ? 'ended without an answer' : 'done',
    failed: 'failed',
    refused: 'declined',
    stopped: 'stopped',
    cancelled: 'cancelled',
  }[outcome];
  return `turn ${turn} ${words}${because(message)}`;
};
