/** The conversation as a person reads it, by stretches: the one around the selection, or the last one. */
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import type { TalkView } from '../../server/window-shapes.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { Loading, ProblemNote } from '../parts/states.tsx';
import { PlainText } from '../parts/text.tsx';
import type { Geometry } from './layout.ts';
import { lastNotAbove } from './layout.ts';
import { sessionUrl } from './session-data.ts';
import { Entry } from './talk-entry.tsx';

type Props = {
  readonly session: string;
  readonly agent: string;
  readonly geometry: Geometry;
  readonly at: number;
  readonly isPast: boolean;
  readonly selected: number | undefined;
  /** What the model is just saying; empty where it says nothing. */
  readonly saying: string;
  readonly choose: (seq: number) => void;
};

/** Events of one stretch, about; it begins with a turn. */
const STRETCH = 160;

export const TalkPane = (props: Props): ReactNode => {
  const { session, geometry, at, isPast, selected } = props;
  const [end, setEnd] = useState<number>();
  const range = rangeOf(geometry, { at, end, selected });
  const query = `from=${range.from}&to=${range.to}${isPast ? `&at=${at}` : ''}`;
  const path = sessionUrl(session, `/conversation?${query}`);
  const key = `${path} ${range.to === at ? at : ''}`;
  const { data, problem, again } = useQuery<TalkView>(key, (signal) => door.read(path, signal), {
    keepLast: true,
  });
  const box = useRef<HTMLDivElement>(null);
  useFollowing(box, { data, saying: props.saying, isAtEnd: range.to === at && !isPast });
  useRevealed(box, selected, data);
  if (!data)
    return problem === undefined ? (
      <Loading what="the conversation" />
    ) : (
      <ProblemNote problem={problem} again={again} />
    );
  return (
    <div ref={box} className="scroll talk" tabIndex={0} role="region" aria-label="Conversation, scrollable">
      {range.from > 1 && (
        <button className="fold" type="button" onClick={() => setEnd(range.from - 1)}>
          Show the turns before event {range.from}
        </button>
      )}
      {data.entries.map((entry) => (
        <Entry key={entry.seq} entry={entry} {...props} />
      ))}
      {range.to < at && (
        <button className="fold" type="button" onClick={() => setEnd(nextEnd(geometry, range.to, at))}>
          Show the turns after event {range.to}
        </button>
      )}
      {range.to === at && !isPast && props.saying !== '' && (
        <Saying agent={props.agent} text={props.saying} />
      )}
    </div>
  );
};

/** Grows downwards while the words come; heard as a whole when the answer is there. */
const Saying = ({ agent, text }: { readonly agent: string; readonly text: string }): ReactNode => (
  <div className="entry agent">
    <span className="seq">…</span>
    <div className="said">
      <div className="who">
        <b>{agent}</b>
        <span>is answering</span>
      </div>
      <div aria-hidden="true">
        <PlainText text={text} />
      </div>
    </div>
  </div>
);

type Looking = {
  readonly at: number;
  readonly end: number | undefined;
  readonly selected: number | undefined;
};

/** A stretch that ends at the place looked at, or where the reader went, or is around what is selected. */
const rangeOf = ({ sections }: Geometry, { at, end, selected }: Looking): { from: number; to: number } => {
  const starts = sections.map(({ from }) => from);
  const beginning = (to: number): number => {
    const aim = Math.max(1, to - STRETCH);
    const inside = starts[lastNotAbove(starts, to)] ?? 1;
    return Math.min(inside, starts[Math.max(0, lastNotAbove(starts, aim))] ?? 1);
  };
  let to = Math.min(end ?? at, at);
  let from = beginning(to);
  if (end === undefined && selected !== undefined && selected < from) {
    to = Math.min(at, (starts[lastNotAbove(starts, selected) + 2] ?? at + 1) - 1);
    from = beginning(to);
  }
  // A turn longer than an answer can hold is read by its end.
  return { from: Math.max(from, to - EVENTS_MAX + 1), to };
};

const EVENTS_MAX = 2000;

const nextEnd = ({ sections }: Geometry, to: number, at: number): number => {
  const starts = sections.map(({ from }) => from);
  return Math.min(at, (starts[lastNotAbove(starts, to + STRETCH) + 1] ?? at + 1) - 1);
};

type Following = {
  readonly data: TalkView | undefined;
  readonly saying: string;
  readonly isAtEnd: boolean;
};

const END_PX = 40;

/** At the end it stays at the end; one turn of the wheel up ends that. */
const useFollowing = (
  box: React.RefObject<HTMLDivElement | null>,
  { data, saying, isAtEnd }: Following,
): void => {
  const follows = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const read = (): void => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight <= END_PX;
    };
    element.addEventListener('scroll', read, { passive: true });
    return () => element.removeEventListener('scroll', read);
  }, [box, data === undefined]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && isAtEnd && follows.current) element.scrollTop = element.scrollHeight;
  }, [box, data, saying, isAtEnd]);
};

/** Brings what is selected into view where it is outside. */
const useRevealed = (
  box: React.RefObject<HTMLDivElement | null>,
  selected: number | undefined,
  data: TalkView | undefined,
): void => {
  useLayoutEffect(() => {
    const element = box.current?.querySelector('.chosen');
    const frame = box.current;
    if (!element || !frame || selected === undefined) return;
    const [inner, outer] = [element.getBoundingClientRect(), frame.getBoundingClientRect()];
    if (inner.top < outer.top || inner.bottom > outer.bottom) element.scrollIntoView({ block: 'nearest' });
  }, [box, selected, data]);
};
