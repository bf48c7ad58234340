/**
 * Paths that no file tool may touch, known by identity: the store, the policy, the recordings. Looked up
 * anew for every act, because a store may be created, or replaced, after the tools were made.
 */
import { lstatSync, statSync, type BigIntStats } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { badInput } from '../../errors.ts';
import { ToolError } from '../tool.ts';
import { sameFile, type Directory } from './directory.ts';
import { quoted } from './fault.ts';
import { foldName } from './path.ts';

/** Files that SQLite keeps beside a database and without which it is another database. */
const BESIDE_DATABASE = ['', '-wal', '-shm', '-journal'];

const BIGINT = { bigint: true, throwIfNoEntry: false } as const;

const refusal = (path: string): ToolError =>
  new ToolError(
    `${quoted(path)} is protected: this program keeps its record there, and no tool may read or change it. Work on other files.`,
    { code: 'protected-path', details: { path } },
  );

export class Protection {
  readonly #paths: readonly string[];

  /** `paths` are the operator's, absolute or relative to the working directory; they need not exist yet. */
  constructor(paths: readonly string[]) {
    this.#paths = paths.map((path) => resolve(path));
  }

  /** Refuses a folder that lies inside something protected: every path in it would be. */
  checkRoot(root: string): void {
    for (let above = root; ; above = dirname(above)) {
      const stats = statSync(above, BIGINT);
      if (stats && this.#isProtected(stats))
        throw badInput(
          'folder-protected',
          `The folder "${root}" lies inside a protected path. Give the file tools a folder outside the store.`,
          { root },
        );
      if (above === dirname(above)) return;
    }
  }

  /** Throws `protected-path` where the entry `name` of `directory` is protected, whether it exists or not. */
  check(path: string, directory: Directory, name: string): void {
    const stats = directory.statNow(name);
    if (stats && this.#isProtected(stats)) throw refusal(path);
    for (const own of this.#paths) {
      const folded = foldName(name);
      if (!BESIDE_DATABASE.some((end) => foldName(basename(own) + end) === folded)) continue;
      const parent = statSync(dirname(own), BIGINT);
      if (parent && sameFile(parent, directory.stats)) throw refusal(path);
    }
  }

  /** The same for an entry that was opened, which nobody can swap any more. */
  checkFound(path: string, stats: BigIntStats): void {
    if (this.#isProtected(stats)) throw refusal(path);
  }

  #isProtected(stats: BigIntStats): boolean {
    return this.#paths.some((own) => {
      const target = statSync(own, BIGINT);
      if (target && sameFile(target, stats)) return true;
      const link = lstatSync(own, BIGINT);
      return link !== undefined && sameFile(link, stats);
    });
  }
}
