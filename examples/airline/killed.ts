/** Processes that are killed and started again: see mortal.ts for the moments at which they die. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Verdict } from './verdict.ts';

/** A process lives for so many moments at most. */
const MOMENTS_MAX = 24;
/**
 * A call that is lost again and again is given up in the end, which is right and not what is looked for here: after
 * an early death the next process lives long enough to finish a call.
 */
const MOMENTS_TO_FINISH = 7;
/** More deaths than any conversation has moments. */
const DEATHS_MAX = 300;

export type Survived = { readonly verdict: Verdict; readonly deaths: number };

/** A conversation, and where its log and the airline's database lie; others may lie there, too. */
export type Place = {
  readonly data: string;
  readonly folder: string;
  readonly id: string;
};

export const playKilled = async (place: Place, seed: number): Promise<Survived> => {
  const random = randomFrom(seed);
  let least = 1;
  for (let deaths = 0; deaths < DEATHS_MAX; deaths++) {
    const moments = least + Math.floor(random() * (MOMENTS_MAX - least + 1));
    least = moments < MOMENTS_TO_FINISH ? MOMENTS_TO_FINISH : 1;
    const output = await runMortal(place, String(moments));
    if (output !== undefined) return { verdict: JSON.parse(output) as Verdict, deaths };
  }
  throw new Error(`${place.id} has not ended after ${DEATHS_MAX} processes.`);
};

/** One process with its death: a number of moments, or `commit`. What it printed, or undefined where it was killed. */
export const runMortal = async ({ data, folder, id }: Place, death: string): Promise<string | undefined> => {
  // Compiled code is kept from one process to the next; it would be most of a short life.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const program = join(import.meta.dirname, 'mortal.ts');
  const child = spawn(process.execPath, [program, data, folder, id, death], { env });
  const [out, err]: string[][] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out?.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => err?.push(chunk.toString()));
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  child.once('error', reject);
  child.once('close', (code, signal) => {
    if (code === 0) resolve(out?.join(''));
    else if (signal === 'SIGKILL') resolve(undefined);
    else reject(new Error(`The process ended with ${signal ?? code}: ${err?.join('')}`));
  });
  return promise;
};

/** A small generator whose numbers follow from the seed alone (mulberry32). */
const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
