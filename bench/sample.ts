/** Numbers from repeated measurements. */

/** Middle, least and greatest of the repetitions. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

export const spreadOf = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor((sorted.length - 1) / 2);
  const [low = 0, high = low] = sorted.slice(middle);
  return {
    median: sorted.length % 2 === 1 ? low : (low + high) / 2,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
  };
};

export const medianOf = (values: readonly number[]): number => spreadOf(values).median;

/**
 * Measures A B A B A: each B lies between two A, and its ratio is to their mean, so that a machine that grows busier
 * or quieter meanwhile changes the times and hardly the ratios.
 */
export const alternate = async <A, B>(
  rounds: number,
  a: () => Promise<A>,
  b: () => Promise<B>,
): Promise<{ readonly a: readonly A[]; readonly b: readonly B[] }> => {
  const ones = [await a()];
  const others: B[] = [];
  for (let round = 0; round < rounds; round++) {
    others.push(await b());
    ones.push(await a());
  }
  return { a: ones, b: others };
};

/** The ratios of every B to the mean of its two neighbours. */
export const pairedRatios = (a: readonly number[], b: readonly number[]): readonly number[] =>
  b.map((value, i) => value / (((a[i] ?? 0) + (a[i + 1] ?? 0)) / 2));
