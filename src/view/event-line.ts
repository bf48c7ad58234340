/**
 * One event as a line: a mark, whom or what it is about, and a sentence. The same words on the terminal and the
 * pages. Filled marks are facts, rings are decisions, coloured ones are states.
 */
import { RULE_GRANT } from '../effect/policy.ts';
import type { Actor, Outcome } from '../event/content.ts';
import type { EventData, LogEvent } from '../event/events.ts';
import { isDecision } from '../event/events.ts';
import { toolOf } from '../session/state.ts';
import { decidedWords, noticeWords, reconciledWords, settledWords } from './answer-words.ts';
import { argumentsBrief, because, contentBrief, contentText, firstLine } from './brief.ts';
import { formatBytes } from './format.ts';
import type { Reading } from './reading.ts';
import { requestTold, responseTold } from './request-line.ts';
import { changeWords, DISCARDED_WORDS } from './selection-words.ts';
import { waitsFor, whoWords } from './terms.ts';

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

export type Told = Omit<EventLine, 'seq' | 'mark' | 'by' | 'who'> &
  Partial<Pick<EventLine, 'mark' | 'by' | 'who'>>;

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
    case 'session.forked': {
      const { parent, by } = event.data;
      const who = actorName(by, options);
      return { who, text: `branched off from ${parent.session} behind event ${parent.seq}`, by: by.name };
    }
    case 'agent.updated':
      return { text: `${event.data.agent.name} has a new definition`, by: event.data.program };
    case 'turn.accepted':
      return inputTold(event.data, options);
    case 'turn.steered':
      return inputTold(event.data, options);
    case 'turn.withdrawn':
      return {
        text: `turn ${event.data.turn} was taken back${because(event.data.reason)}`,
        by: event.data.by.name,
      };
    case 'turn.cancel_requested':
      return {
        who: actorName(event.data.by, options),
        text: `${options.me === event.data.by.name ? 'cancel' : 'cancels'} turn ${event.data.turn}${because(event.data.reason)}`,
        by: event.data.by.name,
      };
    case 'session.parked':
    case 'session.unparked':
    case 'mode.changed':
    case 'token.added':
    case 'token.revoked':
    case 'time.reached':
      return storeTold(event, options);
    case 'grant.revoked':
      return revokedTold(reading, event.data, options);
    case 'driver.changed':
      return {
        mark: 'fail',
        text: lostText(reading, event.seq, event.data.epoch),
        by: 'recovery',
      };
    case 'turn.ended':
      return { mark: TURN_MARKS[event.data.outcome], text: turnText(event.data) };
    case 'selection.changed':
    case 'compaction.requested':
    case 'history.summarised':
    case 'summary.discarded':
      return contextTold(event, options);
    case 'request.built':
    case 'request.refused':
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

type StoreEvent = Extract<
  LogEvent,
  {
    type:
      | 'mode.changed'
      | 'token.added'
      | 'token.revoked'
      | 'time.reached'
      | 'session.parked'
      | 'session.unparked';
  }
>;

const storeTold = (event: StoreEvent, options: LineOptions): Told => {
  switch (event.type) {
    case 'session.parked':
      return {
        mark: 'fail',
        text: `parked after ${event.data.tries} tries: ${event.data.message}`,
        by: event.data.reason,
      };
    case 'session.unparked':
      return {
        who: actorName(event.data.by, options),
        text: `unparked it${because(event.data.reason)}`,
        by: event.data.by.name,
      };
    case 'mode.changed': {
      const { scope, mode, by, reason } = event.data;
      const where = scope === 'store' ? 'the whole store' : 'this session';
      return {
        who: actorName(by, options),
        mark: mode === 'normal' ? 'fact' : 'wait',
        text: `${where} is ${mode} from here on${because(reason)}`,
        by: by.name,
      };
    }
    case 'token.added':
      return {
        text: `a token "${event.data.name}" was made (${event.data.roles.join(', ')})`,
        by: event.data.by.name,
      };
    case 'token.revoked':
      return { text: `the token ${event.data.id} was revoked`, by: event.data.by.name };
    case 'time.reached':
      return { text: 'a deadline was reached' };
    default:
      return event satisfies never;
  }
};

const revokedTold = (
  reading: Reading,
  { grant, by, reason }: EventData['grant.revoked'],
  options: LineOptions,
): Told => {
  const text = `took back the grant of ${grant} for ${reading.call(grant).tool}${because(reason)}`;
  return { who: actorName(by, options), text, by: by.name };
};

type ContextEvent = Extract<
  LogEvent,
  { type: 'selection.changed' | 'compaction.requested' | 'history.summarised' | 'summary.discarded' }
>;

const contextTold = (event: ContextEvent, options: LineOptions): Told => {
  switch (event.type) {
    case 'selection.changed': {
      const { by, reason } = event.data;
      const text = `${changeWords(event.data)}${because(reason)}`;
      return { who: actorName(by, options), text, by: by.name };
    }
    case 'compaction.requested':
      return { who: actorName(event.data.by, options), text: 'asked for a summary', by: event.data.by.name };
    case 'history.summarised':
      return { text: `the summary stands for events 1 to ${event.data.to} in later requests` };
    case 'summary.discarded':
      return { mark: 'fail', text: `no summary: ${DISCARDED_WORDS[event.data.reason]}` };
    default:
      return event satisfies never;
  }
};

const lostText = (reading: Reading, seq: number, epoch: number): string => {
  const lost = reading.lost.get(seq) ?? [];
  const what = lost.length === 0 ? '' : `; no result of ${lost.join(', ')}`;
  return `process lost, new driver, lease ${epoch}${what}`;
};

const inputTold = (
  { input, by, labels = [] }: Pick<EventData['turn.accepted'], 'input' | 'by' | 'labels'>,
  options: LineOptions,
): Told => {
  const body = contentText(input);
  return {
    who: actorName(by, options),
    text: firstLine(body),
    body,
    by: by.name,
    ...(labels.length > 0 && { detail: labels.join(', ') }),
  };
};

type CallEvent = Extract<LogEvent, { type: `call.${string}` | `approval.${string}` | 'notice.sent' }>;

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
      return { ...askedTold(reading, event, { who, about }), by: event.data.rule };
    case 'approval.decided':
      return {
        who: actorName(event.data.by, options),
        ...decidedWords(event.data.decision, who),
        by: event.data.by.name,
      };
    case 'call.rejected':
    case 'call.refused': {
      const reason = event.type === 'call.refused' ? event.data.code : event.data.reason;
      return { who, mark: 'fail', text: `${firstLine(event.data.message)} (${reason})`, by: 'policy' };
    }
    case 'approval.escalated':
      return { who, text: about, state: `went to ${whoWords(event.data.to)} as well` };
    case 'approval.expired':
      return { who, mark: 'cancelled', text: about, state: 'lapsed, nobody decided in time' };
    case 'approval.invalidated':
      return { who, mark: 'wait', text: about, state: 'changed since it was approved' };
    case 'call.withheld':
      return { who, mark: 'cancelled', text: about, state: `withheld, ${event.data.mode}` };
    case 'notice.sent':
      return { who, ...noticeWords(event.data) };
    case 'call.cancelled':
      return {
        who,
        mark: 'cancelled',
        text: cancelledText(event.data.fork, call.attempt > 0),
      };
    case 'call.settled':
      return {
        who: actorName(event.data.by, options),
        text: settledWords(event.data, who),
        by: event.data.by.name,
      };
    default:
      return attemptTold(reading, event, { who, about, grant: grantText(call.rule) });
  }
};

const cancelledText = (fork: EventData['call.cancelled']['fork'], started: boolean): string => {
  if (fork === 'unknown') return 'left behind: what became of it is not known in this branch';
  if (fork === 'not-run') return 'left behind: not run in this branch';
  return started ? 'stopped by the cancel' : 'not started, cancelled';
};

const askedTold = (reading: Reading, { seq, data }: Asked, { who, about }: About): Told => {
  const open = reading.openCall(data.call);
  return open?.phase === 'asking' && reading.call(data.call).asked?.seq === seq
    ? { who, mark: 'wait', text: about, state: waitsFor(open.terms?.by) }
    : { who, text: `${about}${about === '' ? '' : ', '}asked a person` };
};

type Asked = Extract<CallEvent, { type: 'approval.requested' }>;

const grantText = (rule: string): string =>
  rule.startsWith(RULE_GRANT) ? `by the grant of ${rule.slice(RULE_GRANT.length)}` : '';

type AttemptEvent = Extract<
  CallEvent,
  {
    type:
      | 'call.started'
      | 'call.result'
      | 'call.suspended'
      | 'call.late'
      | 'call.retry'
      | 'call.reconciled'
      | 'call.failed'
      | 'call.doubted';
  }
>;

type About = {
  readonly who: string;
  readonly about: string;
  /** The grant it ran under, which a person gave with an earlier call. */
  readonly grant?: string;
};

const attemptTold = (reading: Reading, event: AttemptEvent, { who, about, grant = '' }: About): Told => {
  switch (event.type) {
    case 'call.started': {
      const running = reading.openCall(event.data.call)?.phase === 'started';
      const again = event.data.attempt > 1 ? `, attempt ${event.data.attempt}` : '';
      return { who, text: `started${again}`, ...(running && { mark: 'run', state: 'running' }) };
    }
    case 'call.result':
      return {
        who,
        ...outcomeTold(reading, event.data.outcome, { who, about, grant }),
        ms: event.data.ms,
        by: who,
      };
    case 'call.suspended': {
      const { calls, ms } = event.data;
      const names = [...new Set(calls.map(({ tool }) => tool))].join(', ');
      const many = calls.length === 1 ? 'a call' : `${calls.length} calls`;
      return { who, text: `suspended for ${many} of ${names}`, ms, by: who };
    }
    case 'call.late': {
      const { text, mark = 'fact' } = outcomeTold(reading, event.data.outcome, { who, about });
      return { who, mark, text: `late, after it was given up: ${text}`, ms: event.data.ms, by: who };
    }
    case 'call.retry':
      return { who, text: `again, attempt ${event.data.attempt} (${event.data.reason})`, by: 'recovery' };
    case 'call.reconciled':
      return { who, ...reconciledWords(event.data.answer), by: who };
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
  { who, about, grant = '' }: About,
): { readonly text: string; readonly mark?: Mark } => {
  switch (outcome.kind) {
    case 'ok': {
      const labels = toolOf(reading.state.agent, who)?.labels;
      const size = outcome.cut
        ? `${formatBytes(outcome.cut.bytes)}, shortened`
        : contentBrief(outcome.content);
      const parts = [about, size, labels?.untrusted === true ? 'untrusted' : '', grant];
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

export const TURN_MARKS: Readonly<Record<EventData['turn.ended']['outcome'], Mark>> = {
  done: 'ok',
  failed: 'fail',
  refused: 'fail',
  stopped: 'fail',
  cancelled: 'cancelled',
};

const turnText = ({ turn, outcome, reason, message, empty }: EventData['turn.ended']): string => {
  const words = {
    done: empty ? 'ended without an answer' : 'done',
    failed: 'failed',
    refused: 'declined',
    stopped: 'stopped',
    cancelled: 'cancelled',
  }[outcome];
  const left = reason === 'forked' ? ' in this branch' : '';
  return `turn ${turn} ${words}${left}${because(message)}`;
};
