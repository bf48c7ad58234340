/** Rows of the record in windows of a fixed size: asked for when they come near the screen, forgotten when far from it. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { RowsView } from '../../server/window-shapes.ts';
import type { RecordRow } from '../../view/record-rows.ts';
import type { SectionHead, StepHead } from '../../view/session-index.ts';
import { door } from '../data/door.ts';
import { sessionUrl } from './session-data.ts';

const WINDOW = 200;
/** Windows kept: 5,000 rows. */
const WINDOWS_MAX = 25;

type Held = {
  readonly rows: ReadonlyMap<number, RecordRow>;
  readonly sections: ReadonlyMap<number, SectionHead>;
  readonly steps: ReadonlyMap<number, StepHead>;
  /** As of which event the rows were told, and how far the window was filled. */
  readonly at: number;
  readonly to: number;
  /** Whether something in it was open, and may have changed since. */
  readonly isOpen: boolean;
};

export type Rows = {
  readonly row: (seq: number) => RecordRow | undefined;
  readonly section: (from: number) => SectionHead | undefined;
  readonly step: (from: number) => StepHead | undefined;
  /** Says what is on the screen. */
  readonly want: (from: number, to: number) => void;
  readonly problem: unknown;
};

export type Place = {
  readonly session: string;
  /** As of which event rows are told. */
  readonly at: number;
  readonly isPast: boolean;
};

export const useRows = ({ session, at, isPast }: Place): Rows => {
  const held = useRef(new Map<number, Held>());
  const asked = useRef(new Set<string>());
  const wanted = useRef<readonly [number, number]>([0, -1]);
  const [, setVersion] = useState(0);
  const [problem, setProblem] = useState<unknown>();
  const load = useCallback(() => {
    const [first, last] = wanted.current;
    for (let number = first; number <= last; number++) {
      const from = number * WINDOW + 1;
      const to = Math.min(at, from + WINDOW - 1);
      const known = held.current.get(number);
      if (from > at || (known && isFresh(known, { at, to, isPast }))) continue;
      const question = `${number} ${at}`;
      if (asked.current.has(question)) continue;
      asked.current.add(question);
      const path = sessionUrl(session, `/rows?from=${from}&to=${to}${isPast ? `&at=${at}` : ''}`);
      door
        .read<RowsView>(path)
        .then((view) => {
          keep(held.current, number, heldOf(view, at));
          setProblem(undefined);
          setVersion((version) => version + 1);
        }, setProblem)
        .finally(() => asked.current.delete(question));
    }
  }, [session, at, isPast]);
  useEffect(load, [load]);
  const want = useCallback(
    (from: number, to: number) => {
      const [first, last] = [Math.floor((from - 1) / WINDOW), Math.floor((to - 1) / WINDOW)];
      if (first === wanted.current[0] && last === wanted.current[1]) return;
      wanted.current = [first, last];
      load();
    },
    [load],
  );
  const find = (seq: number): Held | undefined => held.current.get(Math.floor((seq - 1) / WINDOW));
  return {
    row: (seq) => find(seq)?.rows.get(seq),
    section: (from) => find(from)?.sections.get(from),
    step: (from) => find(from)?.steps.get(from),
    want,
    problem,
  };
};

/** A window in which nothing was open reads the same at every later place. */
const isFresh = (
  known: Held,
  now: { readonly at: number; readonly to: number; readonly isPast: boolean },
): boolean => {
  if (known.to < now.to) return false;
  if (known.at === now.at) return true;
  return !known.isOpen && known.at <= now.at && !now.isPast;
};

const keep = (held: Map<number, Held>, number: number, one: Held): void => {
  held.delete(number);
  held.set(number, one);
  const [oldest] = held.keys();
  if (held.size > WINDOWS_MAX && oldest !== undefined) held.delete(oldest);
};

const heldOf = ({ rows, sections, steps, to }: RowsView, at: number): Held => ({
  rows: new Map(rows.map((row) => [row.seq, row])),
  sections: new Map(sections.map((head) => [head.from, head])),
  steps: new Map(steps.map((head) => [head.from, head])),
  at,
  to,
  isOpen: rows.some(({ isOpen, state }) => isOpen === true || state !== undefined) || to >= at,
});
