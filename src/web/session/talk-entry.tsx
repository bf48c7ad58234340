/** One entry of the conversation: a message, an answer with its calls, or what happened to the turn. */
import { useState, type ReactNode } from 'react';
import { formatCount } from '../../view/format.ts';
import type { TalkCall, TalkEntry, TalkText } from '../../view/talk.ts';
import { door } from '../data/door.ts';
import type { EventView } from '../../server/schemas.ts';
import { useQuery } from '../data/query.ts';
import { MARK_KINDS } from '../parts/event-row.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Moment } from '../parts/moment.tsx';
import { Seq } from '../parts/seq.tsx';
import { ProblemNote } from '../parts/states.tsx';
import { Pill } from '../parts/status-pill.tsx';
import { PlainText, Revealed, StrangersText } from '../parts/text.tsx';
import type { Mark } from '../../view/event-line.ts';
import { sessionUrl } from './session-data.ts';

type Props = {
  readonly entry: TalkEntry;
  readonly session: string;
  readonly agent: string;
  readonly selected: number | undefined;
  readonly choose: (seq: number) => void;
};

export const Entry = ({ entry, ...rest }: Props): ReactNode => {
  const isChosen = entry.seq === rest.selected;
  switch (entry.kind) {
    case 'said':
      return <Said entry={entry} session={rest.session} isChosen={isChosen} />;
    case 'answered':
      return <Answered entry={entry} isChosen={isChosen} {...rest} />;
    default:
      return <Note entry={entry} isChosen={isChosen} />;
  }
};

type Of<K extends TalkEntry['kind']> = Extract<TalkEntry, { readonly kind: K }>;

const classOf = (kind: string, isChosen: boolean): string => `entry ${kind}${isChosen ? ' chosen' : ''}`;

const Said = ({
  entry: { seq, who, at, said, labels, steers },
  session,
  isChosen,
}: {
  readonly entry: Of<'said'>;
  readonly session: string;
  readonly isChosen: boolean;
}): ReactNode => (
  <div className={classOf('you', isChosen)}>
    <Seq seq={seq} />
    <div className="said">
      <div className="who">
        <b>{who === 'you' ? 'You' : <Revealed text={who} />}</b>
        {steers && <span>joined the turn</span>}
        <Moment at={at} />
        {labels.map((label) => (
          <span key={label} className={`tag ${label}`}>
            {label}
          </span>
        ))}
      </div>
      <Whole said={said} session={session} seq={seq} />
    </div>
  </div>
);

type AnsweredProps = Omit<Props, 'entry'> & { readonly entry: Of<'answered'>; readonly isChosen: boolean };

const Answered = ({ entry, session, agent, selected, choose, isChosen }: AnsweredProps): ReactNode => (
  <div className={classOf('agent', isChosen)}>
    <Seq seq={entry.seq} />
    <div className="said">
      <div className="who">
        <b>{agent}</b>
        <span>step {entry.step}</span>
      </div>
      {entry.said.text !== '' && <Whole said={entry.said} session={session} seq={entry.seq} />}
      {entry.calls.length > 0 && (
        <ul className="calls">
          {entry.calls.map((call) => (
            <Call key={call.call} call={call} session={session} selected={selected} choose={choose} />
          ))}
        </ul>
      )}
    </div>
  </div>
);

const ICONS: Readonly<Partial<Record<Mark, IconName>>> = {
  ok: 'done',
  fail: 'fail',
  doubt: 'doubt',
  run: 'run',
  wait: 'wait',
  cancelled: 'stop',
};

type CallProps = {
  readonly call: TalkCall;
  readonly session: string;
  readonly selected: number | undefined;
  readonly choose: (seq: number) => void;
};

const Call = ({ call, session, selected, choose }: CallProps): ReactNode => {
  const { tool, brief, mark, word, seq, result } = call;
  const [isOpen, setOpen] = useState(false);
  const isChosen = selected !== undefined && (seq === selected || result?.seq === selected);
  return (
    <li className={isChosen ? 'chosen' : undefined}>
      <button className="call" type="button" onClick={() => choose(seq)}>
        <code>
          <Revealed text={tool} />
        </code>
        <Pill
          kind={MARK_KINDS[mark] ?? 'stop'}
          icon={ICONS[mark] ?? 'info'}
          word={word}
          bare={mark === 'ok'}
        />
        <span className="brief">
          <Revealed text={brief} />
        </span>
      </button>
      {result && (
        <button className="show-result" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'down' : 'right'} small />
          {isOpen ? 'Hide the result' : `Show the result, ${formatCount(result.length)} characters`}
        </button>
      )}
      {isOpen && result && <Result tool={tool} result={result} session={session} />}
    </li>
  );
};

const Result = ({
  tool,
  result,
  session,
}: {
  readonly tool: string;
  readonly result: NonNullable<TalkCall['result']>;
  readonly session: string;
}): ReactNode => {
  const [isWhole, setWhole] = useState(false);
  const { text } = useWhole(session, result.seq, isWhole ? result : undefined);
  const shown = text ?? result.text;
  const source = `${tool}, event ${result.seq}${result.labels.length === 0 ? '' : `, ${result.labels.join(', ')}`}`;
  return (
    <div className="result">
      {result.labels.includes('untrusted') ? (
        <StrangersText text={shown} source={source} />
      ) : (
        <div className="well-text">
          <PlainText text={shown} />
        </div>
      )}
      <Rest said={result} shown={shown.length} more={() => setWhole(true)} />
    </div>
  );
};

/** A text, and the rest of it where it was cut. */
const Whole = ({
  said,
  session,
  seq,
}: {
  readonly said: TalkText;
  readonly session: string;
  readonly seq: number;
}): ReactNode => {
  const [isWhole, setWhole] = useState(false);
  const { text, problem } = useWhole(session, seq, isWhole ? said : undefined);
  const shown = text ?? said.text;
  return (
    <>
      <PlainText text={shown} />
      {problem !== undefined && <ProblemNote problem={problem} />}
      <Rest said={said} shown={shown.length} more={() => setWhole(true)} />
    </>
  );
};

const Rest = ({
  said,
  shown,
  more,
}: {
  readonly said: TalkText;
  readonly shown: number;
  readonly more: () => void;
}): ReactNode =>
  said.length > shown && (
    <p className="caption">
      The first {formatCount(shown)} of {formatCount(said.length)} characters.{' '}
      <button className="button small" type="button" onClick={more}>
        Show all
      </button>
    </p>
  );

/** The text of an event as a whole; asked for where `said` is given. */
const useWhole = (session: string, seq: number, said: TalkText | undefined) => {
  const path = sessionUrl(session, `/events?from=${seq}&to=${seq}`);
  const key = said && said.text.length < said.length ? path : undefined;
  const { data, problem } = useQuery<{ readonly items: readonly EventView[] }>(key, (signal) =>
    door.read(path, signal),
  );
  return { text: data && textOf(data.items[0]), problem };
};

const textOf = (event: EventView | undefined): string | undefined => {
  const { input, content, outcome } = (event?.data ?? {}) as {
    readonly input?: unknown;
    readonly content?: unknown;
    readonly outcome?: { readonly content?: unknown; readonly message?: unknown };
  };
  const parts = [input, content, outcome?.content].find(Array.isArray) as
    | readonly { readonly text?: unknown }[]
    | undefined;
  if (parts) return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
  return typeof outcome?.message === 'string' ? outcome.message : undefined;
};

const Note = ({
  entry: { seq, mark, text, at },
  isChosen,
}: {
  readonly entry: Of<'note'>;
  readonly isChosen: boolean;
}): ReactNode => (
  <div className={classOf('note', isChosen)}>
    <Seq seq={seq} />
    <p className={`said ${MARK_KINDS[mark] ?? ''}`}>
      <Icon name={ICONS[mark] ?? 'info'} small />
      <span>
        <Revealed text={text} />{' '}
        <span className="dim">
          <Moment at={at} />
        </span>
      </span>
    </p>
  </div>
);
