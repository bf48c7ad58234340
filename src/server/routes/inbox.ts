/** The inbox as a page needs it: cards with what can be told beforehand, what an answer would do, and who was faster. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import { decodeArguments } from '../../effect/arguments.ts';
import { exactly } from '../../effect/grant.ts';
import type { ApprovalDecision } from '../../event/events.ts';
import { objection } from '../../session/may-decide.ts';
import { findCall } from '../../session/state.ts';
import { approvals, byAge, questions, type Approval } from '../../view/approval.ts';
import { argumentsPatch, prettyArguments, unshownLeaves } from '../../view/arguments.ts';
import { tryEdit, trySettle, type Settling } from '../../view/consequence.ts';
import { byDoubtAge, doubts, type Doubt } from '../../view/doubt.ts';
import { fateOf } from '../../view/fate.ts';
import type { SessionRecord } from '../../view/record.ts';
import { body, json, place, PROBLEM } from '../answer.ts';
import type { Door, DoorEnv } from '../door.ts';
import { allow } from '../guard.ts';
import {
  editTrialShape,
  fateShape,
  inboxShape,
  newTrial,
  settleTrialShape,
  type Barrier,
  type DoubtCard,
  type InboxCard,
  type QuestionCard,
} from '../inbox-shapes.ts';
import { ProblemError } from '../problem.ts';
import { callId, newSettlement, sessionId } from '../schemas.ts';
import { recordFor } from '../shown.ts';
import type { Caller } from '../tokens.ts';
import { cards, nextOf } from './people.ts';

const params = z.object({ session: sessionId, call: callId });

const inbox = createRoute({
  method: 'get',
  path: '/inbox',
  summary:
    'What waits for people: questions and calls in doubt, each with what can be told before it is answered.',
  request: { query: z.object({ session: sessionId.optional(), after: place.optional() }) },
  responses: { 200: json(inboxShape, 'What waits, the oldest of a page first.'), default: PROBLEM },
});

const editTrial = createRoute({
  method: 'post',
  path: '/sessions/{session}/calls/{call}/edit-trial',
  summary: 'Hold other arguments against the schema and the policy. Records nothing.',
  request: { params, body: body(newTrial) },
  responses: { 200: json(editTrialShape, 'What would follow.'), default: PROBLEM },
});

const settlementTrial = createRoute({
  method: 'post',
  path: '/sessions/{session}/calls/{call}/settlement-trial',
  summary: 'Say what would follow from an answer about a call in doubt. Records nothing.',
  request: { params, body: body(newSettlement) },
  responses: { 200: json(settleTrialShape, 'What would follow.'), default: PROBLEM },
});

const fate = createRoute({
  method: 'get',
  path: '/sessions/{session}/calls/{call}/fate',
  summary: 'What became of a call that waited for a person: who answered, and what.',
  request: {
    params,
    query: z.object({
      of: z
        .enum(['decide', 'settle'])
        .optional()
        .openapi({ description: 'Of its question (the default), or of its doubt.' }),
    }),
  },
  responses: { 200: json(fateShape, 'What became of it.'), default: PROBLEM },
});

export const inboxRoutes = (app: OpenAPIHono<DoorEnv>, door: Door): void => {
  app.openapi(inbox, async (context) => {
    const caller = allow(context, 'read');
    const found = await cards(door, caller, {
      ...context.req.valid('query'),
      statuses: ['waiting', 'in-doubt'],
      read: (record): readonly InboxCard[] => [
        ...approvals(record).map((one) => questionCard(door, record, one, caller)),
        ...doubts(record).map((one) => doubtCard(record, one, caller)),
      ],
    });
    const { unread } = found;
    return context.json({ items: found.cards.toSorted(inOrder), unread, ...nextOf(context, found) }, 200);
  });
  app.openapi(editTrial, async (context) => {
    const caller = allow(context, 'read');
    const { session, call } = context.req.valid('param');
    const { digest, args } = context.req.valid('json');
    const record = await recordFor(door, caller, session);
    const standing = findCall(record.state, call);
    if (standing?.phase !== 'asking')
      throw new ProblemError('not-asked', `Call ${call} does not wait for a decision.`);
    const question = questions(record).findLast((one) => one.call === call && one.digest === digest);
    if (!question || standing.digest !== digest)
      throw new ProblemError('digest-mismatch', `What you saw is not what stands now about call ${call}.`);
    const tried = tryEdit(record, question, args, caller.actor);
    if (tried.kind !== 'valid') return context.json(tried, 200);
    return context.json({ ...tried, patch: argumentsPatch(question.args, tried.args) }, 200);
  });
  app.openapi(settlementTrial, async (context) => {
    const caller = allow(context, 'read');
    const { session, call } = context.req.valid('param');
    const { settlement, note } = context.req.valid('json');
    const record = await recordFor(door, caller, session);
    const settling: Settling = { call, settlement, by: caller.actor, ...(note !== undefined && { note }) };
    const tried = trySettle(record, settling);
    if (!tried) throw new ProblemError('not-in-doubt', `Call ${call} is not in doubt.`);
    return context.json(tried, 200);
  });
  app.openapi(fate, async (context) => {
    const caller = allow(context, 'read');
    const { session, call } = context.req.valid('param');
    const { of = 'decide' } = context.req.valid('query');
    return context.json(fateOf(await recordFor(door, caller, session), call, of), 200);
  });
};

/** Questions before doubts, each the oldest first. */
const inOrder = (one: InboxCard, other: InboxCard): number => {
  if (one.kind === 'question') return other.kind === 'question' ? byAge(one, other) : -1;
  return other.kind === 'question' ? 1 : byDoubtAge(one, other);
};

const questionCard = (
  { clock }: Door,
  { state }: SessionRecord,
  approval: Approval,
  caller: Caller,
): QuestionCard => {
  const call = findCall(state, approval.call);
  const decoded = decodeArguments(approval.args);
  const exact = decoded.ok ? exactly(decoded.value) : undefined;
  const barrier = (decision: ApprovalDecision): Barrier | null =>
    noRole(caller) ??
    (call && objection(state, call, { decision, by: caller.actor, now: clock.now() })) ??
    null;
  const mayGrant =
    exact?.ok === true && barrier({ do: 'approve', grant: { when: exact.when, forMs: 1 } }) === null;
  return {
    ...approval,
    kind: 'question',
    pretty: prettyArguments(approval.args),
    unshown: (approval.preview ? unshownLeaves(approval.args, approval.preview) : []).map(
      ({ pointer, value }) => ({
        at: pointer,
        text: typeof value === 'string' ? JSON.stringify(value) : String(value),
      }),
    ),
    barriers: { approve: barrier({ do: 'approve' }), reject: barrier({ do: 'reject' }) },
    exact: mayGrant ? exact.when : null,
  };
};

const doubtCard = (record: SessionRecord, doubt: Doubt, caller: Caller): DoubtCard => {
  const { call } = doubt;
  const by = caller.actor;
  return {
    ...doubt,
    kind: 'doubt',
    pretty: prettyArguments(doubt.args),
    barrier: noRole(caller) ?? null,
    follows: {
      notHappened: trySettle(record, { call, settlement: { answer: 'not-happened' }, by }) ?? null,
      giveUp: trySettle(record, { call, settlement: { answer: 'give-up' }, by }) ?? null,
    },
  };
};

const noRole = ({ roles, actor }: Caller): Barrier | undefined =>
  roles.has('approve')
    ? undefined
    : {
        code: 'role-missing',
        message: `The token of ${actor.name} may read here, and not decide.`,
      };
