/** Runs: what a front end's request begins or goes on with, and the stream of beats that answers it. */
import { sha256 } from '../../event/canonical.ts';
import type { LogEvent } from '../../event/events.ts';
import type { WhenRunning } from '../../session/decide.ts';
import type { SessionState } from '../../session/state.ts';
import type { Sent } from '../../worker/runtime.ts';
import type { Door } from '../door.ts';
import { frames, listen, type Listening } from '../frames.ts';
import { ProblemError } from '../problem.ts';
import { stateFor } from '../shown.ts';
import type { Caller } from '../tokens.ts';
import type { Answer, Beat } from './beat.ts';
import { needsOf, Story, type RunPlace } from './story.ts';

export type Run = Omit<RunPlace, 'heardFrom'>;

export type NewMessage = {
  /** Absent: a new one, known by the key. */
  readonly session?: string;
  /** The session's state, where it exists. */
  readonly state: SessionState | undefined;
  readonly agent: string;
  /** Names the turn. Absent: it has no name and is never the same as another. */
  readonly key?: string | undefined;
  readonly message: string;
  readonly when?: WhenRunning | undefined;
  /** A new turn needs a new message; one that is sent again does not have to stand last. */
  readonly isNew: boolean;
};

export type Begun = {
  readonly run: Run;
  readonly replayed: boolean;
  /** Absent: nobody has listened yet. */
  readonly hearing?: Hearing;
};

/** A session that is listened to, and the head of its log when that began; 0: there was no such session. */
type Hearing = { readonly heard: Listening; readonly heardFrom: number };

const hear = async (door: Door, session: string): Promise<Hearing> => {
  const listening = listen(door.runtime, session);
  try {
    // Only now does the head say what was missed.
    return { heard: listening, heardFrom: (await door.store.head(session))?.seq ?? 0 };
  } catch (error) {
    listening.stop();
    throw error;
  }
};

/** Listens before anything is done, so that a model that speaks at once is heard from its first word on. */
const whileHearing = async <T>(
  door: Door,
  session: string,
  act: () => Promise<T>,
): Promise<{ readonly hearing: Hearing; readonly done: T }> => {
  const hearing = await hear(door, session);
  try {
    return { hearing, done: await act() };
  } catch (error) {
    hearing.heard.stop();
    throw error;
  }
};

/**
 * Sends the message, or finds the turn that has this key already. Throws what `runtime.send` throws, and `turn-running`
 * where the session waits for a person and it was not said what to do then.
 */
export const begin = async (door: Door, caller: Caller, message: NewMessage): Promise<Begun> => {
  const { session, state, agent, key, when, isNew } = message;
  const known = state && [...state.turns, ...state.steers].some((one) => one.key === key);
  if (!known && !isNew)
    throw new ProblemError(
      'not-supported',
      'The newest message is not the user\u2019s: there is nothing to run.',
    );
  const needs = state?.active && needsOf(state.active);
  if (!known && needs && when === undefined)
    throw new ProblemError(
      'turn-running',
      `Turn ${state?.active?.turn} of session ${session} waits for a person: ${[...needs.questions, ...needs.doubts].map(({ call }) => call.tool).join(', ')}. Answer first, or say with "when" what to do.`,
    );
  const { actor: by, tenant } = caller;
  const send = (): Promise<Sent> =>
    door.runtime.send({
      ...(session !== undefined && { session }),
      ...(state === undefined && { agent, tenant }),
      message: message.message,
      by,
      ...(key !== undefined && { key }),
      ...(when && { when }),
    });
  // A new session that the key names is not known by name before it is there.
  const { hearing, done: sent } =
    session === undefined
      ? { hearing: undefined, done: await send() }
      : await whileHearing(door, session, send);
  const { turn, replayed } = sent;
  const begins = (event: LogEvent): boolean => isMessage(event, turn, key);
  return { run: { session: sent.session, begins }, replayed, ...(hearing && { hearing }) };
};

/** A message that joined a running turn has that turn's number and its own key. */
const isMessage = ({ type, data }: LogEvent, turn: number, key: string | undefined): boolean =>
  (type === 'turn.accepted' || type === 'turn.steered') &&
  data.turn === turn &&
  (key === undefined || data.key === key);

export type Answers = {
  readonly session: string;
  readonly answers: readonly Answer[];
  /** What they have in common in the log. Absent: made from what they answer. */
  readonly key?: string | undefined;
};

/** Gives the answers, in order; one that was given before stays as it is. Throws what the runtime throws. */
export const goOn = async (
  door: Door,
  caller: Caller,
  { session, answers, key }: Answers,
): Promise<Begun> => {
  await stateFor(door, caller, session);
  const common = { session, by: caller.actor, key: key ?? keyOf(answers) };
  const give = async (): Promise<boolean> => {
    let replayed = true;
    for (const answer of answers) {
      const { call } = answer;
      const given =
        answer.kind === 'decision'
          ? await door.runtime.decide({ ...common, call, digest: answer.digest, decision: answer.decision })
          : await door.runtime.settle({ ...common, call, settlement: answer.settlement });
      replayed &&= given.replayed;
    }
    return replayed;
  };
  const { hearing, done: replayed } = await whileHearing(door, session, give);
  const begins = (event: LogEvent): boolean => answers.some((answer) => isAnswer(event, answer));
  return { run: { session, begins, answers: new Set(answers.map(({ id }) => id)) }, replayed, hearing };
};

const keyOf = (answers: readonly Answer[]): string =>
  `answers-${sha256(answers.map(({ id }) => id).join(' ')).slice(0, 32)}`;

const isAnswer = ({ type, data }: LogEvent, answer: Answer): boolean => {
  if (type === 'approval.decided')
    return answer.kind === 'decision' && data.call === answer.call && data.digest === answer.digest;
  return type === 'call.settled' && answer.kind === 'settlement' && data.call === answer.call;
};

/** The beats of a run, from its beginning in the log on, as they come; the signal ends them. */
export const beats = (
  door: Door,
  { run, hearing }: Begun,
  signal: AbortSignal,
): AsyncGenerator<Beat, void, undefined> => {
  // Also where nobody ever reads.
  signal.addEventListener('abort', () => hearing?.heard.stop(), { once: true });
  return told(door, { run, hearing }, signal);
};

async function* told(
  door: Door,
  { run, hearing }: { readonly run: Run; readonly hearing: Hearing | undefined },
  signal: AbortSignal,
): AsyncGenerator<Beat, void, undefined> {
  const { heard, heardFrom } = hearing ?? (await hear(door, run.session));
  const { runtime, clock, limits, closing } = door;
  const reading = frames(runtime, clock, {
    session: run.session,
    from: 1,
    deltas: true,
    heard,
    wanted: () => true,
    isLast: () => false,
    heartbeatMs: limits.heartbeatMs,
    signal,
    closing,
  });
  try {
    const story = new Story({ ...run, heardFrom });
    for await (const frame of reading)
      for (const beat of story.take(frame)) {
        yield beat;
        if (beat.kind === 'rest' || beat.kind === 'end' || beat.kind === 'cut') return;
      }
  } finally {
    heard.stop();
  }
}
