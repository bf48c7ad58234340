/** "Did you mean": the known word that a misspelt one is nearest to. */

/** Words further away are no help. */
const DISTANCE_MAX = 3;
const WORD_LENGTH_MAX = 64;

export const nearest = (word: string, known: readonly string[]): string | undefined => {
  if (word.length > WORD_LENGTH_MAX) return undefined;
  let best: { readonly known: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = distanceOf(word.toLowerCase(), candidate.toLowerCase());
    if (distance < (best?.distance ?? DISTANCE_MAX + 1)) best = { known: candidate, distance };
  }
  // A short word differs from most others in few letters.
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.known : undefined;
};

/** Insertions, deletions, changes and swaps of neighbours (optimal string alignment). */
const distanceOf = (one: string, other: string): number => {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[other.length] ?? 0;
};
