/**
 * What happens next from outside: time passes, people write, decide, settle, cancel, close and open gates, change
 * what tools work on, and say things twice. After the faults have stopped they answer everything that waits,
 * truthfully.
 */
import { idempotencyKey } from '../../effect/key.ts';
import type { Actor } from '../../event/content.ts';
import { MODES, type Mode } from '../../event/definition.ts';
import type { ApprovalDecision, Grant, Settlement } from '../../event/events.ts';
import { knownCalls, type CallState, type SessionState } from '../../session/state.ts';
import { isOnrecordError } from '../../errors.ts';
import type { Runtime } from '../../worker/runtime.ts';
import type { Dice } from './dice.ts';
import { condition, PEOPLE, RECIPIENTS, TOOL_KINDS } from './regime.ts';
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
  /** How busy people are with gates, and with what tools work on. */
  readonly bustle: { readonly modes: number; readonly world: number };
  /** What the log of the session or of the store says that the mode is. */
  modeSaid(scope: Scope): Mode;
  /** Somebody was told that a mode is set. */
  modeAcknowledged(scope: Scope, mode: Mode, since: number): void;
  modesSaid(scope: Scope): number;
};

type Scope = 'session' | 'store';

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
  const { dice, clock, healed, bustle, world } = simulation;
  const { state } = simulation;
  if (healed) return answerAll(simulation, state);
  if (dice.happens(bustle.modes)) setMode(simulation);
  if (dice.happens(bustle.world)) world.disturb(dice.pick(TOOL_KINDS)[0]);
  if (state.grants.length > 0 && dice.happens(0.05)) revoke(simulation);
  if (dice.happens(0.12)) {
    write(simulation);
    return true;
  }
  const calls = openCalls(state);
  const call = calls.length > 0 && dice.happens(0.4) ? dice.pick(calls) : undefined;
  if (call) answer(simulation, call, dice.happens(0.2) ? 2 : 1);
  else if (dice.happens(0.05)) command(simulation.runtime.cancel(state.session));
  else if (dice.happens(0.1)) resume(simulation, state);
  else clock.advance(STEP_MS);
  return true;
};

const openCalls = (state: SessionState): readonly CallState[] =>
  knownCalls(state).filter(({ phase }) => phase === 'asking' || phase === 'in-doubt');

/** A message under one of a few keys: often one that was sent before, as a client does that heard no answer. */
const write = (stage: Stage): void => {
  const { dice, runtime, acknowledged, session } = stage;
  const which = dice.whole(1, KEYS_MAX);
  const key = `key-${which}`;
  // Who writes it and where it comes from are part of what it is: the same key is the same message.
  const by = PEOPLE[which % 2] ?? ADA;
  const labels = which === KEYS_MAX ? (['untrusted'] as const) : [];
  const message = `Message under ${key}.`;
  command(runtime.send({ session, message, key, by, labels }).then(() => acknowledged.add(key)));
};

const ADA: Actor = { kind: 'person', name: 'ada' };

/** Closed gates are opened again more often than open ones are closed, or little would happen. */
const setMode = (stage: Stage): void => {
  const { dice, runtime, session } = stage;
  const scope = dice.pick(['session', 'store'] as const);
  const mode =
    stage.modeSaid(scope) === 'normal' || dice.happens(0.2)
      ? dice.pick<Mode>([...MODES, 'frozen'])
      : 'normal';
  const since = stage.modesSaid(scope);
  const where = scope === 'session' ? { session } : {};
  command(runtime.setMode(mode, where).then(() => stage.modeAcknowledged(scope, mode, since)));
};

/** One grant, or all: by anybody, and now and then one that has run out by now. */
const revoke = ({ dice, runtime, session, state: { grants } }: Stage): void => {
  const { call } = dice.pick(grants);
  command(runtime.revoke(session, { by: dice.pick(PEOPLE), ...(dice.happens(0.7) && { call }) }));
};

const resume = (simulation: Stage, { session }: SessionState): void =>
  command(simulation.runtime.rest(session));

const answer = (simulation: Stage, call: CallState, times: number): void => {
  const { session, runtime, dice } = simulation;
  const by = dice.pick(PEOPLE);
  const settlement = call.phase === 'in-doubt' ? truth(simulation, call) : undefined;
  const decision = decisionFor(simulation, call);
  for (let i = 0; i < times; i++) {
    if (settlement) command(runtime.settle({ session, call: call.id, settlement, by }));
    else if (call.phase === 'asking' && call.digest !== undefined)
      command(runtime.decide({ session, call: call.id, digest: call.digest, decision, by }));
  }
};

const decisionFor = ({ dice }: Stage, call: CallState): ApprovalDecision => {
  const chance = dice.next();
  if (chance < 0.65) return { do: 'approve', ...(dice.happens(0.35) && { grant: grantFor(dice, call) }) };
  if (chance < 0.8) return { do: 'edit', args: edited(dice) };
  if (chance < 0.9) return { do: 'reject', reason: 'Not today.' };
  return { do: 'respond', content: [{ type: 'text', text: 'I did it myself.' }] };
};

/** Mostly for the same recipient, sometimes for anything, and now and then one that does not fit the call. */
const grantFor = (dice: Dice, { args }: CallState): Grant => {
  const { to } = JSON.parse(args) as { readonly to?: string };
  const same = to === undefined ? [] : [{ at: '/to', equals: to }];
  const when = dice.happens(0.6) ? same : dice.happens(0.5) ? [condition(dice)] : [];
  return { when, forMs: dice.pick([2000, 20_000, 3_600_000]) };
};

const edited = (dice: Dice): string =>
  JSON.stringify({
    n: dice.happens(0.1) ? 99 : dice.whole(0, 9),
    ...(dice.happens(0.6) && { to: dice.pick(RECIPIENTS) }),
  });

/** People look before they answer. What is still on its way cannot be answered truthfully yet. */
const truth = ({ world, session, dice }: Stage, call: CallState): Settlement | undefined => {
  const key = idempotencyKey(session, call.id, call.args);
  if (world.isPending(key)) return undefined;
  if (dice.happens(0.2)) return { answer: 'give-up' };
  return world.happened(key)
    ? { answer: 'happened', content: [{ type: 'text', text: 'I looked: it is there.' }] }
    : { answer: 'not-happened' };
};

/** Everybody opens the gates and says yes; where nobody may, somebody says no. */
const answerAll = (simulation: Stage, state: SessionState): boolean => {
  const { runtime, session } = simulation;
  const closed = (['session', 'store'] as const).filter((scope) => simulation.modeSaid(scope) !== 'normal');
  for (const scope of closed) command(runtime.setMode('normal', scope === 'session' ? { session } : {}));
  const calls = openCalls(state);
  for (const call of calls)
    if (call.phase === 'in-doubt') answer(simulation, call, 1);
    else
      for (const decision of [{ do: 'approve' }, { do: 'reject' }] as const)
        everybody(simulation, call, decision);
  if (calls.length > 0 || closed.length > 0) return true;
  if (!state.active) return false;
  resume(simulation, state);
  return true;
};

const everybody = (
  { runtime, session }: Stage,
  { id: call, digest }: CallState,
  decision: ApprovalDecision,
): void => {
  if (digest === undefined) return;
  for (const by of PEOPLE) command(runtime.decide({ session, call, digest, decision, by }));
};
