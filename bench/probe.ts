/** What one process can say about itself and its store, without being in the way of what is measured. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** How a measuring process hands its answer to the one that started it: the last line of its output. */
export const answer = (value: object): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

/** Bytes of the pages that hold something, wherever they lie: to fold the write-ahead log in would let it grow anew. */
export const usedBytes = (db: DatabaseSync): number => {
  const pragma = (name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
};

/** iChange of the index header: grows by one with every transaction that wrote (SQLite, "WAL-mode File Format", 2.1). */
const COMMITS_OFFSET = 8;
const COMMITS_BYTES = 4;

/**
 * Transactions committed so far to the WAL database at `path`, by whatever connection. Read from the shared memory
 * file from outside, so that the store under measurement runs as it always does.
 */
export const commitsOf = (path: string): number => {
  const file = openSync(`${path}-shm`, 'r');
  try {
    const bytes = Buffer.alloc(COMMITS_BYTES);
    readSync(file, bytes, 0, COMMITS_BYTES, COMMITS_OFFSET);
    return process.arch === 's390x' ? bytes.readUInt32BE() : bytes.readUInt32LE();
  } finally {
    closeSync(file);
  }
};

/** From the first call of the model of a session to the one after its last step. */
export type StepsTold = {
  /** Milliseconds, summed over all sessions. */
  readonly stepsMs: number;
  /** Transactions that wrote, in the last session. */
  readonly commits: number;
  /** Mean milliseconds of a step in the first tenth and in the last one, in the last session. */
  readonly first: number;
  readonly last: number;
};

/** Takes the time of steps, session after session, and of nothing that is no step. */
export class StepsWatch {
  readonly #path: string;
  #began: number[] = [];
  #commits: number[] = [];
  #stepsMs = 0;

  /** Of the WAL database at `path`. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Forgets the sessions so far. */
  reset(): void {
    this.#stepsMs = 0;
  }

  /** A step begins, from 0, or at `steps` the last one has ended. */
  began(step: number, steps: number): void {
    if (step === 0) [this.#began, this.#commits] = [[], []];
    if (step === 0 || step === steps) this.#commits.push(commitsOf(this.#path));
    this.#began.push(performance.now());
    if (step === steps) this.#stepsMs += (this.#began.at(-1) ?? 0) - (this.#began[0] ?? 0);
  }

  tell(): StepsTold {
    const [first = 0, last = 0] = this.#commits;
    return { stepsMs: this.#stepsMs, commits: last - first, ...tenths(this.#began) };
  }
}

/** From the moments at which steps began. */
const tenths = (began: readonly number[]): { readonly first: number; readonly last: number } => {
  const steps = began.slice(1).map((at, i) => at - (began[i] ?? at));
  const count = Math.max(1, Math.floor(steps.length / 10));
  return { first: mean(steps.slice(0, count)), last: mean(steps.slice(-count)) };
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** Milliseconds of processor time, user and system, since `before`. */
export const cpuMs = (before?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
