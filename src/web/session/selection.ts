/** Which request belongs to what is selected: the one that was built last then. */
import type { RowsView } from '../../server/window-shapes.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { sessionUrl } from './session-data.ts';

type Where = { readonly at: number; readonly isPast: boolean; readonly last: number };

/** Counted from 1; 0 before the first. */
export const useRequestOf = (session: string, seq: number, { at, last }: Where): number => {
  const path = seq === at ? undefined : sessionUrl(session, `/rows?from=${seq}&to=${seq}`);
  const { data } = useQuery<RowsView>(path, (signal) => door.read(path ?? '', signal), { keepLast: true });
  if (path === undefined) return last;
  const found = data?.rows[0]?.request ?? last;
  return Math.min(last, Math.max(1, found));
};
