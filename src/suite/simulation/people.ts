/**
 * What happens next from outside: time passes, people write, decide, settle, cancel and say things twice. After
 * the faults have stopped they answer everything that waits, truthfully.
 */
import { idempotencyKey } from '../../effect/key.ts';
import type { ApprovalDecision, Settlement } from '../../event/events.ts';
import type { CallState, SessionState } from '../../session/state.ts';
import { isOnrecordError } from '../../errors.ts';
import type { Runtime } from '../../worker/runtime.ts';
import type { Dice } from './dice.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { World } from './world.ts';

/** What people see of a simulation. */
export type Stage = {
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly world: World;
  readonly runtime: Runtime;
  readonly healed: boolean;
  readonly acknowledged: Set<string>;
  readonly session: string;
  readonly state: SessionState;
};

/** A command whose answer may never come, because its process dies; refusals are answers. */
const command = (promise: Promise<unknown>): void => {
  promise.catch((error: unknown) => {
    if (!isOnrecordError(error)) throw error;
  });
};

const STEP_MS = 700;
const KEYS_MAX = 4;

/** One thing from outside. False where nobody has anything left to say. */
export const act = async (simulation: Stage): Promise<boolean> => {
  const { dice, clock, healed } = simulation;
  const { state } = simulation;
  if (healed) return answerAll(simulation, state);
  if (dice.happens(0.12)) {
    write(simulation);
    return true;
  }
  const calls = openCalls(state);
  const call = calls.length > 0 && dice.happens(0.5) ? dice.pick(calls) : undefined;
  if (call) answer(simulation, call, dice.happens(0.2) ? 2 : 1);
  else if (dice.happens(0.05)) command(simulation.runtime.cancel(state.session));
  else if (dice.happens(0.1)) resume(simulation, state);
  else clock.advance(STEP_MS);
  return true;
};

const openCalls = (state: SessionState): readonly CallState[] =>
  [...(state.active?.calls ?? []), ...state.leftOpen].filter(
    ({ phase }) => phase === 'asking' || phase === 'in-doubt',
  );

/** A message under one of a few keys: often one that was sent before, as a client does that heard no answer. */
const write = (stage: Stage): void => {
  const { dice, runtime, acknowledged, session } = stage;
  const key = `key-${dice.whole(1, KEYS_MAX)}`;
  command(runtime.send({ session, message: `Message under ${key}.`, key }).then(() => acknowledged.add(key)));
};

const resume = (simulation: Stage, { session }: SessionState): void =>
  command(simulation.runtime.rest(session));

const answer = (simulation: Stage, call: CallState, times: number): void => {
  const { session, runtime } = simulation;
  const by = { kind: 'person', name: 'ada' } as const;
  const settlement = call.phase === 'in-doubt' ? truth(simulation, call) : undefined;
  const decision = decisionFor(simulation);
  for (let i = 0; i < times; i++) {
    if (settlement) command(runtime.settle({ session, call: call.id, settlement, by }));
    else if (call.phase === 'asking' && call.digest !== undefined)
      command(runtime.decide({ session, call: call.id, digest: call.digest, decision, by }));
  }
};

const decisionFor = ({ dice, healed }: Stage): ApprovalDecision => {
  if (healed) return { do: 'approve' };
  const chance = dice.next();
  if (chance < 0.55) return { do: 'approve' };
  if (chance < 0.7) return { do: 'edit', args: `{"n":${dice.whole(4, 9)}}` };
  if (chance < 0.85) return { do: 'reject', reason: 'Not today.' };
  return { do: 'respond', content: [{ type: 'text', text: 'I did it myself.' }] };
};

/** People look before they answer. What is still on its way cannot be answered truthfully yet. */
const truth = ({ world, session, dice }: Stage, call: CallState): Settlement | undefined => {
  const key = idempotencyKey(session, call.id, call.args);
  if (world.isPending(key)) return undefined;
  if (dice.happens(0.2)) return { answer: 'give-up' };
  return world.happened(key)
    ? { answer: 'happened', content: [{ type: 'text', text: 'I looked: it is there.' }] }
    : { answer: 'not-happened' };
};

const answerAll = (simulation: Stage, state: SessionState): boolean => {
  const calls = openCalls(state);
  for (const call of calls) answer(simulation, call, 1);
  if (calls.length > 0) return true;
  if (!state.active) return false;
  resume(simulation, state);
  return true;
};
