/**
 * What waits, as it stands on the page. A card that is being read stays as it was read: that it was answered elsewhere,
 * or is asked anew, is said beside it. New cards join at the end; nothing else moves.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { FateView, InboxCard, InboxView } from '../../server/inbox-shapes.ts';
import { door } from '../data/door.ts';
import { useChanges } from '../data/live.ts';
import { callUrl, cardId } from './card-id.ts';

/** One that has been answered, here or elsewhere, while this page was open. */
export type Ended = { readonly card: InboxCard; readonly fate: FateView };

export type Inbox = {
  /** Undefined until the first answer. */
  readonly cards: readonly InboxCard[] | undefined;
  /** Newest first. */
  readonly ended: readonly Ended[];
  readonly unread: number;
  readonly problem: unknown;
  /** There is more than was asked for. */
  readonly more: (() => void) | undefined;
  readonly again: () => void;
  /** Asks how one session stands now. */
  readonly look: (session: string) => Promise<void>;
};

type Held = {
  readonly cards: readonly InboxCard[];
  readonly next: string | undefined;
  readonly unread: number;
};

const ENDED_SHOWN_MAX = 10;

export const useInbox = (): Inbox => {
  const [held, setHeld] = useState<Held>();
  const [ended, setEnded] = useState<readonly Ended[]>([]);
  const [problem, setProblem] = useState<unknown>();
  const latest = useRef<Held>(undefined);
  const order = useOrder();
  const take = useCallback((next: Held) => {
    const gone = latest.current?.cards.filter((card) => !next.cards.some((one) => isSame(one, card))) ?? [];
    latest.current = next;
    setHeld(next);
    for (const card of gone)
      void fateOf(card).then((fate) => {
        if (fate.kind === 'open') return;
        setEnded((last) =>
          [{ card, fate }, ...last.filter((one) => !isSame(one.card, card))].slice(0, ENDED_SHOWN_MAX),
        );
      }, setProblem);
  }, []);
  const again = useCallback(() => {
    const asked = order.ask();
    door.read<InboxView>('/inbox').then((view) => {
      setProblem(undefined);
      const before = latest.current?.cards ?? [];
      const items = [
        ...view.items.filter(({ session }) => !order.isKnownLater(session, asked)),
        ...before.filter(({ session }) => order.isKnownLater(session, asked)),
      ];
      take({ cards: inPlace(before, items), next: view.next, unread: view.unread });
    }, setProblem);
  }, [take, order]);
  useEffect(again, [again]);
  const look = useCallback(
    async (session: string): Promise<void> => {
      const asked = order.ask();
      const view = await door.read<InboxView>(`/inbox?session=${encodeURIComponent(session)}`);
      const before = latest.current;
      if (!before || order.isKnownLater(session, asked)) return;
      order.know(session, asked);
      const others = before.cards.filter((card) => card.session !== session);
      take({ ...before, cards: inPlace(before.cards, [...others, ...view.items]) });
    },
    [take, order],
  );
  const changed = useGathered((sessions) => {
    if (sessions.size > LOOKS_MAX) return again();
    // What cannot be asked now is asked when the connection is back.
    for (const session of sessions) look(session).catch(() => undefined);
    return undefined;
  });
  useChanges((session) => {
    if (!session) return again();
    const isKnown = latest.current?.cards.some((card) => card.session === session.session) === true;
    if (isKnown || session.waiting + session.inDoubt > 0) changed(session.session);
    return undefined;
  });
  const next = held?.next;
  const more = (): void => {
    if (next === undefined) return;
    door.read<InboxView>(next).then((view) => {
      const cards = [...(latest.current?.cards ?? []), ...view.items];
      take({ cards, next: view.next, unread: (latest.current?.unread ?? 0) + view.unread });
    }, setProblem);
  };
  return {
    cards: held?.cards,
    ended,
    unread: held?.unread ?? 0,
    problem,
    more: next === undefined ? undefined : more,
    again,
    look,
  };
};

/** Answers may come in another order than they were asked for: an older one says nothing about a session any more. */
class Order {
  #asked = 0;
  readonly #known = new Map<string, number>();

  ask(): number {
    return ++this.#asked;
  }

  know(session: string, asked: number): void {
    this.#known.set(session, asked);
  }

  isKnownLater(session: string, asked: number): boolean {
    return (this.#known.get(session) ?? 0) > asked;
  }
}

const useOrder = (): Order => useState(() => new Order())[0];

/** Milliseconds in which changes are gathered, and sessions that are then asked one by one. */
const GATHER_MS = 100;
const LOOKS_MAX = 4;

/** Calls `tell` a little later with all that was named meanwhile. */
const useGathered = (tell: (names: ReadonlySet<string>) => void): ((name: string) => void) => {
  const latest = useRef(tell);
  const waiting = useRef<Set<string>>(new Set());
  useEffect(() => {
    latest.current = tell;
  });
  return useCallback((name) => {
    waiting.current.add(name);
    if (waiting.current.size > 1) return;
    setTimeout(() => {
      const names = waiting.current;
      waiting.current = new Set();
      latest.current(names);
    }, GATHER_MS);
  }, []);
};

const isSame = (one: InboxCard, other: InboxCard): boolean =>
  one.kind === other.kind && cardId(one) === cardId(other);

/** Known ones stay where they are, as they are now; new ones come behind them. */
const inPlace = (before: readonly InboxCard[], now: readonly InboxCard[]): readonly InboxCard[] => [
  ...before.flatMap((card) => now.find((one) => isSame(one, card)) ?? []),
  ...now.filter((card) => !before.some((one) => isSame(one, card))),
];

export const fateOf = (card: InboxCard): Promise<FateView> =>
  door.read<FateView>(callUrl(card, `/fate?of=${card.kind === 'question' ? 'decide' : 'settle'}`));
