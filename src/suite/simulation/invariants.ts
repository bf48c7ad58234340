/**
 * What must hold after any history, checked against the world's own memory. Each violation names the invariant
 * of the design that it breaks.
 */
import { callPosition, makerOf, type CallId } from '../../event/call-id.ts';
import { canonical } from '../../event/canonical.ts';
import { open } from '../../event/envelope.ts';
import type { LogEvent } from '../../event/events.ts';
import { rebuildRequest } from '../../context/rebuild.ts';
import type { LogStore } from '../../log/store.ts';
import { neutralEncoder } from '../../model/neutral.ts';
import { replay } from '../../replay/replay.ts';
import { verify } from '../../replay/verify.ts';
import { evolve, initial } from '../../session/evolve.ts';
import { innerCalls, stepCalls, type SessionState } from '../../session/state.ts';
import { PROGRAM } from '../../worker/program.ts';
import type { GateWatch } from './gate-watch.ts';
import { LeaveReader } from './leave.ts';
import { errands, type Executed, type Input, type World } from './world.ts';

export type Violation = { readonly invariant: string; readonly what: string };

export type Evidence = {
  readonly session: string;
  readonly log: LogStore;
  readonly world: World;
  /** Bodies that the model was given, in order, by position "turn.step". */
  readonly bodies: readonly (readonly [position: string, body: string])[];
  /** Messages whose sender was told that they are accepted. */
  readonly acknowledged: ReadonlySet<string>;
  /** Attempts that began without their start in the log. */
  readonly unannounced: readonly Executed[];
  /** What the store's gate was at each moment, and how many questions the list showed. */
  readonly gates: GateWatch;
  readonly lies: readonly string[];
};

export const violations = async (evidence: Evidence): Promise<readonly Violation[]> => {
  const { session, log } = evidence;
  const stored = await log.read(session);
  const events = stored.map(open);
  const found: Violation[] = [];
  const no = (invariant: string, what: string): void => void found.push({ invariant, what });

  const verified = await verify(log, session);
  for (const { message } of verified.findings) no('10 verify', message);
  const replayed = replay({ session, events, encoderOf: () => neutralEncoder, program: PROGRAM });
  if (replayed.difference) no('1 replay', canonical({ ...replayed.difference }));
  checkEffects(evidence, events, no);
  checkLeave(evidence, events, no);
  checkErrands(events, no);
  checkWaits(events, initial(session), no);
  checkTurns(evidence, events, no);
  checkClosings(events, initial(session), no);
  await checkBodies(evidence, events, no);
  return found;
};

/** A fork proves itself, replays, shares the past that it says, and rests with nothing open. */
export const forkViolations = async (
  log: LogStore,
  session: string,
  shared: number,
): Promise<readonly Violation[]> => {
  const found: Violation[] = [];
  const no = (invariant: string, what: string): void => void found.push({ invariant, what });
  for (const { message } of (await verify(log, session)).findings) no('10 verify', `fork: ${message}`);
  const events = (await log.read(session)).map(open);
  const { difference, state } = replay({
    session,
    events,
    encoderOf: () => neutralEncoder,
    program: PROGRAM,
  });
  if (difference) no('1 replay', `fork: ${canonical({ ...difference })}`);
  if (events[shared]?.type !== 'session.forked') no('11 fork', `it does not begin behind event ${shared}`);
  const left = [state.active?.turn, ...state.queue, ...state.leftOpen.map(({ id }) => id)];
  if (left.some((one) => one !== undefined)) no('11 fork', `left open: ${left.join(' ')}`);
  return found;
};

type Say = (invariant: string, what: string) => void;

/** 3: no effect twice. 4: nothing executed but what was allowed or approved. Intent before effect. */
const checkEffects = ({ world, unannounced }: Evidence, events: readonly LogEvent[], no: Say): void => {
  const counts = new Map<string, number>();
  for (const { call, key } of world.effects)
    counts.set(`${call} ${key}`, (counts.get(`${call} ${key}`) ?? 0) + 1);
  for (const [call, count] of counts)
    if (count > 1) no('3 no effect twice', `${call} happened ${count} times`);
  for (const executed of unannounced)
    no('3 intent before effect', `${executed.call} began without a recorded start`);
  const allowed = allowedStarts(events, no);
  for (const executed of world.begun) {
    const args = allowed.get(`${executed.call.split(' ')[1]}#${executed.attempt}`);
    if (executed.args !== args)
      no('4 only what was approved', `${executed.call} ran with ${executed.args}, allowed was ${args}`);
  }
};

/** An errand makes the calls that follow from its arguments, each once and at its place, however often it was run. */
const checkErrands = (events: readonly LogEvent[], no: Say): void => {
  const made = new Map<CallId, string[]>();
  for (const { type, data } of events) {
    if (type !== 'call.suspended') continue;
    const asked = data.calls.map(({ tool, args }) => `${tool} ${args}`);
    made.set(data.call, [...(made.get(data.call) ?? []), ...asked]);
  }
  for (const [id, found] of made) {
    const args = argumentsOf(events, id);
    const all = errands(JSON.parse(args ?? '{}') as Input).map(
      (call) => `${call.tool} ${canonical(call.args)}`,
    );
    const wanted = all.slice(0, found.length);
    if (found.join() !== wanted.join())
      no('calls of a call', `${id} made ${found.join(', ')}, from ${args} follow ${wanted.join(', ')}`);
  }
};

/** A call goes on when all that it asked for has been made and is closed, not before. */
const checkWaits = (events: readonly LogEvent[], start: SessionState, no: Say): void => {
  let state = start;
  for (const event of events) {
    if (event.type === 'call.started' && state.active) {
      const { call: id } = event.data;
      const made = innerCalls(state.active, id);
      const asked = stepCalls(state.active).find((call) => call.id === id)?.asked.length ?? 0;
      const left = made
        .filter(({ phase }) => phase !== 'closed')
        .map(({ id: one, phase }) => `${one} ${phase}`);
      if (made.length !== asked || left.length > 0)
        no(
          'calls of a call',
          `${id} went on at ${event.seq} with ${made.length} of ${asked} made, open: ${left.join(', ')}`,
        );
    }
    state = evolve(state, event);
  }
};

/** As they ran last: a person may have changed them. */
const argumentsOf = (events: readonly LogEvent[], id: CallId): string | undefined => {
  const edit = events.findLast(
    ({ type, data }) => type === 'approval.decided' && data.call === id && data.decision.do === 'edit',
  );
  return edit?.type === 'approval.decided' && edit.data.decision.do === 'edit'
    ? edit.data.decision.args
    : rawArguments(events, id);
};

/** 4: nothing was started but by a rule, a grant or a person who might. No question is lost, no gate is passed. */
const checkLeave = ({ gates, lies, world }: Evidence, events: readonly LogEvent[], no: Say): void => {
  const reader = new LeaveReader(gates.at, no);
  for (const event of events) {
    reader.read(event);
    const shown = gates.shown.get(event.seq);
    if (shown !== undefined && shown !== reader.open.length)
      no('28 no question is lost', `${reader.open.join()} wait at ${event.seq}, the list shows ${shown}`);
  }
  if (reader.open.length > 0) no('28 no question is lost', `${reader.open.join()} wait for ever`);
  for (const lie of lies) no('modes', `it was said that ${lie} is set, and no log says so`);
  for (const { call, base, attempt } of world.begun)
    if (!reader.bases(`${call.split(' ')[1]}#${attempt}`).includes(base))
      no('24 what was approved', `${call} ran on ${base}, which nobody was shown`);
};

/** The arguments that policy or a person had allowed when each attempt was started. */
const allowedStarts = (events: readonly LogEvent[], no: Say): ReadonlyMap<string, string> => {
  const proposed = new Map<CallId, string>();
  const allowed = new Map<CallId, string>();
  const edited = new Map<CallId, string>();
  const starts = new Map<string, string>();
  for (const { type, data } of events) {
    if (type === 'call.proposed') {
      const args = data.args ?? rawArguments(events, data.call) ?? '';
      const wanted = edited.get(data.call) ?? args;
      if (args !== wanted)
        no('4 only what was approved', `${data.call} was edited to ${wanted}, proposed is ${args}`);
      edited.delete(data.call);
      proposed.set(data.call, args);
      if (data.do === 'run') allowed.set(data.call, args);
      else allowed.delete(data.call);
    } else if (type === 'approval.decided') {
      const args = proposed.get(data.call);
      if (data.decision.do === 'approve' && args !== undefined) allowed.set(data.call, args);
      if (data.decision.do === 'edit') edited.set(data.call, data.decision.args);
    } else if (type === 'call.started') {
      const args = allowed.get(data.call);
      if (args === undefined) no('4 only what was approved', `${data.call} was started without leave`);
      else starts.set(`${data.call}#${data.attempt}`, args);
    }
  }
  return starts;
};

const rawArguments = (events: readonly LogEvent[], id: CallId): string | undefined => {
  const { turn, step, index, inner } = callPosition(id);
  const maker = makerOf(id);
  if (inner !== undefined)
    return events.flatMap(({ type, data }) =>
      type === 'call.suspended' && data.call === maker ? data.calls : [],
    )[inner - 1]?.args;
  for (const { type, data } of events)
    if (type === 'response.received' && data.turn === turn && data.step === step)
      return data.content.filter((block) => block.type === 'call')[index - 1]?.args;
  return undefined;
};

/** 3: no acknowledged input is lost. 6: one key, one turn. */
const checkTurns = ({ acknowledged }: Evidence, events: readonly LogEvent[], no: Say): void => {
  const keys = events.flatMap((event) => (event.type === 'turn.accepted' ? [event.data.key] : []));
  for (const key of new Set(keys))
    if (keys.filter((other) => other === key).length > 1) no('6 same key, one turn', key);
  for (const key of acknowledged) if (!keys.includes(key)) no('3 no acknowledged input lost', key);
  const ended = new Set(events.flatMap((event) => (event.type === 'turn.ended' ? [event.data.turn] : [])));
  for (const [i] of keys.entries())
    if (!ended.has(i + 1)) no('34 every turn comes to an end', `turn ${i + 1}`);
};

/** 5: no call has two closings, and a closed call stays as it is. */
const checkClosings = (events: readonly LogEvent[], start: SessionState, no: Say): void => {
  const closed = new Map<string, string>();
  let state = start;
  for (const event of events) {
    state = evolve(state, event);
    for (const call of state.active ? stepCalls(state.active) : []) {
      if (!call.closing) {
        if (closed.has(call.id))
          no('5 one closing', `${call.id} was closed and is open again at ${event.seq}`);
        continue;
      }
      const text = canonical({ ...call.closing });
      const before = closed.get(call.id);
      if (before !== undefined && before !== text)
        no('5 one closing', `${call.id} closed twice: ${before}, ${text}`);
      closed.set(call.id, text);
    }
  }
};

/** 7: rebuilt bytes equal sent bytes. 5: each call in a request is followed by exactly one result. */
const checkBodies = async (
  { log, bodies }: Evidence,
  events: readonly LogEvent[],
  no: Say,
): Promise<void> => {
  const source = { eventAt: (seq: number) => events[seq - 1], blob: log.blob.bind(log) };
  const rebuilt = new Map<string, string>();
  for (const event of events)
    if (event.type === 'request.built') {
      const { body } = await rebuildRequest(source, event.seq);
      rebuilt.set(`${event.data.turn}.${event.data.step}`, body);
    }
  for (const [position, body] of bodies)
    if (rebuilt.get(position) !== body) no('7 rebuilt equals sent', `request ${position}`);
  for (const [position, body] of rebuilt) {
    const problem = unpaired(body);
    if (problem !== undefined) no('5 calls and results in pairs', `request ${position}: ${problem}`);
  }
};

type Message = { role: string; content: string | { type?: string; id: string }[] };

/** What is wrong with the pairs of a neutral request; undefined where nothing is. */
const unpaired = (body: string): string | undefined => {
  const { messages } = JSON.parse(body) as { messages: Message[] };
  const seen = new Set<string>();
  for (const [i, message] of messages.entries()) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    const calls = message.content.filter((block) => block.type === 'call').map((block) => block.id);
    if (calls.some((id) => seen.has(id)) || new Set(calls).size < calls.length) return 'a call id repeats';
    for (const id of calls) seen.add(id);
    const follows = messages[i + 1];
    const results = follows?.role === 'results' && typeof follows.content !== 'string' ? follows.content : [];
    if (calls.join(' ') !== results.map((result) => result.id).join(' '))
      return `calls ${calls.join(', ')} are followed by results ${results.map((result) => result.id).join(', ')}`;
  }
  return undefined;
};
