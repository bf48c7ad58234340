/**
 * Where every row of the record stands, by arithmetic over the index: nothing is measured, so nothing jumps and the
 * scroll bar is true. Pure.
 */
export type Sizes = { readonly row: number; readonly step: number; readonly turn: number };

export type Geometry = {
  readonly head: number;
  /** First events of sections and their turns, in order. */
  readonly sections: readonly { readonly turn: number; readonly from: number }[];
  /** First events of steps, in order. */
  readonly steps: readonly number[];
};

export type Item =
  | { readonly kind: 'turn'; readonly from: number; readonly turn: number; readonly y: number }
  | { readonly kind: 'step'; readonly from: number; readonly y: number }
  | { readonly kind: 'event'; readonly seq: number; readonly y: number };

export type Layout = {
  readonly height: number;
  /** Events in it. */
  readonly count: number;
  /** The upper edge of an event's row; of one that is not in it, where it would be. */
  readonly yOf: (seq: number) => number;
  readonly itemsIn: (top: number, bottom: number) => readonly Item[];
  /** So many events further; it ends at the ends. */
  readonly moved: (seq: number, by: number) => number;
  /** The section that is under way at a height. */
  readonly sectionAt: (y: number) => { readonly turn: number; readonly from: number } | undefined;
};

/** Index of the last that is not above `value`; -1 where none is. */
export const lastNotAbove = (sorted: readonly number[], value: number): number => {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

/** Every event up to `to`, with headings of turns and steps. */
export const fullLayout = ({ sections, steps }: Geometry, to: number, sizes: Sizes): Layout => {
  const starts = sections.map(({ from }) => from);
  const yOf = (seq: number): number =>
    (lastNotAbove(starts, seq) + 1) * sizes.turn +
    (lastNotAbove(steps, seq) + 1) * sizes.step +
    (seq - 1) * sizes.row;
  const seqAt = (y: number): number => {
    let [low, high] = [1, to];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (yOf(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const itemsIn = (top: number, bottom: number): readonly Item[] => {
    const items: Item[] = [];
    for (let seq = seqAt(top); seq <= to; seq++) {
      const y = yOf(seq);
      const step = steps[lastNotAbove(steps, seq)] === seq;
      const section = sections[lastNotAbove(starts, seq)];
      const above = (step ? sizes.step : 0) + (section?.from === seq ? sizes.turn : 0);
      if (y - above > bottom) break;
      if (section?.from === seq) items.push({ kind: 'turn', from: seq, turn: section.turn, y: y - above });
      if (step) items.push({ kind: 'step', from: seq, y: y - sizes.step });
      items.push({ kind: 'event', seq, y });
    }
    return items;
  };
  return {
    height: to === 0 ? 0 : yOf(to) + sizes.row,
    count: to,
    yOf,
    itemsIn,
    moved: (seq, by) => Math.min(Math.max(1, seq + by), to),
    sectionAt: (y) => (to === 0 ? undefined : sections[lastNotAbove(starts, seqAt(y))]),
  };
};

/** Only these events, up to `to`. */
export const filteredLayout = (found: readonly number[], to: number, sizes: Sizes): Layout => {
  const seqs = found.slice(0, lastNotAbove(found, to) + 1);
  const placeOf = (seq: number): number => Math.max(0, lastNotAbove(seqs, seq));
  return {
    height: seqs.length * sizes.row,
    count: seqs.length,
    yOf: (seq) => placeOf(seq) * sizes.row,
    itemsIn: (top, bottom) => {
      const first = Math.max(0, Math.floor(top / sizes.row));
      const last = Math.min(seqs.length - 1, Math.floor(bottom / sizes.row));
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => ({
        kind: 'event' as const,
        seq: seqs[first + i] ?? 0,
        y: (first + i) * sizes.row,
      }));
    },
    moved: (seq, by) => {
      const at = lastNotAbove(seqs, seq);
      const next = seqs[at] === seq || by < 0 ? at + by : at + by;
      return seqs[Math.min(Math.max(0, next), seqs.length - 1)] ?? seq;
    },
    sectionAt: () => undefined,
  };
};
