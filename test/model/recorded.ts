/** Recorded exchanges of the providers: real traffic that nobody here wrote. Lies beside the project, if at all. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const FOLDER = resolve(import.meta.dirname, '../../../shared/data/provider-exchanges');

export const recordedMissing: string | undefined = existsSync(FOLDER)
  ? undefined
  : `SKIPPED: no recorded exchanges at ${FOLDER}`;

export const recordedFile = (name: string): string => resolve(FOLDER, name);

export type JsonRecord = { readonly [key: string]: unknown };

export type Exchanged = {
  readonly id: string;
  readonly path: string;
  readonly sent: JsonRecord;
  readonly status: number;
  /** A whole reply, or a stream as it came. */
  readonly body: JsonRecord | undefined;
  readonly sse: string | undefined;
};

type Line = {
  readonly id: string;
  readonly exchanges: readonly {
    readonly request: { readonly method: string; readonly path: string; readonly body?: unknown };
    readonly response: { readonly status: number; readonly body?: unknown; readonly sse?: string };
  }[];
};

const linesOf = (file: string): readonly unknown[] =>
  recordedMissing === undefined
    ? readFileSync(resolve(FOLDER, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown)
    : [];

/** The recordings of a file, each with its POSTs to this path. */
export const recordings = (file: string, path: string): readonly (readonly Exchanged[])[] =>
  (linesOf(file) as readonly Line[])
    .map(({ id, exchanges }) =>
      exchanges.flatMap(({ request, response }, i): Exchanged[] =>
        request.method === 'POST' && request.path === path
          ? [
              {
                id: `${id}#${i}`,
                path,
                sent: (request.body ?? {}) as JsonRecord,
                status: response.status,
                body: response.body as JsonRecord | undefined,
                sse: response.sse,
              },
            ]
          : [],
      ),
    )
    .filter((exchanges) => exchanges.length > 0);

type Fixture =
  | { readonly id: string; readonly kind: 'json'; readonly body: JsonRecord }
  | { readonly id: string; readonly kind: 'stream'; readonly data: readonly string[] };

/** Reply bodies and streams of a second project's tests, by the beginning of their name. */
export const fixtures = (prefix: string): readonly Fixture[] =>
  (linesOf('vercel-ai-fixtures.jsonl') as readonly Fixture[]).filter(({ id }) => id.startsWith(prefix));

/** A fixture's events as a stream has them. */
export const sseOf = (data: readonly string[], done: boolean = false): string =>
  data.map((event) => `data: ${event}\n\n`).join('') + (done ? 'data: [DONE]\n\n' : '');

/** Whether a value has everything that another has; members beyond that do not matter. */
export const includes = (whole: unknown, part: unknown): boolean => {
  if (typeof part !== 'object' || part === null) return whole === part;
  if (typeof whole !== 'object' || whole === null) return false;
  if (Array.isArray(part))
    return (
      Array.isArray(whole) &&
      whole.length === part.length &&
      part.every((item, i) => includes(whole[i], item))
    );
  return Object.entries(part).every(([key, value]) => includes((whole as JsonRecord)[key], value));
};
