/**
 * Answers of the door as components use them: asked once by key, shown at once when they are known, asked again when
 * somebody says that they may have changed. An answer that comes too late for its key is thrown away.
 */
import { useCallback, useEffect, useState } from 'react';

export type Query<T> = {
  readonly data: T | undefined;
  /** Why there is none, or why what is shown may be old. */
  readonly problem: unknown;
  readonly isLoading: boolean;
  readonly again: () => void;
};

/** Answers that are kept for when a reader comes back; the one not asked for the longest goes first. */
const KEPT_MAX = 60;
const kept = new Map<string, unknown>();

const keep = (key: string, value: unknown): void => {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
};

type Answer<T> = {
  readonly key: string | undefined;
  readonly data: T | undefined;
  readonly problem: unknown;
};

export type QueryOptions = {
  /** While the answer for a new key is not there, the one for the old key goes on being shown. */
  readonly keepLast?: boolean;
};

/** `key` names the question and everything it depends on; undefined asks nothing. */
export const useQuery = <T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  { keepLast = false }: QueryOptions = {},
): Query<T> => {
  const [answer, setAnswer] = useState<Answer<T>>({ key: undefined, data: undefined, problem: undefined });
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    if (key === undefined) return undefined;
    const stop = new AbortController();
    load(stop.signal).then(
      (data) => {
        if (stop.signal.aborted) return;
        keep(key, data);
        setAnswer({ key, data, problem: undefined });
      },
      (problem: unknown) => {
        if (stop.signal.aborted) return;
        setAnswer((last) => ({ key, data: last.key === key ? last.data : undefined, problem }));
      },
    );
    return () => stop.abort();
    // The key says what `load` depends on.
  }, [key, asked]);
  const again = useCallback(() => setAsked((count) => count + 1), []);
  const isCurrent = answer.key === key;
  const known = key === undefined ? undefined : (kept.get(key) as T | undefined);
  const data = (isCurrent ? answer.data : undefined) ?? known ?? (keepLast ? answer.data : undefined);
  const problem = isCurrent ? answer.problem : undefined;
  return { data, problem, isLoading: key !== undefined && !isCurrent, again };
};
