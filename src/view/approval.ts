/** What waits for a person's decision, and every question that was asked before: what a card shows, as data. */
import { RULE_ALWAYS, RULE_EFFECTS, RULE_TWIN } from '../effect/policy.ts';
import type { Digest } from '../event/canonical.ts';
import { callPosition, makerOf, type CallId, type CallPosition } from '../event/call-id.ts';
import type { Actor } from '../event/content.ts';
import type { AgentDefinition, SeenLabel, ToolDefinition } from '../event/definition.ts';
import type { LogEvent } from '../event/events.ts';
import type { Json } from '../event/json.ts';
import { evolve, initial } from '../session/evolve.ts';
import { findCall, knownCalls, toolOf, type SessionState } from '../session/state.ts';
import type { Preview } from '../tool/preview.ts';
import { decisionOn, type GivenDecision } from './fate.ts';
import { ownDomains } from './domains.ts';
import { grants, type StandingGrant } from './grant.ts';
import { outsideTexts, type OutsideText } from './outside.ts';
import { questionChanges, type QuestionChange } from './question-change.ts';
import type { SessionRecord } from './record.ts';
import { termsOf, type QuestionTerms } from './terms.ts';

/** Arguments that a person changed. */
export type ArgumentsEdit = {
  readonly seq: number;
  readonly at: number;
  readonly by: Actor;
  /** Canonical. */
  readonly before: string;
  readonly after: string;
};

/** One question as it was put to people, with exactly what its digest is bound to. */
export type Question = {
  readonly session: string;
  readonly agent: string;
  readonly title: string;
  readonly call: CallId;
  readonly position: CallPosition;
  /** The call that makes this one, where the model does not make it itself. */
  readonly maker: Maker | undefined;
  readonly tool: string;
  /** The tool as the session recorded it. */
  readonly definition: ToolDefinition | undefined;
  /** Canonical arguments. */
  readonly args: string;
  readonly preview: Preview | undefined;
  /** What the tool bound the preview to. */
  readonly base: Json | undefined;
  readonly rule: string;
  /** Why the rule asks, in words. */
  readonly reason: string | undefined;
  readonly terms: QuestionTerms;
  /** Who asked for the turn. */
  readonly asker: Actor;
  /** Labels of the texts that stood in the request which proposed the call. */
  readonly seen: readonly SeenLabel[];
  readonly digest: Digest;
  readonly askedSeq: number;
  readonly askedAt: number;
  /** 1 for the first question about this call. */
  readonly round: number;
  readonly edits: readonly ArgumentsEdit[];
};

/** A call that makes calls: a program, for example, whose code stands in its arguments. */
export type Maker = { readonly call: CallId; readonly tool: string; /** Canonical. */ readonly args: string };

/** Why a call that was asked about before is asked about again. */
export type AskedBefore = {
  readonly digest: Digest;
  readonly decided: GivenDecision | undefined;
  readonly changes: readonly QuestionChange[];
};

export type Approval = Question & {
  /** Texts of strangers, and private ones, that stood in the request. */
  readonly outside: readonly OutsideText[];
  /** Leave that stands in the session; none of it covers this call. */
  readonly grants: readonly StandingGrant[];
  readonly before: AskedBefore | undefined;
  /** Domains in the asker's own words and the agent's instructions, with which others are compared. */
  readonly known: readonly string[];
};

/** Every question of a session, in order. */
export const questions = ({ events, state: { session } }: SessionRecord): readonly Question[] => {
  let state = initial(session);
  const prepared = new Map<string, Prepared>();
  const edits = new Map<string, readonly ArgumentsEdit[]>();
  const asked: Question[] = [];
  for (const event of events) {
    const before = state;
    state = evolve(before, event);
    if (event.type === 'call.prepared') prepared.set(event.data.call, event.data);
    if (event.type === 'call.proposed') prepared.delete(event.data.call);
    if (event.type === 'approval.decided') noteEdit(edits, event, before);
    if (event.type === 'approval.requested')
      asked.push(
        questionOf(state, event, {
          prepared: prepared.get(event.data.call),
          edits: edits.get(event.data.call) ?? [],
        }),
      );
    if (event.type === 'approval.escalated') noteEscalation(asked, event, state);
  }
  return asked;
};

/** The question is the same; those who may decide it are more. */
const noteEscalation = (
  asked: Question[],
  { seq, at, data }: Extract<LogEvent, { type: 'approval.escalated' }>,
  state: SessionState,
): void => {
  const index = asked.findLastIndex(({ call }) => call === data.call);
  const question = asked[index];
  if (!question) return;
  const terms = { ...termsOf(findCall(state, data.call)), escalated: { seq, at, to: data.to } };
  asked[index] = { ...question, terms };
};

/** The questions that stand, oldest first. */
export const approvals = (record: SessionRecord): readonly Approval[] => {
  const standing = knownCalls(record.state).filter((call) => call.phase === 'asking');
  if (standing.length === 0) return [];
  const asked = questions(record);
  return standing
    .flatMap((call) => asked.findLast((one) => one.call === call.id && one.digest === call.digest) ?? [])
    .map((question) => ({
      ...question,
      outside: outsideTexts(record, question.call, question.args),
      grants: grants(record),
      before: askedBefore(record, asked, question),
      known: ownDomains(record),
    }))
    .toSorted(byAge);
};

const askedBefore = (
  record: SessionRecord,
  asked: readonly Question[],
  now: Question,
): AskedBefore | undefined => {
  const earlier = asked.findLast(({ call, askedSeq }) => call === now.call && askedSeq < now.askedSeq);
  if (!earlier) return undefined;
  const { call, digest } = earlier;
  return { digest, decided: decisionOn(record, call, digest), changes: questionChanges(earlier, now) };
};

export const byAge = (
  one: Pick<Question, 'askedAt' | 'session' | 'askedSeq'>,
  other: Pick<Question, 'askedAt' | 'session' | 'askedSeq'>,
): number => {
  if (one.askedAt !== other.askedAt) return one.askedAt - other.askedAt;
  if (one.session !== other.session) return one.session < other.session ? -1 : 1;
  return one.askedSeq - other.askedSeq;
};

type Prepared = Extract<LogEvent, { type: 'call.prepared' }>['data'];

const noteEdit = (
  edits: Map<string, readonly ArgumentsEdit[]>,
  event: Extract<LogEvent, { type: 'approval.decided' }>,
  before: SessionState,
): void => {
  const { call, decision, by } = event.data;
  if (decision.do !== 'edit') return;
  const edit = {
    seq: event.seq,
    at: event.at,
    by,
    before: findCall(before, call)?.args ?? '',
    after: decision.args,
  };
  edits.set(call, [...(edits.get(call) ?? []), edit]);
};

/** A question outside a turn: no log that the runtime wrote has one. */
const NOBODY: Actor = { kind: 'runtime', name: '' };

const questionOf = (
  state: SessionState,
  { seq, at, data }: Extract<LogEvent, { type: 'approval.requested' }>,
  { prepared, edits }: { prepared: Prepared | undefined; edits: readonly ArgumentsEdit[] },
): Question => {
  const call = findCall(state, data.call);
  return {
    session: state.session,
    agent: state.agent.name,
    title: state.title,
    call: data.call,
    position: callPosition(data.call),
    maker: makingCallOf(state, data.call),
    tool: call?.tool ?? '',
    definition: call && toolOf(state.agent, call.tool),
    args: call?.args ?? '',
    preview: prepared && previewOf(prepared.preview),
    base: prepared?.base,
    rule: data.rule,
    reason: reasonOf(state.agent, data.rule),
    terms: termsOf(call),
    asker: state.active?.by ?? NOBODY,
    seen: call?.seen ?? [],
    digest: data.digest,
    askedSeq: seq,
    askedAt: at,
    round: call?.round ?? 1,
    edits,
  };
};

const makingCallOf = (state: SessionState, call: CallId): Maker | undefined => {
  const maker = makerOf(call);
  const found = maker && findCall(state, maker);
  return found && { call: found.id, tool: found.tool, args: found.args };
};

/** A recorded preview is JSON that some build of a tool made: what is no preview in shape is shown as data. */
export const previewOf = (recorded: Readonly<Record<string, unknown>>): Preview => {
  const { title, blocks } = recorded;
  const whole = typeof title === 'string' && Array.isArray(blocks) && blocks.every(isBlock);
  if (whole) return recorded as unknown as Preview;
  return {
    title: typeof title === 'string' ? title : '',
    blocks: [{ kind: 'text', title: 'preview', text: JSON.stringify(recorded, null, 2) }],
  };
};

const BLOCK_LISTS: Readonly<Record<string, readonly string[]>> = {
  text: [],
  fields: ['fields'],
  diff: [],
  cells: ['changes'],
  mail: ['to', 'cc', 'bcc', 'attachments'],
  calendar: ['conflicts'],
  http: ['headers'],
};

const isBlock = (block: unknown): boolean => {
  if (typeof block !== 'object' || block === null) return false;
  const { kind } = block as { readonly kind?: unknown };
  const lists = typeof kind === 'string' ? BLOCK_LISTS[kind] : undefined;
  return lists?.every((name) => Array.isArray((block as Record<string, unknown>)[name])) ?? false;
};

/** A map: a rule may be called "__proto__". */
const RULE_WORDS: ReadonlyMap<string, string> = new Map([
  [RULE_ALWAYS, 'This tool always asks.'],
  [RULE_EFFECTS, 'This tool changes something, and no rule lets it run without a person.'],
  [RULE_TWIN, 'The same call with the same arguments was in doubt before in this session.'],
]);

const reasonOf = (agent: AgentDefinition, rule: string): string | undefined =>
  RULE_WORDS.get(rule) ?? agent.policy.rules.find(({ id }) => id === rule)?.reason;
