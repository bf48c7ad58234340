/** The head that all cards have: state, whose it is, where in it; the act as a heading; tool, effect, target. */
import type { ReactNode, Ref } from 'react';
import type { InboxCard } from '../../server/inbox-shapes.ts';
import { positionWords } from '../../view/card-words.ts';
import { Link } from '../parts/link.tsx';
import { Pill } from '../parts/status-pill.tsx';
import { Revealed } from '../parts/text.tsx';

export const CardHead = ({
  card,
  title,
  heading,
  children,
}: {
  readonly card: InboxCard;
  readonly title: string;
  readonly heading: Ref<HTMLHeadingElement>;
  /** When it was asked or began, and until when. */
  readonly children: ReactNode;
}): ReactNode => {
  const { kind, session, agent, position, tool, definition, preview } = card;
  return (
    <header>
      <div className="card-line">
        {kind === 'question' ? (
          <Pill kind="wait" icon="wait" word="waiting for a person" />
        ) : (
          <Pill kind="doubt" icon="doubt" word="in doubt" />
        )}
        <span>
          {agent} ·{' '}
          <Link to={`/s/${encodeURIComponent(session)}`}>
            <Revealed text={card.title === '' ? session : card.title} />
          </Link>{' '}
          · {positionWords(position)}
        </span>
        <span className="push">{children}</span>
      </div>
      <h2 id="card-title" ref={heading} tabIndex={-1}>
        <Revealed text={title} />
      </h2>
      <p className="support">
        <code>
          <Revealed text={tool} />
        </code>
        {definition && ` · effect: ${definition.effect}`}
        {preview?.target !== undefined && (
          <>
            {' '}
            · <Revealed text={preview.target} />
          </>
        )}
      </p>
    </header>
  );
};
