/** A call in doubt: the question, all that is known, where to look, and three answers of which none is chosen. */
import { useEffect, useId, useState, type FormEvent, type ReactNode } from 'react';
import { DoorError } from '../../client/client.ts';
import type { Settlement } from '../../event/events.ts';
import type { DoubtCard as Card, SettleTrialView } from '../../server/inbox-shapes.ts';
import {
  againWords,
  doubtEffect,
  doubtQuestion,
  doubtReason,
  outcomeWords,
  SETTLED_WORDS,
} from '../../view/card-words.ts';
import { door } from '../data/door.ts';
import { connection } from '../data/live.ts';
import { useStore } from '../data/store.ts';
import { HashChip } from '../parts/hash-chip.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemLine } from '../parts/states.tsx';
import { submitByKey } from '../parts/submit.ts';
import { PlainText, Revealed } from '../parts/text.tsx';
import { CardHead } from './card-head.tsx';
import { callUrl } from './card-id.ts';
import { FateNote } from './fate-note.tsx';
import type { CardProps } from './question-card.tsx';

export const DoubtCard = ({ card, me, fate, answered, look, heading }: CardProps<Card>): ReactNode => {
  const [triedAt, setTriedAt] = useState<number>();
  const refused = async (): Promise<void> => {
    setTriedAt(Date.now());
    await look();
  };
  return (
    <article className="card" aria-labelledby="card-title">
      <CardHead card={card} title={doubtQuestion(card)} heading={heading}>
        in doubt since <Moment at={card.since} ago />
      </CardHead>
      <section className="part" aria-label="What is known">
        <h3>What is known</h3>
        <p className="said-by-rule">
          {doubtReason(card)} <Revealed text={doubtEffect(card)} />
          {card.turnEnded && ' Its turn has ended.'}
        </p>
        <Known card={card} />
        <p className="caption">Arguments</p>
        <div className="well-text mono">
          <PlainText text={card.pretty} />
        </div>
      </section>
      <section className="part" aria-label="Where to look">
        <h3>Where to look</h3>
        <p className="said-by-rule">
          {card.preview?.target === undefined ? (
            <>
              Where <code>{card.tool}</code> acts
            </>
          ) : (
            <Revealed text={card.preview.target} />
          )}
          , around <Moment at={card.startedAt} />. A service that was given the key can be searched for it.
        </p>
      </section>
      {fate ? (
        <div className="verdict">
          <FateNote fate={fate} me={me} triedAt={triedAt} />
        </div>
      ) : (
        <Answers card={card} me={me} answered={answered} refused={refused} />
      )}
    </article>
  );
};

const Known = ({
  card: { attempts, key, reconciliations, late, message },
}: {
  readonly card: Card;
}): ReactNode => (
  <dl className="facts">
    {attempts.map(({ attempt, startedAt, startedSeq, outcome }) => (
      <div className="contents" key={`attempt ${attempt}`}>
        <dt>Attempt {attempt}</dt>
        <dd>
          started <Moment at={startedAt} />, event {startedSeq}; <Revealed text={outcomeWords(outcome)} />
        </dd>
      </div>
    ))}
    <dt>Key</dt>
    <dd>
      <HashChip value={key} what="key" />
    </dd>
    {message !== undefined && (
      <>
        <dt>It said</dt>
        <dd>
          <Revealed text={message} />
        </dd>
      </>
    )}
    {reconciliations.map(({ seq, note, at }) => (
      <div className="contents" key={`asked ${seq}`}>
        <dt>Tool asked</dt>
        <dd>
          <Revealed text={note} /> (<Moment at={at} />, event {seq})
        </dd>
      </div>
    ))}
    <dt>Late results</dt>
    <dd>
      {late.length === 0
        ? 'none so far; one that comes is shown here'
        : late.map(({ seq, attempt, at, outcome }) => (
            <p key={seq}>
              attempt {attempt}, <Moment at={at} />, event {seq}; <Revealed text={outcomeWords(outcome)} />
            </p>
          ))}
    </dd>
  </dl>
);

type Answer = Settlement['answer'];

/** Refusals that say: look at it again. */
const LOOK_AGAIN: ReadonlySet<string> = new Set(['already-settled', 'not-in-doubt', 'call-not-found']);

type AnswersProps = {
  readonly card: Card;
  readonly me: string;
  readonly answered: (what: string) => void;
  readonly refused: () => Promise<void>;
};

const Answers = ({ card, me, answered, refused }: AnswersProps): ReactNode => {
  const [answer, setAnswer] = useState<Answer>();
  const [result, setResult] = useState('');
  const [note, setNote] = useState('');
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const isOffline = useStore(connection).kind === 'offline';
  const settlement = settlementOf(answer, result);
  const obstacle =
    card.barrier?.message ??
    (isOffline ? 'The server does not answer' : undefined) ??
    (isSending ? 'Recording your answer' : undefined) ??
    (answer === undefined ? 'Choose what happened' : undefined) ??
    (settlement ? undefined : 'Say what came of it');
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (obstacle !== undefined || !settlement) return;
    setSending(true);
    door
      .settle(card.session, card.call, { settlement, ...(note.trim() !== '' && { note: note.trim() }) })
      // Once it is on record nothing more is asked or sent: the card is about to go.
      .then(() => answered('Settled.'))
      .catch(async (error: unknown) => {
        setProblem(error);
        if (error instanceof DoorError && LOOK_AGAIN.has(error.code)) await refused().catch(() => undefined);
        setSending(false);
      });
  };
  const runs = answer === 'not-happened' && card.follows.notHappened?.follow.kind === 'runs';
  return (
    <form onSubmit={send}>
      <fieldset className="part answers">
        <legend>What happened?</legend>
        <Option card={card} value="happened" chosen={answer} choose={setAnswer} title="It happened">
          The model gets the result that you give. Nothing runs.
        </Option>
        {answer === 'happened' && (
          <Result card={card} result={result} setResult={setResult} isSending={isSending} />
        )}
        <Option
          card={card}
          value="not-happened"
          chosen={answer}
          choose={setAnswer}
          title={
            card.follows.notHappened?.follow.kind === 'runs'
              ? 'It did not happen: run it now'
              : 'It did not happen'
          }
        >
          {againWords(card.follows.notHappened?.follow)}
        </Option>
        <Option card={card} value="give-up" chosen={answer} choose={setAnswer} title="Give up on it">
          The model is told that the outcome is unknown. Nothing runs.
        </Option>
        {answer === 'give-up' && <Told told={card.follows.giveUp?.told} />}
        {answer !== undefined && (
          <label className="field note">
            <span>Note, for the record; may be empty</span>
            <input type="text" value={note} onChange={({ target }) => setNote(target.value)} />
          </label>
        )}
      </fieldset>
      <div className="verdict">
        <button className="button primary" type="submit" aria-disabled={obstacle !== undefined}>
          {obstacle ?? `Record “${SETTLED_WORDS[answer ?? 'give-up']}”${runs ? ' and run it again' : ''}`}
        </button>
        <span className="bound">
          signed as <Revealed text={me} />
        </span>
        <ProblemLine problem={problem} />
      </div>
    </form>
  );
};

const settlementOf = (answer: Answer | undefined, result: string): Settlement | undefined => {
  if (answer === undefined) return undefined;
  if (answer !== 'happened') return { answer };
  return result.trim() === '' ? undefined : { answer, content: [{ type: 'text', text: result }] };
};

type OptionProps = {
  readonly card: Card;
  readonly value: Answer;
  readonly chosen: Answer | undefined;
  readonly choose: (answer: Answer) => void;
  readonly title: string;
  readonly children: ReactNode;
};

const Option = ({ card, value, chosen, choose, title, children }: OptionProps): ReactNode => (
  <label className="option">
    <input
      type="radio"
      name={`answer ${card.call}`}
      checked={chosen === value}
      onChange={() => choose(value)}
    />
    <b>{title}</b>
    <span className="caption">{children}</span>
  </label>
);

const Told = ({ told }: { readonly told: string | undefined }): ReactNode =>
  told === undefined ? null : (
    <div className="told">
      <p className="caption">The model is told, to the letter:</p>
      <div className="well-text">
        <PlainText text={told} />
      </div>
    </div>
  );

/** How long the hand rests before the server is asked. */
const ASK_AFTER_MS = 200;

const Result = ({
  card: { session, call },
  result,
  setResult,
  isSending,
}: {
  readonly card: Card;
  readonly result: string;
  readonly setResult: (text: string) => void;
  readonly isSending: boolean;
}): ReactNode => {
  const id = useId();
  const [told, setTold] = useState<string>();
  useEffect(() => {
    if (result.trim() === '') return setTold(undefined);
    // What it would lead to is known soon, and could not be asked of a call that is settled.
    if (isSending) return undefined;
    const stop = new AbortController();
    const settlement = { answer: 'happened', content: [{ type: 'text', text: result }] };
    const timer = setTimeout(() => {
      door
        .ask<SettleTrialView>(callUrl({ session, call }, '/settlement-trial'), { settlement }, stop.signal)
        .then((trial) => setTold(trial.told))
        // What it would lead to is a help; that it cannot be told now does not keep anybody from answering.
        .catch(() => {
          if (!stop.signal.aborted) setTold(undefined);
        });
    }, ASK_AFTER_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [session, call, result, isSending]);
  return (
    <div className="told">
      <label className="field" htmlFor={id}>
        <span>Result, for the model</span>
      </label>
      <textarea
        id={id}
        rows={3}
        value={result}
        onChange={({ target }) => setResult(target.value)}
        onKeyDown={submitByKey}
      />
      <Told told={told} />
    </div>
  );
};
