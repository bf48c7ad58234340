/** The record: every event one row, grouped by turn and step; only what is near the screen is there. */
import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import type { FoundView } from '../../server/window-shapes.ts';
import type { RecordRow } from '../../view/record-rows.ts';
import { countOf, formatCount, formatDuration } from '../../view/format.ts';
import type { SectionHead, StepHead } from '../../view/session-index.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { EventRow } from '../parts/event-row.tsx';
import { useZone } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/states.tsx';
import { Revealed } from '../parts/text.tsx';
import { Finder, type Wanted } from './finder.tsx';
import { filteredLayout, fullLayout, type Geometry, type Item, type Layout } from './layout.ts';
import { useRows, type Rows } from './row-cache.ts';
import { useRowSizes } from './row-sizes.ts';
import { sessionUrl } from './session-data.ts';

export type RecordPaneProps = {
  readonly session: string;
  readonly geometry: Geometry;
  /** The last event that is shown. */
  readonly at: number;
  readonly isPast: boolean;
  readonly selected: number | undefined;
  readonly choose: (seq: number) => void;
};

export const RecordPane = (props: RecordPaneProps): ReactNode => {
  const { session, geometry, at, isPast } = props;
  const [wanted, setWanted] = useState<Wanted>({ q: '', kinds: '' });
  const sizes = useRowSizes();
  const found = useFound(session, wanted, geometry.head);
  const layout = useMemo(
    () => (found ? filteredLayout(found.seqs, at, sizes) : fullLayout(geometry, at, sizes)),
    [found, geometry, at, sizes],
  );
  const rows = useRows({ session, at, isPast });
  return (
    <>
      <Finder wanted={wanted} change={setWanted} count={found ? layout.count : undefined} />
      {rows.problem !== undefined && <ProblemNote problem={rows.problem} what="Rows could not be loaded." />}
      {found && layout.count === 0 ? (
        <div className="empty">
          <h2>No event fits</h2>
          <p>
            <button className="button" type="button" onClick={() => setWanted({ q: '', kinds: '' })}>
              Show every event
            </button>
          </p>
        </div>
      ) : (
        <RowList {...props} layout={layout} rows={rows} isFiltered={found !== undefined} />
      )}
      {isPast && <p className="later">{countOf(geometry.head - at, 'later event')} not shown.</p>}
    </>
  );
};

/** Which events fit; undefined where all do. Asked again as the log grows. */
const useFound = (session: string, { q, kinds }: Wanted, head: number): FoundView | undefined => {
  const query = new URLSearchParams({ ...(q !== '' && { q }), ...(kinds !== '' && { kinds }) }).toString();
  const path = query === '' ? undefined : sessionUrl(session, `/search?${query}`);
  const key = path && `${path} ${head}`;
  const { data } = useQuery<FoundView>(key, (signal) => door.read(path ?? '', signal), { keepLast: true });
  return path === undefined ? undefined : data;
};

const OVERSCAN_PX = 240;
/** Until the height of the pane is known. */
const HEIGHT_FIRST = 600;
/** How near the end counts as at the end: then new rows are followed. */
const END_PX = 12;

type RowListProps = RecordPaneProps & {
  readonly layout: Layout;
  readonly rows: Rows;
  readonly isFiltered: boolean;
};

const RowList = ({ layout, rows, at, isPast, selected, choose, isFiltered }: RowListProps): ReactNode => {
  const { box, view, onScroll, isAtEnd, toEnd } = useScroll(layout, isPast);
  const sizes = useRowSizes();
  const zone = useZone();
  const items = layout.itemsIn(view.top - OVERSCAN_PX, view.top + view.height + OVERSCAN_PX);
  const events = items.filter((item) => item.kind === 'event');
  const { want } = rows;
  const [first, last] = [events.at(0)?.seq, events.at(-1)?.seq];
  useEffect(() => {
    if (first !== undefined && last !== undefined) want(first, last);
  }, [want, first, last]);
  useReveal(box, layout, { selected, rowHeight: sizes.row, top: isFiltered ? 0 : sizes.turn });
  const choosing = rows.row(selected ?? 0);
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = keyedTo(event, {
      layout,
      selected: selected ?? at,
      page: Math.floor(view.height / sizes.row) - 1,
      at,
    });
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  };
  const section = layout.sectionAt(view.top);
  return (
    <div className="scroll-frame">
      <div
        ref={box}
        className="scroll"
        role="listbox"
        aria-label="Events"
        tabIndex={0}
        aria-activedescendant={selected === undefined ? undefined : `event-${selected}`}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        {section && (
          <div className="turn-head stuck" aria-hidden="true">
            <TurnHead turn={section.turn} head={rows.section(section.from)} />
          </div>
        )}
        <div className="rows" style={{ height: layout.height }}>
          {items.map((item) => (
            <Shown key={keyOf(item)} item={item} rows={rows} count={layout.count}>
              {item.kind === 'event' && (
                <Row
                  seq={item.seq}
                  y={item.y}
                  row={rows.row(item.seq)}
                  zone={zone}
                  isSelected={item.seq === selected}
                  isKin={isKin(rows.row(item.seq), choosing)}
                  count={layout.count}
                  choose={choose}
                />
              )}
            </Shown>
          ))}
        </div>
      </div>
      {!isAtEnd && !isPast && <NewEvents at={at} toEnd={toEnd} />}
    </div>
  );
};

const keyOf = (item: Item): string => (item.kind === 'event' ? `e${item.seq}` : `${item.kind}${item.from}`);

/** Rows of the same step as the selected one. */
const isKin = (row: RecordRow | undefined, chosen: RecordRow | undefined): boolean =>
  row !== undefined &&
  chosen !== undefined &&
  row.step > 0 &&
  row.turn === chosen.turn &&
  row.step === chosen.step;

type ShownProps = {
  readonly item: Item;
  readonly rows: Rows;
  readonly count: number;
  readonly children: ReactNode;
};

const Shown = ({ item, rows, children }: ShownProps): ReactNode => {
  if (item.kind === 'event') return children;
  const style = { transform: `translateY(${item.y}px)` };
  if (item.kind === 'turn')
    return (
      <div className="turn-head" style={style}>
        <TurnHead turn={item.turn} head={rows.section(item.from)} />
      </div>
    );
  return (
    <div className="step-head" style={style}>
      <StepLine head={rows.step(item.from)} />
    </div>
  );
};

const TurnHead = ({
  turn,
  head,
}: {
  readonly turn: number;
  readonly head: SectionHead | undefined;
}): ReactNode => (
  <>
    <b>Turn {formatCount(turn)}</b>
    <span className="dim clip">{head && <Revealed text={head.title} />}</span>
    {head && (
      <span className="caption nowrap push">
        {[`${head.from}–${head.to}`, head.state === 'done' ? formatDuration(head.ms) : head.state, head.cost]
          .filter((part) => part !== '')
          .join(' · ')}
      </span>
    )}
  </>
);

const StepLine = ({ head }: { readonly head: StepHead | undefined }): ReactNode =>
  head && (
    <>
      <span>Step {formatCount(head.step)}</span>
      <span className="push nowrap">
        {[head.ms === undefined ? 'open' : formatDuration(head.ms), head.cost]
          .filter((part) => part !== '')
          .join(' · ')}
      </span>
    </>
  );

type RowProps = {
  readonly seq: number;
  readonly y: number;
  readonly row: RecordRow | undefined;
  readonly zone: string;
  readonly isSelected: boolean;
  readonly isKin: boolean;
  readonly count: number;
  readonly choose: (seq: number) => void;
};

const Row = memo(({ seq, y, row, zone, isSelected, isKin: kin, count, choose }: RowProps): ReactNode => (
  <div
    id={`event-${seq}`}
    role="option"
    aria-selected={isSelected}
    aria-setsize={count}
    aria-posinset={seq}
    className={`event${isSelected ? ' chosen' : ''}${kin ? ' kin' : ''}`}
    style={{ transform: `translateY(${y}px)` }}
    onClick={() => choose(seq)}
  >
    <EventRow row={row} seq={seq} zone={zone} />
  </div>
));

type Moving = {
  readonly layout: Layout;
  readonly selected: number;
  readonly page: number;
  readonly at: number;
};

const STEPS_BY_KEY: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

const keyedTo = (
  { key, ctrlKey, metaKey, altKey }: KeyboardEvent,
  { layout, selected, page, at }: Moving,
) => {
  if (ctrlKey || metaKey || altKey) return undefined;
  const step = STEPS_BY_KEY[key];
  if (step !== undefined) return layout.moved(selected, step);
  if (key === 'PageDown') return layout.moved(selected, page);
  if (key === 'PageUp') return layout.moved(selected, -page);
  if (key === 'Home') return layout.moved(1, 0);
  return key === 'End' ? layout.moved(at, 0) : undefined;
};

/** Where the list is scrolled to; at the end it stays there as the list grows, unless the reader goes up. */
const useScroll = (layout: Layout, isPast: boolean) => {
  const box = useRef<HTMLDivElement>(null);
  // Before anything is drawn: a session is opened at its end.
  const [view, setView] = useState({ top: Math.max(0, layout.height - HEIGHT_FIRST), height: HEIGHT_FIRST });
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const read = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const { scrollTop: top, clientHeight: height, scrollHeight } = element;
    follows.current = scrollHeight - top - height <= END_PX;
    setAtEnd(follows.current);
    setView((last) => (last.top === top && last.height === height ? last : { top, height }));
  }, []);
  const toEnd = useCallback(() => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
    read();
  }, [read]);
  // In the past the last event that is shown is the one that was asked for.
  useLayoutEffect(() => {
    if (follows.current || isPast) toEnd();
  }, [layout.height, isPast, toEnd]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const seen = new ResizeObserver(read);
    seen.observe(element);
    return () => seen.disconnect();
  }, [read]);
  return { box, view, onScroll: read, isAtEnd, toEnd };
};

type Revealing = { readonly selected: number | undefined; readonly rowHeight: number; readonly top: number };

/** Brings the selected row into view when it is outside, without motion. */
const useReveal = (
  box: React.RefObject<HTMLDivElement | null>,
  layout: Layout,
  { selected, rowHeight, top }: Revealing,
): void => {
  const latest = useRef(layout);
  useEffect(() => {
    latest.current = layout;
  });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || selected === undefined) return;
    const y = latest.current.yOf(selected);
    const above = element.scrollTop + top;
    const below = element.scrollTop + element.clientHeight - rowHeight;
    if (y < above) element.scrollTop = Math.max(0, y - top - rowHeight);
    else if (y > below) element.scrollTop = y - element.clientHeight + rowHeight * 2;
  }, [box, selected, rowHeight, top]);
};

/** Counts what has come since the reader left the end. */
const NewEvents = ({ at, toEnd }: { readonly at: number; readonly toEnd: () => void }): ReactNode => {
  const [since] = useState(at);
  if (at === since) return null;
  return (
    <button className="button new-events" type="button" onClick={toEnd}>
      {countOf(at - since, 'new event')}
    </button>
  );
};
