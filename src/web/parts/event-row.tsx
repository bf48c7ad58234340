/** One event as a row: its number, its mark on the thread, a sentence, its bar on the axis of the turn, how long it took. */
import type { CSSProperties, ReactNode } from 'react';
import { formatClock, formatDuration } from '../../view/format.ts';
import type { Mark } from '../../view/event-line.ts';
import type { RecordRow } from '../../view/record-rows.ts';
import type { StatusKind } from './status-pill.tsx';
import { Revealed } from './text.tsx';

/** What a mark is coloured as; facts and decisions have none: a filled mark is a fact, a ring a decision. */
export const MARK_KINDS: Readonly<Record<Mark, StatusKind | undefined>> = {
  fact: undefined,
  decision: undefined,
  ok: 'done',
  fail: 'fail',
  doubt: 'doubt',
  run: 'run',
  wait: 'wait',
  cancelled: 'stop',
};

export type EventRowProps = {
  readonly row: RecordRow | undefined;
  readonly seq: number;
  readonly zone: string;
};

/** The inside of a row; what it stands in says where it is and whether it is selected. */
export const EventRow = ({ row, seq, zone }: EventRowProps): ReactNode => (
  <>
    <span className="seq">{seq}</span>
    <span className={`thread ${row ? threadOf(row) : 'none'}`} />
    {row ? (
      <>
        <span className="sentence" title={sentenceOf(row)}>
          <Sentence row={row} />
        </span>
        <span className="axis" aria-hidden="true">
          {row.bar && (
            <i
              className={`${MARK_KINDS[row.mark] ?? ''}${row.isOpen === true ? ' open' : ''}`}
              style={barStyle(row.bar)}
            />
          )}
        </span>
        <span className="took">{tookWords(row, zone)}</span>
      </>
    ) : (
      <span className="sentence unread" />
    )}
  </>
);

const threadOf = ({ isFact, mark }: RecordRow): string =>
  `${isFact ? 'is-fact' : 'is-decision'} ${MARK_KINDS[mark] ?? ''}`;

const Sentence = ({
  row: { who, text, detail, state, isFact, type },
}: {
  readonly row: RecordRow;
}): ReactNode => (
  <>
    {who !== '' && (
      <b>
        <Revealed text={who} />{' '}
      </b>
    )}
    {state !== undefined && <span className="state">{text === '' ? state : `${state}: `}</span>}
    <Revealed text={text === '' && state === undefined ? type : text} />
    {detail !== undefined && <span className="dim"> {detail}</span>}
    <span className="unseen">{isFact ? ', fact' : ', decision'}</span>
  </>
);

const sentenceOf = ({ who, text, detail, state }: RecordRow): string =>
  [who, state, text, detail].filter((part) => part !== undefined && part !== '').join(' ');

const barStyle = ({ from, to }: NonNullable<RecordRow['bar']>): CSSProperties => ({
  left: `${from * 100}%`,
  width: `${Math.max(0, to - from) * 100}%`,
});

/** A duration where something took one, else the time of day. */
const tookWords = ({ ms, at }: RecordRow, zone: string): string =>
  ms === undefined ? formatClock(at, { zone }).slice(0, 8) : formatDuration(ms);
