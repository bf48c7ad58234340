/** Holds what a case expects against what came of it: resting state, reason, order of entries, effects. */
import { expect } from 'vitest';
import type { LogEvent } from '../../src/event/events.ts';
import { statusOf } from '../../src/session/summary.ts';
import type { Bench } from './bench.ts';
import type { GivenCase } from './given.ts';
import { EVENTS, REASONS, RUNS, STATES_NOT_ENTRIES } from './words.ts';

export const expectRun = async (bench: Bench, wanted: string, reason?: string): Promise<void> => {
  const state = await bench.runtime.state(bench.session);
  const status = statusOf(state);
  // A list knows no more than that it failed; how a turn ended says more.
  const ended = status === 'failed' ? state.turns.at(-1)?.outcome : status;
  expect(RUNS[wanted], `the state ${wanted}`).toContain(ended);
  if (reason === undefined) return;
  const last = (await bench.events()).findLast((event) => event.type === 'turn.ended');
  expect(REASONS[reason], `the reason ${reason}`).toContain(
    last?.type === 'turn.ended' ? last.data.reason : undefined,
  );
};

const ENTRY = /^([a-z_]+\.[a-z_]+)(?: (c\d+))?(?: (.*))?$/;

type Wanted = {
  readonly text: string;
  readonly word: string;
  readonly label: string | undefined;
  readonly reason: string | undefined;
};

const wantedOf = (text: string): Wanted | undefined => {
  const [, word = '', label, rest = ''] = ENTRY.exec(text) ?? [];
  if (STATES_NOT_ENTRIES.has(word)) return undefined;
  if (!EVENTS[word]) throw new Error(`the table has no word for "${text}"`);
  const [, reason] = /\breason=([A-Za-z_]+)/.exec(rest) ?? [];
  return { text, word, label, reason };
};

const reasonOf = ({ data }: LogEvent): string | undefined => {
  const { reason, code, mode } = data as { reason?: string; code?: string; mode?: string };
  return reason ?? code ?? mode;
};

/** Entries of one call, and entries of none, stand in the given order. Between two calls there is no order. */
export const expectLog = async (bench: Bench, entries: readonly string[]): Promise<void> => {
  const events = await bench.events();
  const ids = new Map<string, string | undefined>();
  const places = new Map<string, number>();
  let general = 0;
  for (const entry of entries) {
    const wanted = wantedOf(entry);
    if (!wanted) continue;
    const { word, label, reason } = wanted;
    if (label !== undefined && !ids.has(label)) ids.set(label, await bench.idOf(label));
    const from = label === undefined ? general : (places.get(label) ?? 0);
    const found = events.findIndex(
      (event, i) =>
        i >= from &&
        EVENTS[word]?.(event) === true &&
        (label === undefined || (event.data as { call?: string }).call === ids.get(label)) &&
        (reason === undefined ||
          (REASONS[reason] ?? [`no word for ${reason}`]).includes(String(reasonOf(event))) ||
          REASONS[reason]?.length === 0),
    );
    expect(found, `"${entry}" in ${events.map(brief).join(', ')}`).toBeGreaterThanOrEqual(0);
    if (label === undefined) general = found + 1;
    else places.set(label, found + 1);
  }
};

const brief = (event: LogEvent): string =>
  `${event.type} ${(event.data as { call?: string }).call ?? ''} ${reasonOf(event) ?? ''}`.trim();

export const expectEffects = (bench: Bench, effects: Readonly<Record<string, number | string>>): void => {
  for (const [name, wanted] of Object.entries(effects))
    if (typeof wanted === 'number') expect(bench.effects[name] ?? 0, `effects of ${name}`).toBe(wanted);
};

/** All that the file says in a form that needs no interpretation. */
export const expectGiven = async (bench: Bench, { expect: wanted }: GivenCase): Promise<void> => {
  if (wanted.run !== undefined) await expectRun(bench, wanted.run, wanted.reason);
  if (wanted.log) await expectLog(bench, wanted.log);
  if (wanted.effects) expectEffects(bench, wanted.effects);
};
