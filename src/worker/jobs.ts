/**
 * What a driver does in the world: model requests, previews, attempts, reconciliations. Each job ends in facts for
 * the log, always, and touches nothing else.
 */
import type { Clock, Timer } from '../clock.ts';
import { bug } from '../errors.ts';
import { decodeArguments } from '../effect/arguments.ts';
import { idempotencyKey } from '../effect/key.ts';
import type { ToolDefinition } from '../event/definition.ts';
import { isJson, sha256 } from '../event/canonical.ts';
import type { BlobRef } from '../event/content.ts';
import type { NewFact, RequestProblem } from '../event/events.ts';
import type { Json, JsonObject } from '../event/json.ts';
import { copyOf } from '../event/strict.ts';
import type { Blob, LogStore } from '../log/store.ts';
import type { Delta, ModelReply, ModelRequest, ReplyBytes } from '../model/model.ts';
import { withoutKeys } from '../model/provider/key-like.ts';
import { toolOf, type CallState, type SessionState } from '../session/state.ts';
import type { Preview } from '../tool/preview.ts';
import { isStandardSchema } from '../tool/schema.ts';
import type { Logger, Reconciled, Tool, ToolContext } from '../tool/tool.ts';
import type { Agent } from './agent.ts';
import { checkInput, refusalOf, runAttempt, type Checked, type Ended } from './attempt.ts';
import { counted } from './counted.ts';
import { reach, type FaultPlace, type Faults } from './fault-point.ts';
import { agentFor } from './kept-level.ts';
import { AttemptCalls, madeCalls } from './made-calls.ts';
import { priced, type PriceSource } from './priced.ts';
import type { ToolSlots } from './tool-slots.ts';
import { encodeResult } from './result.ts';
import { takenPreview } from './taken.ts';
import { describeThrown } from './thrown.ts';
import { watch } from './watch.ts';

/** A preview or a reconciliation must answer within this time. */
export const PREPARE_MS = 30_000;

/** Text of a model as it comes, with the attempt that it belongs to. */
export type StreamDelta = Delta & { readonly turn: number; readonly step: number; readonly attempt: number };

export type News = { readonly fact: NewFact; readonly blobs: readonly Blob[] };

export type JobContext = {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDelta: (delta: StreamDelta) => void;
  /** What a usage costs; asked where the model does not say it itself. */
  readonly prices: PriceSource;
  readonly faults?: Faults | undefined;
  readonly blob: LogStore['blob'];
  readonly slots: ToolSlots;
  /** News that comes after its job has ended, or a second time. */
  readonly onLate: (news: News) => void;
};

const news = (fact: NewFact, blobs: readonly Blob[] = []): News => ({ fact, blobs });

export const sleep = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });

export type RequestJob = {
  readonly body: () => string;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
};

export const requestJob = async (
  job: RequestJob,
  state: SessionState,
  { agent, clock, onDelta, onLate, faults, prices, log }: JobContext,
  abort: AbortController,
): Promise<News> => {
  const { turn, step, attempt } = job;
  const began = clock.monotonic();
  const sentAt = clock.now();
  const { requestMs: timeoutMs } = state.agent.limits;
  const place = (): FaultPlace => ({
    session: state.session,
    attempt,
    what: `request ${turn}.${step}`,
    timeoutMs,
  });
  let twice = false;
  const send = async (): Promise<ModelReply> => {
    await reach(faults, 'request.before', place);
    const answer = await agent.model.send(request);
    twice = (await reach(faults, 'request.after', place)) === 'again';
    return answer;
  };
  const request: ModelRequest = {
    body: job.body,
    agent: state.agent,
    turn,
    step,
    attempt,
    modelCall: state.modelReplies + 1,
    signal: abort.signal,
    onDelta: (delta) => onDelta({ ...delta, turn, step, attempt }),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => sleep(clock, ms, signal),
  };
  const reply = counted(await bounded(send(), timeoutMs, clock, abort), log);
  const ms = Math.max(0, Math.round(clock.monotonic() - began));
  const { kind, bytes, ...data } = await priced(reply, state.agent.model, { prices, at: sentAt, log });
  const type = kind === 'response' ? 'response.received' : 'request.failed';
  const { raw, blobs } = stored(bytes);
  const fact = { type, data: { turn, step, attempt, ms, ...data, ...raw } } as NewFact;
  if (canBeRecorded(fact)) {
    if (twice) onLate(news(fact, blobs));
    return news(fact, blobs);
  }
  const message =
    'The model answered with something that no log can hold, for example a number that is none.';
  const problem: RequestProblem = { kind: 'bad-request', message };
  const failed = { turn, step, attempt, ms, problem, maybeBilled: true, ...raw };
  return news({ type: 'request.failed', data: failed }, blobs);
};

type Stored = { readonly raw?: { readonly raw: BlobRef }; readonly blobs: readonly Blob[] };

/** A reply without a byte needs no blob. */
const stored = (reply: ReplyBytes | undefined): Stored => {
  if (!reply || reply.bytes.length === 0) return { blobs: [] };
  const { bytes, media } = reply;
  const digest = sha256(bytes);
  return { raw: { raw: { digest, bytes: bytes.length, media } }, blobs: [{ digest, bytes }] };
};

/** Foreign code may hand over what its types rule out. It is an answer like any other, not a lost session. */
const canBeRecorded = ({ data }: NewFact): boolean => isJson(data);

/** How long a model that ran out of time may take to hand over what had come of its reply. */
export const REPLY_GRACE_MS = 1000;

/**
 * A model that does not answer, or does not stop when told, is given up; what it may cost is said. What it still
 * hands over after the end of its time is kept: an answer that is there counts, a part of one is a part of one.
 */
const bounded = async (
  sent: Promise<ModelReply>,
  requestMs: number,
  clock: Clock,
  abort: AbortController,
): Promise<ModelReply> => {
  const { promise, resolve } = Promise.withResolvers<ModelReply>();
  const giveUp = (problem: RequestProblem): void => resolve({ kind: 'failed', maybeBilled: true, problem });
  const late: RequestProblem = {
    kind: 'timeout',
    message: `The model gave no answer within ${requestMs} ms.`,
  };
  let grace: Timer | undefined;
  const end = watch({
    clock,
    signal: abort.signal,
    timeoutMs: requestMs,
    late: () => {
      if (abort.signal.aborted) return;
      grace = clock.after(REPLY_GRACE_MS, () => giveUp(late));
      abort.abort(new Error('request timed out'));
    },
    deaf: () => giveUp({ kind: 'cancelled', message: 'The request was cancelled.' }),
  });
  // The contract says that a model never throws; one that does is a failure, not a lost session.
  sent.then(resolve, (thrown: unknown) => {
    const message = withoutKeys(describeThrown(thrown).message);
    const problem: RequestProblem = { kind: 'bad-response', message: `The model threw: ${message}` };
    giveUp(problem);
  });
  const reply = await promise;
  end();
  grace?.cancel();
  // It was told to stop and says so: what it was told for is the reason.
  return grace && reply.kind === 'failed' ? { ...reply, maybeBilled: true, problem: late } : reply;
};

type Hand = { readonly tool: Tool; readonly definition: ToolDefinition };

/** The code of a call's tool, if it is still the tool that the record describes. */
export const handOf = (
  state: SessionState,
  agent: Agent,
  call: CallState,
): Hand | { readonly refused: News } => {
  const definition = toolOf(state.agent, call.tool);
  const here = agentFor(state.agent, agent);
  const tool = here.tools.get(call.tool);
  const current = here.definition.tools.find((other) => other.name === call.tool);
  if (tool && definition && current?.digest === definition.digest) return { tool, definition };
  const end = call.attempt === 0 ? 'The call was not run.' : 'The call was not started again.';
  const message = tool
    ? `The definition of ${call.tool} has changed since it was offered. ${end}`
    : `This build has no tool called ${call.tool}. ${end}`;
  const code = tool ? 'tool-changed' : 'tool-missing';
  return { refused: news({ type: 'call.refused', data: { call: call.id, code, message } }) };
};

const placeOf =
  ({ session }: SessionState, { id, tool, attempt }: CallState) =>
  (): FaultPlace => ({ session, call: id, attempt, what: tool });

const contextOf = (
  state: SessionState,
  call: CallState,
  { clock, log }: JobContext,
  { signal, attempt = call.attempt, calls = new AttemptCalls([]) }: Given,
): ToolContext => {
  const context: ToolContext = {
    signal,
    idempotencyKey: idempotencyKey(state.session, call.id, call.args),
    attempt,
    call: `${state.session} ${call.id}`,
    log,
    now: () => clock.now(),
    base: call.prepared?.base as Json | undefined,
    startedAt: call.startedAt ?? clock.now(),
    made: [],
    callTool: (name, args) => calls.make({ tool: name, args }),
  };
  // Whoever looks at them compares by itself. A getter costs more than all the rest, and few calls have made any.
  if (calls.any) Object.defineProperty(context, 'made', { enumerable: true, get: () => calls.handOver() });
  return context;
};

type Given = { readonly signal: AbortSignal; readonly attempt?: number; readonly calls?: AttemptCalls };

type Input =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: { readonly code: string; readonly message: string } };

/** A promise only where the tool's schema answers with one. */
const inputOf = (tool: Tool, call: CallState): Input | Promise<Input> => {
  const decoded = decodeArguments(call.args);
  if (!decoded.ok) throw bug('recorded arguments can be decoded', { call: call.id });
  try {
    // A copy: a tool that changes its input must not change what the next call with the same text is given.
    const checked = checkInput(tool, copyOf(decoded.value));
    return checked instanceof Promise ? checked.then(checkedInput, refusedInput) : checkedInput(checked);
  } catch (thrown) {
    return refusedInput(thrown);
  }
};

const checkedInput = (checked: Checked): Input =>
  checked.ok
    ? { ok: true, value: checked.input }
    : { ok: false, refusal: { code: 'arguments-schema', message: checked.message } };

const refusedInput = (thrown: unknown): Input => ({ ok: false, refusal: refusalOf(thrown) });

const refused = (call: CallState, refusal: { readonly code: string; readonly message: string }): News =>
  news({ type: 'call.refused', data: { call: call.id, ...refusal } });

/** Undefined where it was broken off: nothing is known of the call then. */
export const prepareJob = async (
  state: SessionState,
  call: CallState,
  context: JobContext,
  abort: AbortController,
): Promise<News | undefined> => {
  const hand = handOf(state, context.agent, call);
  if ('refused' in hand) return hand.refused;
  try {
    const input = await inputOf(hand.tool, call);
    if (!input.ok) return refused(call, input.refusal);
    await reach(context.faults, 'prepare.before', placeOf(state, call));
    const made = hand.tool.preview?.(
      input.value as never,
      contextOf(state, call, context, { signal: abort.signal, attempt: call.attempt + 1 }),
    );
    const preview = await inTime(made, context.clock, { what: 'preview', signal: abort.signal });
    await reach(context.faults, 'prepare.after', placeOf(state, call));
    const { base, ...shown } = plainJson(preview ?? takenPreview(call, input.value));
    const data = { call: call.id, preview: shown, ...(base !== undefined && { base }) };
    return news({ type: 'call.prepared', data });
  } catch (thrown) {
    // That nobody waits for it any more, because all is frozen, is no refusal by the tool.
    if (abort.signal.aborted) return undefined;
    return refused(call, refusalOf(thrown));
  }
};

/** Previews become part of the record: only what JSON can say. */
const plainJson = (preview: Preview): JsonObject => JSON.parse(JSON.stringify(preview)) as JsonObject;

/** It changes nothing, so that nobody waits for it once it is not wanted any more. */
const inTime = async <T>(
  work: Promise<T> | T,
  clock: Clock,
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.after(PREPARE_MS, () =>
    reject(new Error(`the ${what} took longer than ${PREPARE_MS} ms`)),
  );
  const unwanted = (): void => reject(new Error(`the ${what} is not wanted any more`));
  if (signal.aborted) unwanted();
  else signal.addEventListener('abort', unwanted, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', unwanted);
  }
};

export const attemptJob = async (
  state: SessionState,
  call: CallState,
  context: JobContext,
  abort: AbortController,
): Promise<News> => {
  const { attempt } = call;
  const result = ({ outcome, blobs, ms }: Ended): News =>
    news({ type: 'call.result', data: { call: call.id, attempt, outcome, ms } }, blobs);
  const hand = handOf(state, context.agent, call);
  if ('refused' in hand) throw bug('a call is only started with the tool at hand', { call: call.id });
  const given = inputOf(hand.tool, call);
  const input = given instanceof Promise ? await given : given;
  if (!input.ok) return result({ outcome: { kind: 'failed', ...input.refusal }, blobs: [], ms: 0 });
  const made = madeCalls(state, call, context.blob);
  const calls = new AttemptCalls(made instanceof Promise ? await made : made);
  const ended = await runAttempt({
    ...hand,
    input: input.value,
    context: contextOf(state, call, context, { signal: abort.signal, calls }),
    calls,
    limits: state.agent.limits,
    clock: context.clock,
    abort,
    faults: context.faults,
    place: placeOf(state, call),
    onLate: ({ outcome, blobs, ms }) =>
      context.onLate(news({ type: 'call.late', data: { call: call.id, attempt, outcome, ms } }, blobs)),
  });
  if ('calls' in ended) {
    const fact = { type: 'call.suspended', data: { call: call.id, attempt, ...ended } } as const;
    return news(fact);
  }
  if (ended.twice === true) context.onLate(result(ended));
  return result(ended);
};

export const reconcileJob = async (
  state: SessionState,
  call: CallState,
  context: JobContext,
  abort: AbortController,
): Promise<News> => {
  const { attempt } = call;
  const answered = (answer: ReconcileAnswer, blobs: readonly Blob[] = []): News => {
    const fact = { type: 'call.reconciled', data: { call: call.id, attempt, answer } } as const;
    return canBeRecorded(fact) && isReconcileAnswer(answer)
      ? news(fact, blobs)
      : answered({ happened: 'unknown', note: 'The tool answered with something that is no answer.' });
  };
  const hand = handOf(state, context.agent, call);
  if ('refused' in hand)
    return answered({ happened: 'unknown', note: `This build cannot ask ${call.tool} what became of it.` });
  try {
    const input = await inputOf(hand.tool, call);
    if (!input.ok) return answered({ happened: 'unknown', note: input.refusal.message });
    await reach(context.faults, 'reconcile.before', placeOf(state, call));
    const asked = hand.tool.reconcile?.(input.value as never, contextOf(state, call, context, abort));
    const answer: Reconciled = (await inTime(asked, context.clock, {
      what: 'reconciliation',
      signal: abort.signal,
    })) ?? {
      happened: 'unknown',
      note: 'The tool has no reconcile function.',
    };
    await reach(context.faults, 'reconcile.after', placeOf(state, call));
    if (answer.happened !== true) return answered(answer);
    const { outcome, blobs } = await encodeResult(answer.result, 'once', state.agent.limits);
    return answered({ happened: true, content: outcome.kind === 'ok' ? outcome.content : [] }, blobs);
  } catch (thrown) {
    return answered({ happened: 'unknown', note: `Asking failed: ${describeThrown(thrown).message}` });
  }
};

const isReconcileAnswer = ({ happened }: ReconcileAnswer): boolean =>
  happened === true || happened === false || happened === 'unknown';

type ReconcileAnswer = Extract<NewFact, { type: 'call.reconciled' }>['data']['answer'];

/** Checks before the start is recorded: the tool is at hand and takes these arguments. */
export const startProblem = (
  state: SessionState,
  call: CallState,
  agent: Agent,
): News | undefined | Promise<News | undefined> => {
  const hand = handOf(state, agent, call);
  if ('refused' in hand) return hand.refused;
  // A JSON Schema was checked when the call was proposed.
  if (!isStandardSchema(hand.tool.inputSchema)) return undefined;
  const problem = (input: Input): News | undefined => (input.ok ? undefined : refused(call, input.refusal));
  const input = inputOf(hand.tool, call);
  return input instanceof Promise ? input.then(problem) : problem(input);
};
