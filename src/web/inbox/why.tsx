/** Why a person is asked: the rule, the texts of others that led here, who may decide, and what was asked before. */
import type { ReactNode } from 'react';
import type { QuestionCard } from '../../server/inbox-shapes.ts';
import { CHANGE_WORDS, PAST_WORDS } from '../../view/card-words.ts';
import { countOf, formatTime } from '../../view/format.ts';
import type { OutsideText } from '../../view/outside.ts';
import { labelsWords, termsWords, whoWords } from '../../view/terms.ts';
import { GrantLine } from '../parts/grant-line.tsx';
import { Link } from '../parts/link.tsx';
import { Moment, useZone } from '../parts/moment.tsx';
import { Patch } from '../parts/patch.tsx';
import { PlainText, Revealed, StrangersText } from '../parts/text.tsx';
import { useNow } from '../data/now.ts';

/** Texts that are quoted or named one by one. */
const NAMED_MAX = 3;
/** Events of texts that are only counted. */
const EVENTS_MAX = 8;

export const Why = ({ card, me }: { readonly card: QuestionCard; readonly me: string }): ReactNode => {
  const { rule, reason, seen, tool, definition } = card;
  return (
    <section className="part" aria-label="Why you are asked">
      <h3>
        Why you are asked <span className="caption">rule {rule}</span>
      </h3>
      {reason !== undefined && (
        <p className="said-by-rule">
          <Revealed text={reason} />
        </p>
      )}
      {seen.length > 0 && (
        <p className="said-by-rule">
          {labelsWords(seen)} stood in the request that proposed this call
          {definition?.egress === true && (
            <>
              , and something can leave through <code>{tool}</code>
            </>
          )}
          .
        </p>
      )}
      <Outside card={card} />
      <WhoMay card={card} me={me} />
      <Standing card={card} me={me} />
      <Before card={card} me={me} />
    </section>
  );
};

const Outside = ({ card: { outside, session } }: { readonly card: QuestionCard }): ReactNode => {
  // What strangers wrote and the arguments repeat is why one would say no: one such text stands open.
  const [first, ...repeated] = outside.filter(({ quote }) => quote !== undefined);
  const strange = outside.filter(({ quote, labels }) => quote === undefined && labels.includes('untrusted'));
  const named = [...repeated, ...strange].slice(0, NAMED_MAX);
  const rest = outside.filter((one) => one !== first && !named.includes(one));
  return (
    <>
      {first && <OutsideQuote text={first} session={session} />}
      {named.length + rest.length > 0 && (
        <details className="more-texts">
          <summary>
            {first ? '' : 'Nothing in the arguments stands in them: '}
            {countOf(named.length + rest.length, first ? 'more labelled text' : 'labelled text')}
          </summary>
          {named.map((text) => (
            <OutsideQuote key={`${text.seq} ${text.argument ?? ''}`} text={text} session={session} />
          ))}
          {rest.length > 0 && <OutsideRest texts={rest} session={session} />}
        </details>
      )}
    </>
  );
};

const OutsideRest = ({
  texts,
  session,
}: {
  readonly texts: readonly OutsideText[];
  readonly session: string;
}): ReactNode => (
  <p className="caption">
    {texts.length} more:{' '}
    {texts.slice(0, EVENTS_MAX).map(({ seq }, at) => (
      <span key={`${seq} ${at}`}>
        {at > 0 && ', '}
        <EventLink session={session} seq={seq} />
      </span>
    ))}
    {texts.length > EVENTS_MAX && ', …'}
  </p>
);

const OutsideQuote = ({
  text: { seq, tool, labels, length, quote, argument },
  session,
}: {
  readonly text: OutsideText;
  readonly session: string;
}): ReactNode => {
  const isStrange = labels.includes('untrusted');
  const source = (
    <>
      {tool === undefined ? 'a message' : <code>{tool}</code>}, {countOf(length, 'character')} ·{' '}
      <EventLink session={session} seq={seq} />
    </>
  );
  if (quote === undefined)
    return <p className="caption">Text from outside, not repeated in the arguments: {source}</p>;
  return (
    <>
      <p className="caption">
        The argument{' '}
        <code>
          <Revealed text={(argument ?? '').slice(1)} />
        </code>{' '}
        stands in {isStrange ? 'text from outside' : 'private text'}:
      </p>
      {isStrange ? (
        <StrangersText text={quote} source={source} />
      ) : (
        <div className="well-text">
          <PlainText text={quote} />
          <p className="caption">{source}</p>
        </div>
      )}
    </>
  );
};

const EventLink = ({ session, seq }: { readonly session: string; readonly seq: number }): ReactNode => (
  <Link to={`/s/${encodeURIComponent(session)}?sel=${seq}`}>event {seq}</Link>
);

const WhoMay = ({
  card: { terms, asker },
  me,
}: {
  readonly card: QuestionCard;
  readonly me: string;
}): ReactNode => {
  const zone = useZone();
  const now = useNow();
  const words = termsWords(terms, asker, { me, time: (ms) => formatTime(ms, { zone, now }) });
  if (terms.by === undefined && words.length === 0) return null;
  return (
    <p className="said-by-rule">
      <b>Who may decide:</b>{' '}
      {terms.by === undefined ? 'whoever may decide here' : <Revealed text={whoWords(terms.by)} />}.{' '}
      <Revealed text={words.join(' ')} />
    </p>
  );
};

const nameFor = (name: string, me: string): string => (name === me ? 'you' : name);

/** Leave that stands for this tool, and does not cover this call. */
const Standing = ({
  card: { session, tool, grants },
  me,
}: {
  readonly card: QuestionCard;
  readonly me: string;
}): ReactNode => {
  const now = useNow();
  const same = grants.filter((grant) => grant.tool === tool && grant.expiresAt > now);
  if (same.length === 0) return null;
  return (
    <div className="caption">
      {countOf(same.length, 'grant')} for this tool {same.length === 1 ? 'stands and does' : 'stand and do'}{' '}
      not cover this call:
      <ul className="grants">
        {same.map((grant) => (
          <li key={grant.seq}>
            <GrantLine session={session} grant={grant} me={me} />
          </li>
        ))}
      </ul>
    </div>
  );
};

const Before = ({
  card: { before, edits },
  me,
}: {
  readonly card: QuestionCard;
  readonly me: string;
}): ReactNode => (
  <>
    {before && (
      <p className="said-by-rule">
        <b>Asked before:</b>{' '}
        {before.decided ? (
          <>
            {PAST_WORDS[before.decided.decision.do]} by{' '}
            <Revealed text={nameFor(before.decided.by.name, me)} />, <Moment at={before.decided.at} />
          </>
        ) : (
          'not decided'
        )}
        . Changed since: {before.changes.map(({ what }) => CHANGE_WORDS[what]).join(', ')}.
      </p>
    )}
    {before?.changes.map((change) =>
      'patch' in change ? <Patch key={change.what} patch={change.patch} name={change.what} /> : null,
    )}
    {edits.map(({ seq, by, at }) => (
      <p className="said-by-rule" key={seq}>
        <b>Edited</b> by <Revealed text={nameFor(by.name, me)} />, <Moment at={at} />.
      </p>
    ))}
  </>
);
