/**
 * One session as this page knows it: how it stands at the place that is looked at, where its turns and steps begin, and
 * what its model is just saying. The stream of the session says when there is more; it is asked for in pieces.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { IndexView, StandingView } from '../../server/window-shapes.ts';
import { door } from '../data/door.ts';
import { connection } from '../data/live.ts';
import { useQuery } from '../data/query.ts';
import { useStore } from '../data/store.ts';
import type { Geometry } from './layout.ts';

export const sessionUrl = (session: string, rest: string): string =>
  `/sessions/${encodeURIComponent(session)}${rest}`;

export type SessionData = {
  readonly geometry: Geometry | undefined;
  readonly standing: StandingView | undefined;
  readonly problem: unknown;
  readonly again: () => void;
  /** Text of the answer that is just coming; empty where none is. */
  readonly saying: string;
};

/** `at` is the event that is looked at; undefined: the head, as it grows. */
export const useSessionData = (session: string, at: number | undefined): SessionData => {
  const { geometry, problem: indexProblem, look } = useGeometry(session);
  const head = geometry?.head;
  const path = sessionUrl(session, `/standing${at === undefined ? '' : `?at=${at}`}`);
  const standing = useQuery<StandingView>(path, (signal) => door.read(path, signal), { keepLast: true });
  const { again } = standing;
  const isPast = at !== undefined;
  const known = standing.data?.head ?? head;
  useEffect(() => {
    if (head !== undefined && known !== undefined && head > known && !isPast) again();
  }, [head, known, isPast, again]);
  const saying = useStream(session, head, look);
  return {
    geometry,
    standing: standing.data,
    problem: standing.problem ?? indexProblem,
    again: () => {
      look();
      again();
    },
    saying,
  };
};

const useGeometry = (session: string) => {
  const [geometry, setGeometry] = useState<Geometry>();
  const [problem, setProblem] = useState<unknown>();
  const latest = useRef<Geometry>(undefined);
  const look = useCallback(() => {
    const { head = 0 } = latest.current ?? {};
    door.read<IndexView>(sessionUrl(session, `/index?after=${head}`)).then((more) => {
      // Two looks may have been under way: the one that saw more is right.
      if (latest.current && more.head <= latest.current.head) return;
      latest.current = withMore(latest.current, more, head);
      setProblem(undefined);
      setGeometry(latest.current);
    }, setProblem);
  }, [session]);
  useEffect(() => {
    latest.current = undefined;
    look();
  }, [look]);
  return { geometry, problem, look };
};

const withMore = (
  known: Geometry | undefined,
  { head, sections, steps }: IndexView,
  after: number,
): Geometry => {
  const before = known ?? { head: 0, sections: [], steps: [] };
  const added = Array.from({ length: sections.length / 2 }, (_, i) => ({
    turn: sections[i * 2] ?? 0,
    from: sections[i * 2 + 1] ?? 0,
  }));
  return {
    head,
    sections: [...before.sections.filter(({ from }) => from <= after), ...added],
    steps: [...before.steps.filter((from) => from <= after), ...steps],
  };
};

/** Milliseconds in which events and words are gathered before the page changes. */
const GATHER_MS = 100;

/** Follows the session while the server is there; hands back what the model is just saying. */
const useStream = (session: string, head: number | undefined, look: () => void): string => {
  const [saying, setSaying] = useState('');
  const isLive = useStore(connection).kind === 'live';
  const isKnown = head !== undefined;
  const start = useRef(0);
  useEffect(() => {
    start.current = head ?? 0;
  }, [head]);
  useEffect(() => {
    if (!isLive || !isKnown) return undefined;
    const stop = new AbortController();
    // What came while the connection was broken.
    look();
    void follow(session, { after: start.current, signal: stop.signal, look, setSaying });
    return () => stop.abort();
  }, [session, isLive, isKnown, look]);
  return saying;
};

type Following = {
  readonly after: number;
  readonly signal: AbortSignal;
  readonly look: () => void;
  readonly setSaying: (text: string) => void;
};

const follow = async (session: string, { after, signal, look, setSaying }: Following): Promise<void> => {
  let text = '';
  let hasNews = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    setSaying(text);
    if (hasNews) look();
    hasNews = false;
  };
  try {
    for await (const item of door.stream(session, { after, signal })) {
      if (item.kind === 'delta') text += item.delta['type'] === 'text' ? String(item.delta['text']) : '';
      else {
        hasNews = true;
        if (ENDS_ANSWER.has(item.event.type)) text = '';
      }
      timer ??= setTimeout(flush, GATHER_MS);
    }
  } catch {
    // The stream of all sessions notices that the server is gone, and begins this one anew when it is back.
  } finally {
    clearTimeout(timer);
    setSaying('');
  }
};

const ENDS_ANSWER: ReadonlySet<string> = new Set([
  'response.received',
  'request.failed',
  'turn.ended',
  'request.built',
]);
