/** What became of each question of a session, told from the log alone: the history of approvals. */
import type { Actor } from '../event/content.ts';
import type { Mode } from '../event/definition.ts';
import type { LogEvent } from '../event/events.ts';
import { questions, type Question } from './approval.ts';
import { cancelledBy, decisionOn, type GivenDecision } from './fate.ts';
import type { SessionRecord } from './record.ts';

/** `seq` and `at` are those of the event that ended it. */
type At = { readonly seq: number; readonly at: number };

export type QuestionEnd =
  /** Waits for a decision. */
  | { readonly kind: 'open' }
  /** Decided, and nothing has come of it yet. */
  | { readonly kind: 'decided' }
  | ({ readonly kind: 'started' } & At)
  /** A person rejected it or answered in place of the tool: nothing ran. */
  | ({ readonly kind: 'answered' } & At)
  /** Edited, and a rule asks about the new arguments; or approved, and what it was bound to had changed. */
  | ({ readonly kind: 'asked-again'; readonly why: 'edited' | 'changed' } & At)
  | ({ readonly kind: 'lapsed' } & At)
  | ({ readonly kind: 'withdrawn'; readonly by: Actor | undefined } & At)
  | ({ readonly kind: 'withheld'; readonly mode: Mode } & At)
  /** Policy, schema or the tool itself refused what was to run. */
  | ({ readonly kind: 'refused'; readonly code: string; readonly message: string } & At);

export type AskedQuestion = Question & {
  readonly decided: GivenDecision | undefined;
  readonly end: QuestionEnd;
};

/** Every question of a session with its end, oldest first. */
export const questionHistory = (record: SessionRecord): readonly AskedQuestion[] =>
  questions(record).map((question) => {
    const decided = decisionOn(record, question.call, question.digest);
    return { ...question, decided, end: endOf(record, question, decided) };
  });

const endOf = (
  { events }: SessionRecord,
  { call, askedSeq }: Question,
  decided: GivenDecision | undefined,
): QuestionEnd => {
  if (decided?.decision.do === 'reject' || decided?.decision.do === 'respond')
    return { kind: 'answered', seq: decided.seq, at: decided.at };
  for (const event of events.slice(askedSeq)) {
    if (!('call' in event.data) || event.data.call !== call) continue;
    const end = endBy(event, events, decided);
    if (end) return end;
  }
  return { kind: decided ? 'decided' : 'open' };
};

const endBy = (
  event: LogEvent,
  events: readonly LogEvent[],
  decided: GivenDecision | undefined,
): QuestionEnd | undefined => {
  const { seq, at } = event;
  switch (event.type) {
    case 'call.started':
      return { kind: 'started', seq, at };
    case 'approval.invalidated':
      return { kind: 'asked-again', why: 'changed', seq, at };
    case 'approval.requested':
      return { kind: 'asked-again', why: decided?.decision.do === 'edit' ? 'edited' : 'changed', seq, at };
    case 'approval.expired':
      return { kind: 'lapsed', seq, at };
    case 'call.withheld':
      return { kind: 'withheld', mode: event.data.mode, seq, at };
    case 'call.rejected':
      return { kind: 'refused', code: event.data.reason, message: event.data.message, seq, at };
    case 'call.refused':
      return { kind: 'refused', code: event.data.code, message: event.data.message, seq, at };
    case 'call.cancelled':
      return { kind: 'withdrawn', by: cancelledBy(events, seq), seq, at };
    default:
      return undefined;
  }
};

/** How a question ended, in one clause, without who decided: "it ran", "lapsed", "withheld: the mode was read-only". */
export const endWords = (end: QuestionEnd): string => {
  switch (end.kind) {
    case 'open':
      return 'waits';
    case 'decided':
      return 'not started yet';
    case 'started':
      return 'started';
    case 'answered':
      return 'nothing ran';
    case 'asked-again':
      return end.why === 'edited'
        ? 'asked again about the edit'
        : 'asked again: what it would act on had changed';
    case 'lapsed':
      return 'lapsed, nothing ran';
    case 'withdrawn':
      return end.by === undefined ? 'withdrawn by a cancel' : `withdrawn: ${end.by.name} cancelled the turn`;
    case 'withheld':
      return `withheld, the mode was ${end.mode}`;
    case 'refused':
      return `did not run: ${end.code}`;
    default:
      return end satisfies never;
  }
};
