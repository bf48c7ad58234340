/** What tools of other processes left in a file, one line each. */
import { existsSync, readFileSync } from 'node:fs';

/** Those lines that end: half of one is another process at work. None where the file is not there. */
export const linesIn = (path: string): readonly string[] => {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').slice(0, -1);
};
