/** Replay and verify over one session or all of them. */
import { setImmediate } from 'node:timers/promises';
import { isOnrecordError, OnrecordError } from '../errors.ts';
import type { AgentDefinition } from '../event/definition.ts';
import type { Encoder } from '../context/encoding.ts';
import { open } from '../event/envelope.ts';
import type { LogEvent } from '../event/events.ts';
import { pages } from '../log/pages.ts';
import type { LogStore } from '../log/store.ts';
import { neutralEncoder } from '../model/neutral.ts';
import { Replay, replay, type Replayed } from '../replay/replay.ts';
import { PROGRAM } from '../worker/program.ts';
import { countOf } from '../view/format.ts';
import type { Cli } from './cli.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { allSessions } from './record.ts';
import { line, own } from './terminal/shown.ts';

export type EncoderOf = (agent: AgentDefinition) => Encoder | undefined;

/** By provider: the adapters of the configured agents, and the built-in form of scripted models. */
export const encodersOf = async (cli: Cli): Promise<EncoderOf> => {
  const { agents } = await cli.config();
  const encoders = new Map<string, Encoder>([['scripted', neutralEncoder]]);
  for (const { model } of agents) encoders.set(model.definition.provider, model.encoder);
  return ({ model }) => encoders.get(model.provider);
};

export type ReplayRequest = {
  readonly session: string;
  readonly events: Iterable<LogEvent>;
  readonly encoderOf: EncoderOf;
  readonly until?: number | undefined;
};

/** Throws `replay-impossible` where the log means nothing to the decider. */
export const replayed = ({ session, events, encoderOf, until }: ReplayRequest): Replayed => {
  try {
    return replay({ session, events, encoderOf, program: PROGRAM, ...(until !== undefined && { until }) });
  } catch (cause) {
    throw impossible(session, cause);
  }
};

/** The same page by page, for logs of any length. */
export const replayedWhole = async (
  store: LogStore,
  session: string,
  encoderOf: EncoderOf,
): Promise<Replayed> => {
  const run = new Replay({ session, encoderOf, program: PROGRAM });
  try {
    for await (const page of pages(store, session))
      if (!page.every((stored) => run.push(open(stored)))) break;
    return run.end();
  } catch (cause) {
    throw impossible(session, cause);
  }
};

const impossible = (session: string, cause: unknown): unknown => {
  if (isOnrecordError(cause) && cause.next !== 'bug') return cause;
  return new OnrecordError(
    `Session ${session} cannot be replayed: an event is not what its type promises. Look with: onrecord verify ${session}`,
    { code: 'replay-impossible', next: 'corrupt', details: { session, cause: String(cause) }, cause },
  );
};

/** Does the work for every session, with progress; stops at Ctrl C. */
export const overAll = async (
  cli: Cli,
  store: LogStore,
  work: (session: string) => Promise<{ readonly wrong: boolean }>,
): Promise<number> => {
  const rows = await allSessions(store);
  const progress = cli.screen.progress(own('sessions'));
  let [done, wrong] = [0, 0];
  try {
    for (const { session } of rows) {
      // A turn of the event loop: for Ctrl C, and for the line of progress.
      await setImmediate();
      if (cli.interrupt.signal.aborted) break;
      if ((await work(session)).wrong) wrong++;
      progress.set({ done: ++done, total: rows.length, note: own('') });
    }
  } finally {
    progress.end();
  }
  return wrong;
};

/** What was not looked at is not said to be whole. */
export const interrupted = ({ screen }: Cli, sessions: number): ExitCode => {
  screen.note(line`Interrupted after ${countOf(sessions, 'session')}; the others were not checked.`);
  return EXIT.interrupted;
};
