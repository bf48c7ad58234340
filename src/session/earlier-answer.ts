/** An answer to a call that the state has long forgotten: what the log says was answered, and whether this is it again. */
import { canonical, digestOf } from '../event/canonical.ts';
import type { LogEvent } from '../event/events.ts';
import { again, type Command, type Decision } from './decide.ts';

export const earlierAnswer = (events: readonly LogEvent[], command: Command): Decision | undefined => {
  if (command.kind === 'decide') return earlierDecision(events, command);
  return command.kind === 'settle' ? earlierSettlement(events, command) : undefined;
};

const earlierDecision = (
  events: readonly LogEvent[],
  command: Extract<Command, { kind: 'decide' }>,
): Decision | undefined => {
  const event = events.findLast((one) => one.type === 'approval.decided' && one.data.call === command.call);
  if (event?.type !== 'approval.decided') return undefined;
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
