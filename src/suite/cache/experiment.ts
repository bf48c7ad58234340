/** A declared measurement of a provider's cache: what is asked, how often, after which pauses, and what it may cost. */
import type { Rates } from '../../cost/rates.ts';
import { amountOf } from '../../cost/rates.ts';

export type CacheExperiment = {
  /** Turns of each session, with a pause before each but the first. */
  readonly turns: number;
  readonly gapsMs: readonly number[];
  /** Tokens of the instructions, about: what is to be reused. */
  readonly prefixTokens: readonly number[];
  /** Milliseconds between pings within a pause, for sessions that are kept warm; absent: none is. */
  readonly pingEveryMs?: number;
};

/** One session of the experiment. */
export type Cell = {
  readonly name: string;
  readonly gapMs: number;
  readonly prefixTokens: number;
  readonly pingEveryMs: number | undefined;
};

export const cellsOf = ({ gapsMs, prefixTokens, pingEveryMs }: CacheExperiment): readonly Cell[] =>
  prefixTokens.flatMap((tokens) =>
    gapsMs.flatMap((gapMs): readonly Cell[] => {
      const cell = { gapMs, prefixTokens: tokens };
      const plain: Cell = { ...cell, name: `${tokens} tokens, ${gapMs} ms`, pingEveryMs: undefined };
      // A pause without room for a ping is not measured twice.
      if (pingEveryMs === undefined || gapMs <= pingEveryMs) return [plain];
      return [plain, { ...cell, name: `${plain.name}, kept warm`, pingEveryMs }];
    }),
  );

export const pingsOf = ({ gapMs, pingEveryMs }: Cell): number =>
  pingEveryMs === undefined ? 0 : Math.ceil(gapMs / pingEveryMs) - 1;

export type ExperimentPlan = {
  readonly cells: number;
  readonly requests: number;
  readonly pings: number;
  /** Milliseconds of pauses, one session after the other. */
  readonly ms: number;
  /** US dollars if nothing at all is reused; undefined where no price is known. */
  readonly usd: number | undefined;
};

/** Tokens of a turn's message and answer, about. */
const TURN_TOKENS = 60;
const ANSWER_TOKENS = 20;

/** What it will ask and, at most, cost: as if no cache ever helped and everything were written to it. */
export const planOf = (experiment: CacheExperiment, rates: Rates | undefined): ExperimentPlan => {
  const cells = cellsOf(experiment);
  const { turns } = experiment;
  let [requests, pings, ms, usd] = [0, 0, 0, 0];
  for (const cell of cells) {
    const asked = pingsOf(cell) * (turns - 1);
    requests += turns;
    pings += asked;
    ms += cell.gapMs * (turns - 1);
    for (let turn = 0; rates && turn < turns + asked; turn++) {
      const cacheWrite = cell.prefixTokens + Math.min(turn, turns) * TURN_TOKENS;
      usd += amountOf({ cacheRead: 0, cacheWrite, input: 0, output: ANSWER_TOKENS }, rates);
    }
  }
  return { cells: cells.length, requests, pings, ms, usd: rates && usd };
};
