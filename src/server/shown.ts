/** Sessions and turns as the door shows them. Whose they are not, for them they are not there. */
import { open } from '../event/envelope.ts';
import type { Encoder } from '../context/encoding.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { LogEvent } from '../event/events.ts';
import { sessionNotFound, type LogStore, type SessionRow } from '../log/store.ts';
import { stepCalls, type SessionState, type TurnRecord } from '../session/state.ts';
import { summaryOf } from '../session/summary.ts';
import { recordOf, type SessionRecord } from '../view/record.ts';
import type { Runtime } from '../worker/runtime.ts';
import type { Door } from './door.ts';
import { ProblemError } from './problem.ts';
import type { GrantView, SessionView, TurnView, TurnViewState } from './schemas.ts';
import type { Caller } from './tokens.ts';

/** The session's state, where the caller may know of it. Throws `session-not-found`. */
export const stateFor = async ({ runtime }: Door, caller: Caller, session: string): Promise<SessionState> => {
  const state = await runtime.state(session);
  // The store's own logs are no sessions, and another tenant's are not there.
  if (state.agent.name === '' || (caller.tenant !== '' && state.tenant !== caller.tenant))
    throw sessionNotFound(session);
  return state;
};

/** How a recorded agent's model wants its requests; a provider's form is the same for all its models. */
export const encoders = ({ agents }: Runtime): ((agent: AgentDefinition) => Encoder | undefined) => {
  const byProvider = new Map(
    [...agents.values()].map(({ definition, model }) => [definition.model.provider, model.encoder]),
  );
  return ({ model }) => byProvider.get(model.provider);
};

/** The session with all its events. Throws `session-not-found`. */
export const recordFor = async (door: Door, caller: Caller, session: string): Promise<SessionRecord> => {
  await stateFor(door, caller, session);
  return recordOf(session, await eventsOf(door.store, session));
};

const eventsOf = async (
  store: LogStore,
  session: string,
  from?: number,
  to?: number,
): Promise<readonly LogEvent[]> => (await store.read(session, from, to)).map(open);

export const sessionView = (state: SessionState): SessionView => ({
  session: state.session,
  head: state.seq,
  ...summaryOf(state),
});

export const rowView = ({ session, head, summary }: SessionRow): SessionView => ({
  session,
  head,
  ...summary,
});

/** Leave for further calls that stands at this moment, wall time. */
export const grantViews = ({ grants }: SessionState, now: number): readonly GrantView[] =>
  grants
    .filter(({ expiresAt }) => expiresAt > now)
    .map(({ call, tool, rule, when, expiresAt, by }) => ({ call, tool, rule, when, expiresAt, by }));

/** A turn by its number. Throws `turn-not-found`. */
export const turnView = async (
  { store }: Pick<Door, 'store'>,
  state: SessionState,
  turn: number,
): Promise<TurnView> => {
  const record = state.turns[turn - 1];
  if (!record)
    throw new ProblemError(
      'turn-not-found',
      `Session ${state.session} has no turn ${turn}; it has ${state.turns.length}.`,
    );
  const events = await eventsOf(store, state.session, record.seq, record.endedSeq ?? state.seq);
  const text = lastText(events, turn);
  return { ...turnRow(state, record), ...(text !== undefined && { text }) };
};

export const turnRow = (state: SessionState, record: TurnRecord): TurnView => {
  const { turn, key, by, reason, seq, endedSeq } = record;
  return {
    session: state.session,
    turn,
    key,
    by,
    state: turnState(state, record),
    acceptedSeq: seq,
    ...(reason !== undefined && { reason }),
    ...(endedSeq !== undefined && { endedSeq }),
  };
};

export const turnState = (state: SessionState, { turn, outcome }: TurnRecord): TurnViewState => {
  if (outcome) return outcome;
  const { active } = state;
  if (active?.turn !== turn) return 'queued';
  const calls = stepCalls(active);
  if (calls.some(({ phase }) => phase === 'in-doubt')) return 'in-doubt';
  return calls.some(({ phase }) => phase === 'asking') ? 'waiting' : 'running';
};

const lastText = (events: readonly LogEvent[], turn: number): string | undefined => {
  const answer = events.findLast((event) => event.type === 'response.received' && event.data.turn === turn);
  if (answer?.type !== 'response.received') return undefined;
  const texts = answer.data.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === 0 ? undefined : texts.join('');
};
