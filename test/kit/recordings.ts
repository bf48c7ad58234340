/** Recorded exchanges of real providers, beside this checkout; nothing of them is kept in the project. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PATH = join(import.meta.dirname, '../../../shared/data/provider-exchanges');
const FOLDER = existsSync(PATH) ? PATH : undefined;

export type Exchange = {
  readonly request: { readonly path: string; readonly body?: Record<string, unknown> };
  readonly response: {
    readonly status: number;
    readonly body?: Record<string, unknown>;
    readonly sse?: string;
  };
};

export type Recording = {
  readonly id: string;
  readonly provider: string;
  readonly tags: readonly string[];
  readonly exchanges: readonly Exchange[];
};

export const recordingsMissing: string | undefined =
  FOLDER === undefined ? 'the recorded exchanges are not beside this checkout (../shared/data)' : undefined;

export const recordings = (name: string): readonly Recording[] =>
  FOLDER === undefined
    ? []
    : readFileSync(join(FOLDER, `${name}.jsonl`), 'utf8')
        .split('\n')
        .filter((row) => row !== '')
        .map((row) => JSON.parse(row) as Recording);
