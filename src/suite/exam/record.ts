/**
 * A real session as a scenario: what was said and decided, what the model answered as a script, and what came of it
 * as expectations. What lay on the desk is not in a record: whoever keeps the scenario gives it one.
 */
import { badInput } from '../../errors.ts';
import type { EventData, LogEvent } from '../../event/events.ts';
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';
import { contentText } from '../../context/result-text.ts';
import { evolve, initial } from '../../session/evolve.ts';
import { knownCalls, type SessionState } from '../../session/state.ts';
import { traceOf, type TracedCall } from '../../rehearse/trace.ts';
import { argsOf, endOf, isWrite } from './deeds.ts';
import { callsOf } from './judge.ts';

export type RecordPlace = {
  readonly name: string;
  /** As the scenario is to name it: "../agent.ts#clerk". */
  readonly agent: string;
  /** A folder beside the scenario that its desk is copied from. */
  readonly desk: string | undefined;
  /** Without a desk: the file of the results, and folders that the agent's tools want to be there. */
  readonly recorded?: string;
  readonly folders?: readonly string[];
};

/** The scenario as plain JSON, in the order in which people read it. Throws `rehearsal-nothing-to-say`. */
export const scenarioOf = (session: string, events: readonly LogEvent[], place: RecordPlace): JsonObject => {
  const trace = traceOf(session, events);
  const last = events.reduce(evolve, initial(session));
  if (trace.turns.length === 0)
    throw badInput(
      'rehearsal-nothing-to-say',
      `Session ${session} has no message that could be said again.`,
      { session },
    );
  const decided = events.flatMap((event) => (event.type === 'approval.decided' ? [event.data] : []));
  const by = decided.find((one) => one.by.kind === 'person')?.by;
  const answers = answersOf(decided, callsOf(trace));
  const { cost, requests } = trace.spent;
  return {
    name: place.name,
    about: `Recorded from session ${session} of ${new Date(last.createdAt).toISOString().slice(0, 10)}.`,
    agent: place.agent,
    model: { steps: events.flatMap(stepOf) },
    ...deskOf(place),
    clock: new Date(last.createdAt).toISOString(),
    ...(by && { person: { name: by.name, ...(by.roles && { roles: by.roles }) } }),
    turns: actionsOf(session, events),
    ...(Object.keys(answers).length > 0 && { answers }),
    expect: {
      calls: callsOf(trace)
        .filter((call) => isWrite(last.agent, call.tool))
        .map(patternOf),
      asked: askedOf(events, callsOf(trace)),
      steps: requests,
      ...(cost !== undefined && { cost: { atMost: Number(cost.toFixed(6)) } }),
      outcome: last.turns.map(({ outcome }) => outcome ?? 'open'),
      ...openOf(last),
    },
  };
};

const deskOf = ({ desk, recorded, folders = [] }: RecordPlace): JsonObject => {
  if (desk !== undefined) return { desk: { from: desk } };
  const files = Object.fromEntries(folders.map((path) => [`${path}/.keep`, '']));
  return {
    ...(folders.length > 0 && { desk: { files } }),
    ...(recorded !== undefined && { recorded }),
  };
};

const stepOf = (event: LogEvent): readonly JsonObject[] => {
  if (event.type === 'request.failed') {
    const { kind, message, status, retryAfterMs } = event.data.problem;
    // What the end of its process or a person cut off was no answer of the model.
    if (kind === 'cancelled') return [];
    const error = {
      kind,
      message,
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
    return [{ error }];
  }
  if (event.type !== 'response.received') return [];
  const { content, usage, cost, stop, stopDetail } = event.data;
  const texts = (type: 'text' | 'reasoning'): string =>
    content.flatMap((block) => (block.type === type ? [block.text] : [])).join('\n\n');
  const calls = content.flatMap((block) => (block.type === 'call' ? [callOf(block.name, block.args)] : []));
  const [text, reasoning] = [texts('text'), texts('reasoning')];
  return [
    {
      ...(reasoning !== '' && { reasoning }),
      ...(text !== '' && { text }),
      ...(calls.length > 0 && { calls }),
      ...(stop !== (calls.length > 0 ? 'calls' : 'end') && { stop }),
      ...(stopDetail !== undefined && { stopDetail }),
      ...(usage && {
        usage: {
          cacheRead: usage.cacheRead,
          cacheWrite: usage.cacheWrite,
          input: usage.input,
          output: usage.output,
        },
      }),
      ...(cost !== undefined && { cost }),
    },
  ];
};

const callOf = (tool: string, raw: string): JsonObject => {
  const args = argsOf(raw);
  return isJsonObject(args)
    ? { tool, ...(Object.keys(args).length > 0 && { args }) }
    : { tool, argsRaw: raw };
};

type Decided = EventData['approval.decided'];

const answersOf = (decided: readonly Decided[], calls: readonly TracedCall[]): JsonObject => {
  const found: Record<string, Json> = {};
  for (const { call, decision } of decided) {
    // An edit is asked about again; what a person said first is what the scenario says.
    if (Object.hasOwn(found, call)) continue;
    const answer = answerOf(
      decision,
      calls.find(({ id }) => id === call),
    );
    if (answer !== 'approve') found[call] = answer;
  }
  return found;
};

const answerOf = (decision: Decided['decision'], call: TracedCall | undefined): Json => {
  switch (decision.do) {
    case 'approve':
      return 'approve';
    case 'reject':
      return decision.reason === undefined ? 'reject' : { reject: decision.reason };
    case 'respond':
      return { respond: contentText(decision.content) };
    case 'edit': {
      const [before, after] = [argsOf(call?.args ?? ''), argsOf(decision.args)];
      if (!isJsonObject(after)) return 'approve';
      const same = (name: string): boolean =>
        isJsonObject(before) && JSON.stringify(before[name]) === JSON.stringify(after[name]);
      return { edit: Object.fromEntries(Object.entries(after).filter(([name]) => !same(name))) };
    }
    default:
      return decision satisfies never;
  }
};

/** What came from outside, in order. */
const actionsOf = (session: string, events: readonly LogEvent[]): readonly Json[] => {
  const actions: JsonObject[] = [];
  let state: SessionState = initial(session);
  for (const event of events) {
    const asking = knownCalls(state).some(({ phase }) => phase === 'asking');
    const running = state.active !== undefined && !asking;
    const last = actions.at(-1);
    // Said while another turn ran: both stood in the queue together.
    if (event.type === 'turn.accepted' && running && last && 'say' in last)
      actions.splice(-1, 1, { ...last, rest: false });
    actions.push(...actionOf(event));
    state = evolve(state, event);
  }
  return actions.map((action) => (Object.keys(action).join() === 'say' ? (action['say'] ?? '') : action));
};

const actionOf = (event: LogEvent): readonly JsonObject[] => {
  switch (event.type) {
    case 'turn.accepted': {
      const { input, labels = [] } = event.data;
      return [{ say: contentText(input), ...(labels.length > 0 && { labels }) }];
    }
    case 'turn.steered':
      return [{ say: contentText(event.data.input), when: 'steer' }];
    case 'turn.cancel_requested':
      return [{ cancel: event.data.reason ?? 'Cancelled.' }];
    case 'mode.changed':
      return event.data.scope === 'session' ? [{ mode: event.data.mode }] : [];
    case 'call.settled':
      return [{ settle: event.data.settlement.answer }];
    default:
      return [];
  }
};

const patternOf = (call: TracedCall): Json => {
  const args = argsOf(call.args);
  return {
    tool: call.tool,
    ...(isJsonObject(args) && { args }),
    end: endOf(call.closing).split(' ')[0] ?? '',
  };
};

const askedOf = (events: readonly LogEvent[], calls: readonly TracedCall[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'approval.requested' ? [calls.find(({ id }) => id === event.data.call)?.tool ?? ''] : [],
  );

const openOf = (state: SessionState): JsonObject => {
  const all = knownCalls(state);
  const tools = (phase: string): readonly string[] =>
    all.filter((call) => call.phase === phase).map(({ tool }) => tool);
  const [waiting, inDoubt] = [tools('asking'), tools('in-doubt')];
  return { ...(waiting.length > 0 && { waiting }), ...(inDoubt.length > 0 && { inDoubt }) };
};
