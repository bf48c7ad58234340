/**
 * The desk of an example agent: its own copy of the example's data, on which it reads and writes. The data
 * itself is never changed; removing the desk starts over.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export type DeskOptions = {
  /** Where the desk is, or comes to be. */
  readonly desk: string;
  /** The folder it is copied from. */
  readonly data: string;
  /** Adds what is made from the data instead of copied. Gets the unfinished desk. */
  readonly furnish?: (folder: string) => void;
};

/** Sets a desk up where there is none. Whole or not at all, also where several processes are first at once. */
export const setUpDesk = ({ desk, data, furnish }: DeskOptions): void => {
  if (existsSync(desk)) return;
  mkdirSync(dirname(desk), { recursive: true });
  const unfinished = mkdtempSync(join(dirname(desk), `.${basename(desk)}-`));
  try {
    cpSync(data, unfinished, { recursive: true });
    furnish?.(unfinished);
    renameSync(unfinished, desk);
  } catch (error) {
    // Another process was faster: its desk is as good.
    if (!existsSync(desk)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
};
