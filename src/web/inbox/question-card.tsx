/** One question to a person: the act first, then why, then exactly what would happen, then the buttons. */
import { useState, type ReactNode, type Ref } from 'react';
import type { FateView, QuestionCard as Card } from '../../server/inbox-shapes.ts';
import { argumentsBrief } from '../../view/brief.ts';
import { previewHeading, titleWords } from '../../view/card-words.ts';
import { formatDeadline } from '../../view/format.ts';
import { useNow } from '../data/now.ts';
import { Icon } from '../parts/icon.tsx';
import { Moment, useZone } from '../parts/moment.tsx';
import { PlainText, Revealed } from '../parts/text.tsx';
import { CardHead } from './card-head.tsx';
import { EditForm, useDraft } from './edit-form.tsx';
import { FateNote } from './fate-note.tsx';
import { PreviewBlocks, Warning } from './preview.tsx';
import { useReadiness, type Readiness } from './readiness.ts';
import { VerdictBar } from './verdict-bar.tsx';
import { Why } from './why.tsx';

export type CardProps<C> = {
  readonly card: C;
  readonly me: string;
  /** What became of it, where it was answered while it was read. */
  readonly fate: FateView | undefined;
  /** Shows the question as it is asked now; undefined where this is it. */
  readonly showNow: (() => void) | undefined;
  /** Called once an answer of this page is on record. */
  readonly answered: (what: string) => void;
  /** Asks how it stands: an answer was refused. */
  readonly look: () => Promise<void>;
  readonly heading: Ref<HTMLHeadingElement>;
};

export const QuestionCard = ({
  card,
  me,
  fate,
  showNow,
  answered,
  look,
  heading,
}: CardProps<Card>): ReactNode => {
  const [edit, setEdit] = useState<string>();
  const [triedAt, setTriedAt] = useState<number>();
  const isEditing = edit !== undefined;
  const readiness = useReadiness(`${card.digest}${isEditing ? ' edit' : ''}`);
  const draft = useDraft(card, edit);
  return (
    <article className="card" aria-labelledby="card-title">
      <CardHead card={card} title={titleWords(card)} heading={heading}>
        <Asked card={card} />
      </CardHead>
      {card.maker && (
        <p className="part support">
          Made by <code>{card.maker.tool}</code>, call {card.maker.call}:{' '}
          <Revealed text={argumentsBrief(card.maker.args)} />
        </p>
      )}
      {showNow && fate === undefined && <Changed showNow={showNow} />}
      <Why card={card} me={me} />
      <section className="part" data-preview="" aria-label={previewHeading(card)}>
        <h3>
          {isEditing ? 'Your edit' : previewHeading(card)}
          {isEditing && <span className="caption">checked against schema and policy as you type</span>}
        </h3>
        {draft && fate === undefined ? (
          <EditForm card={card} draft={draft} change={setEdit} />
        ) : (
          <Shown card={card} />
        )}
        <PreviewEnd watch={readiness.watch} />
      </section>
      {fate ? (
        <div className="verdict">
          <FateNote fate={fate} me={me} triedAt={triedAt} />
        </div>
      ) : (
        <VerdictBar
          card={card}
          draft={draft}
          startEdit={() => setEdit(card.args)}
          stopEdit={() => setEdit(undefined)}
          readiness={readiness}
          isStale={showNow !== undefined}
          answered={answered}
          refused={async () => {
            setTriedAt(Date.now());
            await look();
          }}
        />
      )}
    </article>
  );
};

const PreviewEnd = ({ watch }: { readonly watch: Readiness['watch'] }): ReactNode => (
  <span ref={watch} className="preview-end" />
);

const Asked = ({ card: { askedAt, round, terms } }: { readonly card: Card }): ReactNode => {
  const zone = useZone();
  const now = useNow();
  const { expiresAt } = terms;
  return (
    <>
      asked <Moment at={askedAt} />
      {round > 1 && `, for the ${round}. time`}
      {expiresAt !== undefined &&
        (expiresAt > now ? `, lapses ${formatDeadline(expiresAt, { zone, now })}` : ', its time is over')}
    </>
  );
};

const Changed = ({ showNow }: { readonly showNow: () => void }): ReactNode => (
  <div className="part changed" role="status">
    <p className="message wait">
      <Icon name="warn" small />
      <span>
        This is not what is asked any more: something it is bound to has changed. You see what you read.
      </span>
    </p>
    <button className="button" type="button" onClick={showNow}>
      Show what is asked now
    </button>
  </div>
);

const Shown = ({ card: { preview, pretty, unshown, known } }: { readonly card: Card }): ReactNode => {
  if (!preview)
    return (
      <div className="well-text mono">
        <PlainText text={pretty} />
      </div>
    );
  return (
    <>
      <PreviewBlocks blocks={preview.blocks} known={known} />
      {preview.blocks.length === 0 && (
        <p className="caption">The tool shows nothing more than its heading.</p>
      )}
      {preview.warnings?.map((words) => (
        <Warning key={words} words={words} />
      ))}
      {unshown.length > 0 && (
        <div className="unshown">
          <p className="caption">Arguments that the preview does not show</p>
          <dl className="facts">
            {unshown.map(({ at, text }) => (
              <div className="contents" key={at}>
                <dt>
                  <Revealed text={at.slice(1)} />
                </dt>
                <dd className="mono">
                  <PlainText text={text} />
                </dd>
              </div>
            ))}
          </dl>
        </div>
      )}
      <details className="exact">
        <summary>The exact arguments</summary>
        <div className="well-text mono">
          <PlainText text={pretty} />
        </div>
      </details>
    </>
  );
};
