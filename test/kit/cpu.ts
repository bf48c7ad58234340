/** Time of the processor, which the load of a machine does not change; and what a machine needs for work that is known. */

/** Milliseconds of the processor that work takes: the least of several times. */
export const leastCpuMs = async (work: () => unknown, times = 3): Promise<number> => {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < times; i++) {
    const began = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(began);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
};

const LOOKS = 1_000_000;
const TEXT = 'abcdefghij'.repeat(LOOKS / 10);

/** What this machine takes to look at each of a million characters once: a measure for work that is linear. */
export const lookMs = (): Promise<number> => {
  let sum = 0;
  return leastCpuMs(() => {
    for (let i = 0; i < LOOKS; i++) sum = (sum + TEXT.charCodeAt(i)) | 0;
    return sum;
  }, 10);
};
