/** All that waits as a list beside the card: one tab stop, arrows inside. New things join at the end and move nothing. */
import { useRef, type KeyboardEvent, type ReactNode } from 'react';
import type { InboxCard } from '../../server/inbox-shapes.ts';
import { doubtQuestion, titleWords } from '../../view/card-words.ts';
import { formatDuration } from '../../view/format.ts';
import { addressWith } from '../data/address.ts';
import { useNow } from '../data/now.ts';
import { Link } from '../parts/link.tsx';
import { Moment } from '../parts/moment.tsx';
import { Revealed } from '../parts/text.tsx';
import { cardId } from './card-id.ts';
import { FateLine } from './fate-note.tsx';
import type { Ended, Inbox } from './inbox-list.ts';

type Props = {
  readonly inbox: Inbox;
  readonly cards: readonly InboxCard[];
  readonly chosen: string | undefined;
  readonly me: string;
  /** Brings the hand to the card. */
  readonly enter: () => void;
};

export const Queue = ({ inbox: { ended, more, unread }, cards, chosen, me, enter }: Props): ReactNode => {
  const list = useRef<HTMLElement>(null);
  const questions = cards.filter(({ kind }) => kind === 'question');
  const doubts = cards.filter(({ kind }) => kind === 'doubt');
  const stop = cards.some((card) => cardId(card) === chosen) ? chosen : cards[0] && cardId(cards[0]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('a.queued') ?? [])];
    const at = rows.findIndex((row) => row === document.activeElement);
    event.preventDefault();
    rows[Math.min(Math.max(0, at + step), rows.length - 1)]?.focus();
  };
  const group = (title: string, of: readonly InboxCard[]): ReactNode => (
    <>
      <h2>
        {title} <span className="dim">{of.length}</span>
      </h2>
      <ul>
        {of.map((card) => (
          <li key={cardId(card)}>
            <QueueRow
              card={card}
              isChosen={cardId(card) === chosen}
              isStop={cardId(card) === stop}
              enter={enter}
            />
          </li>
        ))}
      </ul>
    </>
  );
  return (
    <nav className="queue" aria-label="Waiting for a person" ref={list} onKeyDown={onKeyDown}>
      {group('Waiting for a decision', questions)}
      {doubts.length > 0 && group('In doubt', doubts)}
      {more && (
        <p className="queue-foot">
          <button className="button small" type="button" onClick={more}>
            Show more
          </button>
        </p>
      )}
      {unread > 0 && (
        <p className="queue-foot caption">
          {unread === 1 ? '1 session cannot be read' : `${unread} sessions cannot be read`}: what waits in{' '}
          {unread === 1 ? 'it' : 'them'} is not here.
        </p>
      )}
      {ended.length > 0 && <JustAnswered ended={ended} me={me} />}
    </nav>
  );
};

type RowProps = {
  readonly card: InboxCard;
  readonly isChosen: boolean;
  readonly isStop: boolean;
  readonly enter: () => void;
};

const QueueRow = ({ card, isChosen, isStop, enter }: RowProps): ReactNode => (
  <Link
    className="queued"
    to={addressWith({ sel: cardId(card) })}
    aria-current={isChosen ? 'true' : undefined}
    tabIndex={isStop ? 0 : -1}
    onClick={(event) => {
      if (!event.defaultPrevented) requestAnimationFrame(enter);
    }}
  >
    <b>
      <Revealed text={card.kind === 'question' ? titleWords(card) : doubtQuestion(card)} />
    </b>
    <span className="caption">
      <span>{card.agent}</span>
      {card.kind === 'question' && <Mark card={card} />}
      <span className="push nowrap">
        {card.kind === 'question' ? (
          <Left card={card} />
        ) : (
          <>
            since <Moment at={card.since} />
          </>
        )}
      </span>
    </span>
  </Link>
);

/** What about it a reader wants to know before anything else. */
const Mark = ({ card }: { readonly card: Extract<InboxCard, { kind: 'question' }> }): ReactNode => {
  const strange = card.outside.some(
    ({ quote, labels }) => quote !== undefined && labels.includes('untrusted'),
  );
  if (strange) return <span className="mark">text from outside</span>;
  if (card.terms.fourEyes) return <span>four eyes</span>;
  return card.round > 1 ? <span>asked again</span> : null;
};

const Left = ({
  card: { askedAt, terms },
}: {
  readonly card: Extract<InboxCard, { kind: 'question' }>;
}): ReactNode => {
  const now = useNow();
  const { expiresAt } = terms;
  if (expiresAt === undefined)
    return (
      <>
        asked <Moment at={askedAt} />
      </>
    );
  return expiresAt > now ? `${formatDuration(expiresAt - now)} left` : 'its time is over';
};

const JustAnswered = ({
  ended,
  me,
}: {
  readonly ended: readonly Ended[];
  readonly me: string;
}): ReactNode => (
  <>
    <h2>
      Just answered <span className="dim">{ended.length}</span>
    </h2>
    <ul>
      {ended.map(({ card, fate }) => (
        <li className="queued over" key={cardId(card)}>
          <b>
            <Revealed text={titleWords(card)} />
          </b>
          <span className="caption">
            <FateLine fate={fate} me={me} />
          </span>
        </li>
      ))}
    </ul>
  </>
);
