/** An answer to a call that the state has long forgotten: what the log says was answered, and whether this is it again. */
import { canonical, digestOf } from '../event/canonical.ts';
import type { LogEvent } from '../event/events.ts';
import type { CallId } from '../event/call-id.ts';
import { again, type Command, type Decision, type RefusalCode } from './decide.ts';

export const earlierAnswer = (events: readonly LogEvent[], command: Command): Decision | undefined => {
  switch (command.kind) {
    case 'decide':
      return earlierDecision(events, command);
    case 'settle':
      return earlierSettlement(events, command);
    case 'revoke':
      return earlierRevocation(events, command);
    default:
      return undefined;
  }
};

/** Nothing stands, and somebody took it back: whoever does it again has what was wanted. */
const earlierRevocation = (
  events: readonly LogEvent[],
  { call }: Extract<Command, { kind: 'revoke' }>,
): Decision | undefined =>
  events.some(({ type, data }) => type === 'grant.revoked' && (call === undefined || data.grant === call))
    ? { kind: 'replayed' }
    : undefined;

const earlierDecision = (
  events: readonly LogEvent[],
  command: Extract<Command, { kind: 'decide' }>,
): Decision | undefined => {
  const event = events.findLast((one) => one.type === 'approval.decided' && one.data.call === command.call);
  if (event?.type !== 'approval.decided') return undecided(events, command);
  const { decision, by, digest, key } = event.data;
  const decided = {
    do: decision.do,
    by,
    at: event.at,
    seq: event.seq,
    digest,
    content: digestOf(decision),
    key,
  };
  return again(command.call, decided, command);
};

type AboutCall = Extract<LogEvent, { readonly data: { readonly call: CallId } }>;

const refuse = (code: RefusalCode, message: string): Decision => ({ kind: 'refused', code, message });

/** The call is known and long closed: whoever comes too late is told how. */
const undecided = (
  events: readonly LogEvent[],
  { call }: Extract<Command, { kind: 'decide' }>,
): Decision | undefined => {
  const about = events.filter((one): one is AboutCall => 'call' in one.data && one.data.call === call);
  if (about.length === 0) return undefined;
  const cancelled = about.find((one) => one.type === 'call.cancelled');
  if (cancelled?.data.fork !== undefined)
    return refuse(
      'turn-cancelled',
      `Call ${call} stayed behind where this session was forked. Nothing is run here; the session it was forked from still asks.`,
    );
  if (cancelled) return refuse('turn-cancelled', `The turn of call ${call} was cancelled. Nothing is run.`);
  if (about.some(({ type }) => type === 'approval.expired'))
    return refuse('approval-expired', `The question about call ${call} has lapsed. Nothing is run.`);
  return refuse('not-asked', `Call ${call} does not wait for a decision.`);
};

const earlierSettlement = (
  events: readonly LogEvent[],
  { call, settlement, by, key }: Extract<Command, { kind: 'settle' }>,
): Decision | undefined => {
  const event = events.findLast((one) => one.type === 'call.settled' && one.data.call === call);
  if (event?.type !== 'call.settled') return undefined;
  if (canonical(event.data.settlement) === canonical(settlement) && event.data.by.name === by.name)
    return { kind: 'replayed' };
  if (key !== undefined && event.data.key === key)
    return {
      kind: 'refused',
      code: 'idempotency-key-reused',
      message: `The key "${key}" names another answer about call ${call}. Use a new key for a new answer.`,
    };
  return {
    kind: 'refused',
    code: 'already-settled',
    message: `Call ${call} was settled already, by ${event.data.by.name}. Your answer did nothing.`,
  };
};
