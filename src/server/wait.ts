/** Prefer: wait=N (RFC 7240): waits for a turn to end, or to need somebody. */
import type { Context } from 'hono';
import type { SessionState } from '../session/state.ts';
import type { Door, DoorEnv } from './door.ts';
import { ProblemError } from './problem.ts';
import type { TurnView } from './schemas.ts';
import { turnState, turnView } from './shown.ts';

/** Milliseconds that the client wants to wait, at most what the door allows. Throws `parameter-invalid`. */
export const asked = (context: Context<DoorEnv>, { limits }: Door): number | undefined => {
  const header = context.req.header('prefer');
  const wait = header
    ?.split(',')
    .map((one) => one.trim())
    .find((one) => /^wait\s*=/i.test(one));
  if (wait === undefined) return undefined;
  const seconds = /^wait\s*=\s*"?(\d{1,6})"?$/i.exec(wait)?.[1];
  if (seconds === undefined)
    throw new ProblemError('parameter-invalid', '"Prefer: wait=N" takes whole seconds, as in wait=30.');
  return Math.min(Number(seconds) * 1000, limits.waitMs);
};

export type Waited = {
  readonly session: string;
  readonly turn: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
};

/** The turn as it stands when it has come to rest, or when the wait is over. */
export const waitForTurn = async (door: Door, waited: Waited): Promise<TurnView> => {
  const { runtime, clock, closing } = door;
  const { session, turn, waitMs, signal } = waited;
  const over = new AbortController();
  const timer = clock.after(waitMs, () => over.abort());
  const ended = AbortSignal.any([over.signal, signal, closing]);
  try {
    const state = await runtime.state(session);
    if (!rests(state, turn))
      for await (const event of runtime.follow(session, { from: state.seq + 1, signal: ended }))
        if (event.seq > state.seq && rests(await runtime.state(session), turn)) break;
  } finally {
    timer.cancel();
    over.abort();
  }
  return turnView(door, await runtime.state(session), turn);
};

const rests = (state: SessionState, turn: number): boolean => {
  const record = state.turns[turn - 1];
  if (!record) return true;
  const standing = turnState(state, record);
  return standing !== 'running' && standing !== 'queued';
};
