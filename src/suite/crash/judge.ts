/** Whether a killed run ended as the uninterrupted one did. */
import { sameBoundary, type Boundary, type Kill } from './boundary.ts';
import type { Ending, NamedCall } from './ending.ts';
import { whereWords } from './points.ts';
import type { Played } from './run.ts';

export type Verdict =
  /** As if nobody had been killed. */
  | 'same-end'
  /** A call waits for a person who says what became of it, as its effect kind promises. */
  | 'in-doubt'
  /** An effect ran twice. */
  | 'twice'
  /** A message, or an effect that the record says was done, is not there. */
  | 'lost'
  /** The log does not prove itself, or replays otherwise than it was recorded. */
  | 'unproved'
  /** Another end than without the kill. */
  | 'other-end'
  /** The kill was never reached: the scenario does not take the same way each time. */
  | 'not-reached';

export type Judged = { readonly verdict: Verdict; readonly detail: string };

/** Under a fault plan the kill may come before or after a fault, so that another end can be right. */
export const WRONG: ReadonlySet<Verdict> = new Set(['twice', 'lost', 'unproved', 'other-end']);
export const WRONG_UNDER_PLAN: ReadonlySet<Verdict> = new Set(['twice', 'lost', 'unproved']);

/** What a run is held against. */
export type Calm = {
  readonly played: Played;
  /** Whether a fault plan was in force. */
  readonly planned: boolean;
};

export const judge = (calm: Calm, killed: Played, kill: Kill): Judged => {
  const twice = doubled(killed.ending);
  if (twice.length > 0) return { verdict: 'twice', detail: twice.join(', ') };
  const { unproved } = killed.ending;
  if (unproved !== '') return { verdict: 'unproved', detail: unproved };
  const astray = calm.planned ? undefined : strayed(calm.played, killed, kill);
  if (astray !== undefined) return { verdict: 'not-reached', detail: astray };
  return judgeEnding(calm, killed.ending);
};

const judgeEnding = ({ played, planned }: Calm, killed: Ending): Judged => {
  const calm = played.ending;
  const doubtful = killed.inDoubt;
  // In doubt the scenario stops: messages that come later were never said.
  if (doubtful.length > 0) {
    const wrongly = planned ? undefined : doubtful.find(({ effect }) => !MAY_BE_IN_DOUBT.has(effect));
    if (wrongly)
      return {
        verdict: 'other-end',
        detail: `${nameOf(wrongly)} is in doubt, and its effect kind is ${wrongly.effect}`,
      };
    return { verdict: 'in-doubt', detail: doubtful.map(nameOf).join(', ') };
  }
  if (killed.inputs < calm.inputs)
    return { verdict: 'lost', detail: `${calm.inputs - killed.inputs} of ${calm.inputs} messages` };
  const missing = planned ? [] : lostEffects(calm, killed);
  if (missing.length > 0) return { verdict: 'lost', detail: missing.join(', ') };
  if (killed.state !== calm.state)
    return { verdict: 'other-end', detail: firstDifferentLine(calm.state, killed.state) };
  return { verdict: 'same-end', detail: '' };
};

const MAY_BE_IN_DOUBT: ReadonlySet<NamedCall['effect']> = new Set(['once', 'reconcilable']);

const nameOf = ({ tool, call }: NamedCall): string => `${tool} ${call}`;

/** The same kill has to meet the same boundary each time, else its number names nothing. */
const strayed = (calm: Played, { seen }: Played, kill: Kill): string | undefined => {
  if (seen.struck.length < kill.length)
    return `boundary ${kill[seen.struck.length]} of ${seen.boundaries.length}`;
  const [first] = kill;
  const [expected, met] = [first === undefined ? undefined : calm.seen.boundaries[first - 1], seen.struck[0]];
  if (!expected || !met || sameBoundary(expected, met)) return undefined;
  return `boundary ${first} is ${placeOf(expected)} in one run and ${placeOf(met)} in another`;
};

const placeOf = (boundary: Boundary): string => `${boundary.point} ${whereWords(boundary)}`;

/** An idempotent tool may be called again with its key, that is what the key is for; the others may not. */
const doubled = ({ executions }: Ending): readonly string[] => {
  const counts = new Map<string, number>();
  for (const { key, tool, call, effect } of executions) {
    const name = `${tool} ${call} ${key}`;
    if (effect !== 'idempotent') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([name, count]) => `${name.split(' ').slice(0, 2).join(' ')}, ${count} times`);
};

const lostEffects = (calm: Ending, killed: Ending): readonly string[] => {
  const done = new Set(killed.executions.map(({ key }) => key));
  return calm.executions.filter(({ key }) => !done.has(key)).map(nameOf);
};

const firstDifferentLine = (a: string, b: string): string => {
  const [left, right] = [a.split('\n'), b.split('\n')];
  const at = left.findIndex((line, i) => line !== right[i]);
  const i = at < 0 ? left.length : at;
  return `expected ${left[i] ?? 'the end'}, found ${right[i] ?? 'the end'}`;
};
