/**
 * The list of sessions as it stands on the page: its rows change where they are. What is new, or would stand elsewhere
 * by now, is counted and waits until the reader wants the new order.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Page, SessionView } from '../../server/schemas.ts';
import { door } from '../data/door.ts';
import { useChanges } from '../data/live.ts';

export type SessionFilter = {
  readonly q: string;
  readonly status: string;
  readonly agent: string;
};

export type SessionList = {
  readonly rows: readonly SessionView[];
  /** Undefined until the first answer. */
  readonly isComplete: boolean | undefined;
  readonly problem: unknown;
  /** Sessions that are new, or would stand higher. */
  readonly moved: number;
  /** Takes the new order. */
  readonly apply: () => void;
  readonly more: () => void;
};

const PAGE = 50;

type Held = {
  readonly rows: readonly SessionView[];
  readonly next: string | undefined;
  readonly moved: ReadonlySet<string>;
};

const NOTHING: Held = { rows: [], next: undefined, moved: new Set() };

export const useSessionList = (filter: SessionFilter): SessionList => {
  const path = pathOf(filter);
  const [held, setHeld] = useState<{ readonly path: string } & Held>();
  const [problem, setProblem] = useState<unknown>();
  const isCurrent = held?.path === path;
  const shown: Held = held ?? NOTHING;
  const asked = useRef(0);
  const apply = useCallback(() => {
    // Answers may overtake each other: what was asked for last is what is shown.
    const mine = ++asked.current;
    const unless = (take: () => void): void => (asked.current === mine ? take() : undefined);
    door.read<Page<SessionView>>(path).then(
      ({ items, next }) =>
        unless(() => {
          setProblem(undefined);
          setHeld((last) => ({ path, rows: newest(items, last?.rows ?? []), next, moved: new Set() }));
        }),
      (error: unknown) => unless(() => setProblem(error)),
    );
  }, [path]);
  useEffect(apply, [apply]);
  const looking = useRef(false);
  const more = (): void => {
    if (shown.next === undefined || looking.current) return;
    looking.current = true;
    door
      .read<Page<SessionView>>(shown.next)
      .then(
        ({ items, next }) =>
          setHeld((last) => (last?.path === path ? { ...last, ...withPage(last, items), next } : last)),
        setProblem,
      )
      .finally(() => {
        looking.current = false;
      });
  };
  useChanges((session) => {
    if (session) setHeld((last) => last && { ...last, ...withChange(last, session, filter) });
    // After a break anything may be old; what stands here is asked for again, and moves only where it was empty.
    else
      lookAgain(path, (items) =>
        setHeld((last) => (last?.path === path ? { ...last, ...refreshed(last, items, filter) } : last)),
      );
  });
  return {
    rows: shown.rows,
    isComplete: isCurrent ? shown.next === undefined : undefined,
    problem,
    moved: shown.moved.size,
    apply,
    more,
  };
};

const pathOf = ({ q, status, agent }: SessionFilter): string => {
  const query = new URLSearchParams({ limit: String(PAGE) });
  if (q !== '') query.set('q', q);
  if (status !== '') query.set('status', status);
  if (agent !== '') query.set('agent', agent);
  return `/sessions?${query.toString()}`;
};

const lookAgain = (path: string, take: (items: readonly SessionView[]) => void): void => {
  // A failure is the connection's to tell: it is what brought this look about.
  door.read<Page<SessionView>>(path).then(
    ({ items }) => take(items),
    () => undefined,
  );
};

/** What was heard of a session while the list was under way is newer than the list. */
const newest = (items: readonly SessionView[], known: readonly SessionView[]): readonly SessionView[] => {
  const rows = new Map(known.map((row) => [row.session, row]));
  return items.map((item) => {
    const row = rows.get(item.session);
    return row && row.head > item.head ? row : item;
  });
};

const withPage = ({ rows }: Held, items: readonly SessionView[]): Pick<Held, 'rows'> => {
  const known = new Set(rows.map(({ session }) => session));
  return { rows: [...rows, ...items.filter(({ session }) => !known.has(session))] };
};

const withChange = ({ rows, moved, ...rest }: Held, session: SessionView, filter: SessionFilter): Held => {
  const at = rows.findIndex((row) => row.session === session.session);
  if (at < 0)
    return { ...rest, rows, moved: fits(session, filter) ? new Set(moved).add(session.session) : moved };
  if ((rows[at]?.head ?? 0) > session.head) return { ...rest, rows, moved };
  const changed = [...rows];
  changed[at] = session;
  const isFirst = rows.every((row, i) => i === at || row.updatedAt <= session.updatedAt) && at === 0;
  return { ...rest, rows: changed, moved: isFirst ? moved : new Set(moved).add(session.session) };
};

const refreshed = (held: Held, items: readonly SessionView[], filter: SessionFilter): Held => {
  if (held.rows.length === 0) return { ...held, rows: items };
  return items.reduce((last, item) => {
    const known = last.rows.find(({ session }) => session === item.session);
    return known?.head === item.head ? last : withChange(last, item, filter);
  }, held);
};

const fits = (session: SessionView, { q, status, agent }: SessionFilter): boolean => {
  const text = `${session.title}\n${session.agent}\n${session.session}`.toLowerCase();
  return (
    (status === '' || session.status === status) &&
    (agent === '' || session.agent === agent) &&
    q
      .toLowerCase()
      .split(/\s+/u)
      .every((word) => text.includes(word))
  );
};
