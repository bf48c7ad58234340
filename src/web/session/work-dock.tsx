/** The work still open at the place that is looked at: what runs, what waits for a person, what is in doubt. */
import type { ReactNode } from 'react';
import type { StandingView } from '../../server/window-shapes.ts';
import { formatDeadline } from '../../view/format.ts';
import type { OpenWork } from '../../view/open-work.ts';
import { useNow } from '../data/now.ts';
import type { IconName } from '../parts/icon.tsx';
import { Link } from '../parts/link.tsx';
import { Moment, useZone } from '../parts/moment.tsx';
import { MARK_KINDS } from '../parts/event-row.tsx';
import { Pill } from '../parts/status-pill.tsx';
import { Revealed } from '../parts/text.tsx';

type Props = {
  readonly session: string;
  readonly standing: StandingView;
  readonly isPast: boolean;
  readonly selected: number | undefined;
  readonly choose: (seq: number) => void;
};

export const WorkDock = ({ session, standing, isPast, selected, choose }: Props): ReactNode => {
  const { work, at } = standing;
  const heading = isPast ? `Work open at ${at}` : 'Work still open';
  return (
    <section className="dock" aria-label="Work still open">
      <div className="pane-title">
        <h2>
          {heading}: {work.length === 0 ? 'none' : work.length}
        </h2>
        <span className="caption clip">{dockWords(standing, isPast)}</span>
        <kbd className="push">4</kbd>
      </div>
      {work.length > 0 && (
        <ul>
          {work.map((one) => (
            <WorkLine
              key={`${one.kind} ${one.call ?? one.seq}`}
              one={one}
              session={session}
              isPast={isPast}
              isSelected={one.seq === selected}
              choose={choose}
            />
          ))}
        </ul>
      )}
    </section>
  );
};

const dockWords = ({ work, turn }: StandingView, isPast: boolean): string => {
  if (isPast) return 'As it was then. Decisions are made on the live session.';
  const waits = work.filter(({ kind }) => kind === 'question' || kind === 'doubt').length;
  const runs = work.filter(({ kind }) => kind === 'call' || kind === 'request').length;
  if (waits === 0) return runs === 0 ? 'Nothing runs and nothing waits.' : 'Nothing waits for a person.';
  const then =
    turn?.isActive === true
      ? ` Turn ${turn.turn} goes on when ${waits === 1 ? 'it is' : 'all are'} answered.`
      : '';
  return `${runs === 0 ? 'Nothing is running.' : ''}${then}`.trim();
};

const ICONS: Readonly<Record<OpenWork['kind'], IconName>> = {
  doubt: 'doubt',
  question: 'wait',
  call: 'run',
  request: 'run',
  queued: 'queue',
};

type LineProps = {
  readonly one: OpenWork;
  readonly session: string;
  readonly isPast: boolean;
  readonly isSelected: boolean;
  readonly choose: (seq: number) => void;
};

const WorkLine = ({ one, session, isPast, isSelected, choose }: LineProps): ReactNode => {
  const { kind, mark, word, who, text, seq, call } = one;
  return (
    <li className={isSelected ? 'chosen' : undefined}>
      <Pill kind={MARK_KINDS[mark] ?? 'stop'} icon={ICONS[kind]} word={word} />
      <button className="what clip" type="button" onClick={() => choose(seq)}>
        <code>
          <Revealed text={who} />
        </code>{' '}
        <Revealed text={text} />
      </button>
      <span className="when dim">
        <Since one={one} />
      </span>
      {!isPast && call !== undefined && (kind === 'question' || kind === 'doubt') && (
        <Link className="button small" to={`/inbox?sel=${encodeURIComponent(`${session} ${call}`)}`}>
          {kind === 'doubt' ? 'Settle' : 'Review'}
        </Link>
      )}
    </li>
  );
};

const VERBS: Readonly<Record<OpenWork['kind'], string>> = {
  doubt: 'in doubt since',
  question: 'asked',
  call: 'started',
  request: 'sent',
  queued: 'accepted',
};

const Since = ({ one: { kind, since, expiresAt } }: { readonly one: OpenWork }): ReactNode => {
  const zone = useZone();
  const now = useNow();
  return (
    <>
      {VERBS[kind]} <Moment at={since} />
      {expiresAt !== undefined && `, lapses ${formatDeadline(expiresAt, { zone, now })}`}
    </>
  );
};
