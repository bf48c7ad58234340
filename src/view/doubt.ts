/** Calls that were started and whose end nobody recorded: what is known about each, for the person who settles it. */
import { idempotencyKey } from '../effect/key.ts';
import { callPosition, type CallId, type CallPosition } from '../event/call-id.ts';
import type { Outcome } from '../event/content.ts';
import type { ToolDefinition } from '../event/definition.ts';
import type { LogEvent } from '../event/events.ts';
import { stepCalls, toolOf, type CallState } from '../session/state.ts';
import type { Preview } from '../tool/preview.ts';
import { previewOf } from './approval.ts';
import type { SessionRecord } from './record.ts';

export type DoubtfulAttempt = {
  readonly attempt: number;
  readonly startedSeq: number;
  readonly startedAt: number;
  /** What came back from it, if anything did. */
  readonly outcome: Outcome | undefined;
};

export type LateResult = {
  readonly seq: number;
  readonly at: number;
  readonly attempt: number;
  readonly outcome: Outcome;
};

export type Reconciliation = {
  readonly seq: number;
  readonly at: number;
  readonly attempt: number;
  /** What the tool found out: nothing certain, else the call would not be in doubt. */
  readonly note: string;
};

export type Doubt = {
  readonly session: string;
  readonly agent: string;
  readonly title: string;
  readonly call: CallId;
  readonly position: CallPosition;
  readonly tool: string;
  readonly definition: ToolDefinition | undefined;
  /** Canonical arguments. */
  readonly args: string;
  readonly preview: Preview | undefined;
  /** What every attempt was given as its idempotency key. */
  readonly key: string;
  /** Attempts so far, the last one being the doubtful one. */
  readonly attempts: readonly DoubtfulAttempt[];
  readonly attempt: number;
  readonly startedAt: number;
  readonly since: number;
  readonly doubtedSeq: number;
  /** Kebab case: "process-lost", "timeout", or the code of what the tool threw. */
  readonly reason: string;
  /** What was thrown or ran out of time, in its own words. */
  readonly message: string | undefined;
  readonly reconciliations: readonly Reconciliation[];
  readonly late: readonly LateResult[];
  /** Its turn has ended: whatever is answered, nothing of it runs again. */
  readonly turnEnded: boolean;
};

/** Oldest first. */
export const doubts = (record: SessionRecord): readonly Doubt[] => {
  const { state } = record;
  const active = state.active ? stepCalls(state.active) : [];
  return [...state.leftOpen, ...active]
    .filter((call) => call.phase === 'in-doubt')
    .map((call) => doubtOf(record, call, !active.includes(call)))
    .toSorted(byDoubtAge);
};

export const byDoubtAge = (
  one: Pick<Doubt, 'since' | 'session' | 'doubtedSeq'>,
  other: Pick<Doubt, 'since' | 'session' | 'doubtedSeq'>,
): number => {
  if (one.since !== other.since) return one.since - other.since;
  if (one.session !== other.session) return one.session < other.session ? -1 : 1;
  return one.doubtedSeq - other.doubtedSeq;
};

const isAbout = (event: LogEvent, call: CallId): boolean => 'call' in event.data && event.data.call === call;

const doubtOf = (record: SessionRecord, call: CallState, turnEnded: boolean): Doubt => {
  const { state } = record;
  const about = record.events.filter((event) => isAbout(event, call.id));
  const doubted = about.findLast((event) => event.type === 'call.doubted');
  const prepared = about.findLast((event) => event.type === 'call.prepared');
  const attempts = about.flatMap((event) => attemptOf(event, about));
  const outcome = attempts.at(-1)?.outcome;
  return {
    session: state.session,
    agent: state.agent.name,
    title: state.title,
    call: call.id,
    position: callPosition(call.id),
    tool: call.tool,
    definition: toolOf(state.agent, call.tool),
    args: call.args,
    preview: prepared?.type === 'call.prepared' ? previewOf(prepared.data.preview) : undefined,
    key: idempotencyKey(state.session, call.id, call.args),
    attempts,
    attempt: call.attempt,
    startedAt: attempts.at(-1)?.startedAt ?? 0,
    since: call.doubt?.since ?? 0,
    doubtedSeq: doubted?.seq ?? 0,
    reason: call.doubt?.reason ?? '',
    message: outcome?.kind === 'unknown' ? outcome.message : undefined,
    reconciliations: about.flatMap(reconciliationOf),
    late: about.flatMap(lateOf),
    turnEnded,
  };
};

const attemptOf = (event: LogEvent, about: readonly LogEvent[]): readonly DoubtfulAttempt[] => {
  if (event.type !== 'call.started') return [];
  const { attempt } = event.data;
  const result = about.find((other) => other.type === 'call.result' && other.data.attempt === attempt);
  const outcome = result?.type === 'call.result' ? result.data.outcome : undefined;
  return [{ attempt, startedSeq: event.seq, startedAt: event.at, outcome }];
};

const reconciliationOf = (event: LogEvent): readonly Reconciliation[] => {
  if (event.type !== 'call.reconciled') return [];
  const { attempt, answer } = event.data;
  const note =
    answer.happened === 'unknown'
      ? answer.note
      : `The tool found that attempt ${attempt} ${answer.happened ? 'happened' : 'did not happen'}.`;
  return [{ seq: event.seq, at: event.at, attempt, note }];
};

const lateOf = (event: LogEvent): readonly LateResult[] => {
  if (event.type !== 'call.late') return [];
  const { attempt, outcome } = event.data;
  return [{ seq: event.seq, at: event.at, attempt, outcome }];
};
