/**
 * What waits for people: a list, and one card at a time. The card that is read stays as it was read, whatever happens
 * elsewhere; the next one comes when the reader goes on, or has answered.
 */
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { FateView, InboxCard } from '../../server/inbox-shapes.ts';
import { titleWords } from '../../view/card-words.ts';
import '../style/inbox.css';
import { addressWith, setQuery, useAddress } from '../data/address.ts';
import { whoAmI } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Icon } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import { Revealed } from '../parts/text.tsx';
import { announce } from '../shell/announcer.tsx';
import { useCommands } from '../shell/commands.ts';
import { cardId, cardVersion } from './card-id.ts';
import { DoubtCard } from './doubt-card.tsx';
import { useInbox, type Inbox } from './inbox-list.ts';
import { QuestionCard, type CardProps } from './question-card.tsx';
import { Queue } from './queue.tsx';
import { REST_MS } from './readiness.ts';

const InboxPage = (): ReactNode => {
  const { query } = useAddress();
  const inbox = useInbox();
  const me = useQuery('/me', whoAmI).data?.name ?? '';
  const [rest, setRest] = useState<Rest>();
  const cards = inbox.cards ?? [];
  const desk = useDeskCard(inbox, query.get('sel') ?? undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  const enter = (): void => heading.current?.focus();
  const isOpen = query.has('sel');
  const step = (by: number): void => {
    const at = cards.findIndex((card) => cardId(card) === desk.id);
    const next = cards[Math.min(Math.max(0, at + by), cards.length - 1)];
    if (!next) return;
    setQuery({ sel: cardId(next) });
    requestAnimationFrame(enter);
  };
  useCommands([
    { label: 'Next card', keys: 'j', run: () => step(1) },
    { label: 'Card before', keys: 'k', run: () => step(-1) },
  ]);
  const answered = async (card: InboxCard, said: string): Promise<void> => {
    announce(said);
    const next = nextAfter(cards, card);
    const show = (): void => {
      setRest(undefined);
      desk.forget();
      setQuery({ sel: next && cardId(next) });
      requestAnimationFrame(() =>
        (document.getElementById('card-title') ?? document.getElementById('inbox-title'))?.focus(),
      );
    };
    await inbox.look(card.session).catch(() => undefined);
    if (!isNarrow()) return show();
    // The next button must not come up under the finger that pressed this one.
    setRest({ said, next });
    setTimeout(show, REST_MS);
    return undefined;
  };
  return (
    <main id="main" className={isOpen ? 'inbox has-open' : 'inbox'}>
      <div className="inbox-head">
        <h1 id="inbox-title" tabIndex={-1}>
          Inbox
        </h1>
        <p className="caption">What you decide counts only for the digest beside the buttons.</p>
      </div>
      {inbox.problem !== undefined && <ProblemNote problem={inbox.problem} again={inbox.again} />}
      <Queue inbox={inbox} cards={cards} chosen={desk.id} me={me} enter={enter} />
      <section className="desk" aria-label="The card" tabIndex={-1}>
        {isOpen && (
          <p className="back">
            <Link to={addressWith({ sel: undefined })}>
              <Icon name="left" small /> All that waits
            </Link>
          </p>
        )}
        {rest ? (
          <Resting rest={rest} />
        ) : (
          <Desk desk={desk} inbox={inbox} me={me} heading={heading} answered={answered} />
        )}
      </section>
    </main>
  );
};

export default InboxPage;

const NARROW = '(max-width: 720px)';
const isNarrow = (): boolean => matchMedia(NARROW).matches;

/** The one behind it, or the first; the same where it asks again and nothing else waits. */
const nextAfter = (cards: readonly InboxCard[], card: InboxCard): InboxCard | undefined => {
  const at = cards.findIndex((one) => cardId(one) === cardId(card));
  return cards[at + 1] ?? cards.find((one) => cardId(one) !== cardId(card));
};

type Rest = { readonly said: string; readonly next: InboxCard | undefined };

const Resting = ({ rest: { said, next } }: { readonly rest: Rest }): ReactNode => (
  <div className="resting" role="status">
    <p>
      <Icon name="done" /> {said}
    </p>
    <p className="dim">
      {next ? (
        <>
          Next: <Revealed text={titleWords(next)} />
        </>
      ) : (
        'Nothing more waits here.'
      )}
    </p>
  </div>
);

type DeskCard = {
  /** Of the card that is shown, or would be. */
  readonly id: string | undefined;
  /** As it was when it came up. */
  readonly card: InboxCard | undefined;
  readonly fate: FateView | undefined;
  /** The same call as it is asked about now, where that is something else. */
  readonly now: InboxCard | undefined;
  readonly showNow: () => void;
  /** Nothing is being read any more. */
  readonly forget: () => void;
};

const useDeskCard = ({ cards = [], ended }: Inbox, sel: string | undefined): DeskCard => {
  const [held, setHeld] = useState<InboxCard>();
  const id = sel ?? (held && cardId(held)) ?? (cards[0] && cardId(cards[0]));
  const standing = cards.find((card) => cardId(card) === id);
  const over = ended.find(({ card }) => cardId(card) === id);
  const isHeld = held !== undefined && cardId(held) === id;
  const card = isHeld ? held : (standing ?? over?.card);
  useEffect(() => {
    if (card !== held) setHeld(card);
  }, [card, held]);
  const isOther = standing !== undefined && card !== undefined && isAnother(standing, card);
  return {
    id,
    card: standing && card && !isOther ? standing : card,
    fate: standing ? undefined : over?.fate,
    now: isOther ? standing : undefined,
    showNow: () => setHeld(standing),
    forget: () => setHeld(undefined),
  };
};

const isAnother = (one: InboxCard, other: InboxCard): boolean =>
  one.kind !== other.kind || cardVersion(one) !== cardVersion(other);

type DeskProps = {
  readonly desk: DeskCard;
  readonly inbox: Inbox;
  readonly me: string;
  readonly heading: React.RefObject<HTMLHeadingElement | null>;
  readonly answered: (card: InboxCard, said: string) => Promise<void>;
};

const Desk = ({
  desk: { id, card, fate, now, showNow },
  inbox,
  me,
  heading,
  answered,
}: DeskProps): ReactNode => {
  if (inbox.cards === undefined) return inbox.problem === undefined ? <Loading what="what waits" /> : null;
  if (!card)
    return id === undefined ? (
      <Empty title="Nothing waits for you">
        <p>Calls that policy wants a person to see appear here at once.</p>
      </Empty>
    ) : (
      <Empty title="This does not wait any more">
        <p>
          It was answered, or there was never such a call. <Link to="/inbox">See what waits</Link>
        </p>
      </Empty>
    );
  const props: Omit<CardProps<InboxCard>, 'card'> = {
    me,
    fate,
    heading,
    showNow: now && showNow,
    answered: (said) => void answered(card, said),
    look: () => inbox.look(card.session),
  };
  const key = `${cardId(card)} ${cardVersion(card)}`;
  return card.kind === 'question' ? (
    <QuestionCard key={key} card={card} {...props} />
  ) : (
    <DoubtCard key={key} card={card} {...props} />
  );
};
