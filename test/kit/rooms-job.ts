/** A job with nothing special about it; apart from the rest of the kit, so that a child process can use it, too. */
import type { RoomJob } from '../../src/room/job.ts';

export const jobOf = (code: string, more: Partial<RoomJob> = {}): Omit<RoomJob, 'engine' | 'limits'> => ({
  code,
  input: 'null',
  files: new Map(),
  clockMs: 1_795_000_000_000,
  seed: 'seed',
  tools: [],
  answers: [],
  ...more,
});
