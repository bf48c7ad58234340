/** A long log in pieces, so that what has been folded is forgotten before the rest is read. */
import type { StoredEvent } from '../event/envelope.ts';
import type { LogStore } from './store.ts';

export const PAGE_EVENTS = 1000;

/** Every event from `from` to `to`, in order. Without `to` it ends at the head that stands when it gets there. */
export async function* pages(
  store: LogStore,
  session: string,
  {
    from = 1,
    to = Number.MAX_SAFE_INTEGER,
  }: { readonly from?: number; readonly to?: number | undefined } = {},
): AsyncGenerator<readonly StoredEvent[], void, undefined> {
  for (let at = from; at <= to; at += PAGE_EVENTS) {
    const page = await store.read(session, at, Math.min(to, at + PAGE_EVENTS - 1));
    if (page.length > 0) yield page;
    if (page.length < PAGE_EVENTS) return;
  }
}
