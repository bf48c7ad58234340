/** What repeated runs say: the rate, how sure it is, and how likely it is that all of k runs pass. */

/** The 97.5 % point of the normal distribution: intervals of 95 %. */
const Z = 1.959964;

export type Interval = { readonly low: number; readonly high: number };

/**
 * The score interval for a share of so many (E. B. Wilson, 1927): sound for few runs and for shares near 0 and 1.
 * Undefined without a run.
 */
export const wilson = (passed: number, all: number): Interval | undefined => {
  if (all === 0) return undefined;
  const share = passed / all;
  const scale = 1 + Z ** 2 / all;
  const middle = (share + Z ** 2 / (2 * all)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / all + Z ** 2 / (4 * all ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
};

/**
 * pass^k as tau-bench has it (Yao and others, 2024): the chance that k runs, drawn from those there were without
 * putting one back, all passed: C(passed, k) / C(all, k). Undefined where there are fewer than k.
 */
export const passPower = (passed: number, all: number, k: number): number | undefined => {
  if (k < 1 || k > all) return undefined;
  let chance = 1;
  for (let i = 0; i < k; i++) chance *= Math.max(0, passed - i) / (all - i);
  return chance;
};
