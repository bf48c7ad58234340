/** Time travel: a slider over the events. What is shown is the projection at its place; live or past is always said. */
import { useEffect, useRef, useState, type CSSProperties, type ReactNode } from 'react';
import type { StandingView } from '../../server/window-shapes.ts';
import { formatCount } from '../../view/format.ts';
import { Icon } from '../parts/icon.tsx';
import { Moment } from '../parts/moment.tsx';
import { useCommands } from '../shell/commands.ts';
import type { Geometry } from './layout.ts';
import { lastNotAbove } from './layout.ts';
import { travel } from './place.ts';

/** How long the hand has to rest before the session is asked for at its place. */
const REST_MS = 80;
/** More turns than this are too narrow to name. */
const NAMED_MAX = 14;

type Props = {
  readonly geometry: Geometry;
  readonly at: number;
  readonly isPast: boolean;
  readonly standing: StandingView | undefined;
};

export const TravelBar = ({ geometry, at, isPast, standing }: Props): ReactNode => {
  const { head, sections } = geometry;
  const [held, setHeld] = useState<number>();
  const shown = held ?? at;
  const go = (seq: number): void => travel(seq >= head ? undefined : Math.max(1, seq));
  useRest(held, (seq) => {
    go(seq);
    setHeld(undefined);
  });
  const starts = sections.map(({ from }) => from);
  const turn = (by: number): number => {
    const now = lastNotAbove(starts, shown);
    const isInside = by < 0 && (starts[now] ?? 1) < shown;
    return starts[now + (isInside ? 0 : by)] ?? (by < 0 ? 1 : head);
  };
  useCommands([
    { label: 'One event back', keys: '[', run: () => go(shown - 1) },
    { label: 'One event forward', keys: ']', run: () => go(shown + 1) },
    { label: 'One turn back', keys: '{', run: () => go(turn(-1)) },
    { label: 'One turn forward', keys: '}', run: () => go(turn(1)) },
    { label: 'First event', keys: 'Home', run: () => go(1) },
    { label: 'Back to live', keys: 'End', run: () => travel(undefined) },
    ...(isPast ? [{ label: 'Back to live', keys: 'Escape', run: () => travel(undefined), quiet: true }] : []),
  ]);
  return (
    <div className="travel" role="group" aria-label="Time travel">
      <div className="ends">
        <button
          className="button quiet"
          type="button"
          aria-label="One event back"
          onClick={() => go(shown - 1)}
        >
          <Icon name="left" />
        </button>
        <button
          className="button quiet"
          type="button"
          aria-label="One event forward"
          onClick={() => go(shown + 1)}
        >
          <Icon name="right" />
        </button>
      </div>
      <div className="track" style={{ '--at': share(shown, head) } as CSSProperties}>
        <Segments geometry={geometry} />
        {standing?.marks.map(({ seq, kind }) => (
          <span key={seq} className={`place-mark ${kind}`} style={{ left: share(seq, head) }}>
            <Icon name={kind} />
          </span>
        ))}
        <input
          type="range"
          min={1}
          max={head}
          value={shown}
          aria-label="Show the session as it was at this event"
          aria-valuetext={`Event ${shown} of ${head}, ${shown < head ? 'past' : 'live'}`}
          onChange={(event) => setHeld(Number(event.target.value))}
        />
      </div>
      <div className="where">
        <b>{formatCount(shown)}</b> of {formatCount(head)} · {shown < head ? 'past' : 'live'}{' '}
        <span className="dim nowrap">
          {standing && standing.at === shown && <Moment at={standing.time} />}
        </span>
      </div>
    </div>
  );
};

/** Marks stand by number, never by time: the thumb of the slider does, too. */
const share = (seq: number, head: number): string => `${head <= 1 ? 100 : ((seq - 1) / (head - 1)) * 100}%`;

const Segments = ({ geometry: { sections, head } }: { readonly geometry: Geometry }): ReactNode => (
  <div className="segments" aria-hidden="true">
    {sections.length <= NAMED_MAX
      ? sections.map(({ turn, from }, i) => (
          <span key={from} style={{ flexGrow: (sections[i + 1]?.from ?? head + 1) - from }}>
            Turn {turn}
          </span>
        ))
      : [1, 2, 3, 4].map((quarter) => {
          const seq = Math.max(1, Math.round((head * (quarter - 1)) / 4));
          const at = lastNotAbove(
            sections.map(({ from }) => from),
            seq,
          );
          return (
            <span key={quarter} style={{ flexGrow: 1 }}>
              Turn {formatCount(sections[at]?.turn ?? 1)}
            </span>
          );
        })}
  </div>
);

const useRest = (held: number | undefined, rested: (seq: number) => void): void => {
  const latest = useRef(rested);
  useEffect(() => {
    latest.current = rested;
  });
  useEffect(() => {
    if (held === undefined) return undefined;
    const timer = setTimeout(() => latest.current(held), REST_MS);
    return () => clearTimeout(timer);
  }, [held]);
};
