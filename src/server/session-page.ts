/** One page of the list of sessions, searched where words are given. */
import type { SessionQuery, SessionRow } from '../log/store.ts';
import type { Runtime } from '../worker/runtime.ts';

export type PageQuery = SessionQuery & {
  readonly limit: number;
  /** All of them have to stand in a row. Lower case. */
  readonly words: readonly string[];
};

export type SessionPage = {
  readonly rows: readonly SessionRow[];
  /** Where the next page goes on; undefined where there is none. */
  readonly last: SessionRow | undefined;
};

/** Rows looked at for one page of a search: a search that finds little comes in several pages. */
const LOOKED_AT_MAX = 10_000;

/** Search is without case; what a person typed is taken as words. */
export const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');

export const sessionPage = async (
  runtime: Pick<Runtime, 'sessions'>,
  { words, ...query }: PageQuery,
): Promise<SessionPage> => {
  const found: SessionRow[] = [];
  let { after } = query;
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += query.limit) {
    const rows = await runtime.sessions({ ...query, ...(after && { after }) });
    for (const row of rows) {
      if (!holds(row, words)) continue;
      found.push(row);
      if (found.length === query.limit) return { rows: found, last: row };
    }
    const last = rows.at(-1);
    if (!last || rows.length < query.limit) return { rows: found, last: undefined };
    after = { session: last.session, updatedAt: last.summary.updatedAt };
    if (looked + query.limit >= LOOKED_AT_MAX) return { rows: found, last };
  }
  return { rows: found, last: undefined };
};

const holds = ({ session, summary }: SessionRow, words: readonly string[]): boolean => {
  if (words.length === 0) return true;
  const text = `${summary.title}\n${summary.agent}\n${session}`.toLowerCase();
  return words.every((word) => text.includes(word));
};
